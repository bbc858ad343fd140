// gyre/tls/server_sessions.hpp: encrypts the connections of an http::server.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/net/secure_session.hpp>
#include <gyre/tls/server_config.hpp>

#include <memory>
#include <mutex>
#include <utility>

namespace gyre::tls {

/// Makes an http::server speak HTTPS:
///
///   options.security = std::make_shared<gyre::tls::server_sessions>(config);
///
/// Thread: any, also at the same time.
class GYRE_API server_sessions final : public secure_sessions {
 public:
  explicit server_sessions(server_config config) noexcept : config_(std::move(config)) {}

  /// The configuration of connections that begin from now on. Those that exist keep theirs.
  void set_config(server_config next) noexcept;
  [[nodiscard]] server_config config() const noexcept;

  [[nodiscard]] std::unique_ptr<secure_session> begin() override;

 private:
  mutable std::mutex mutex_;
  server_config config_;
};

}  // namespace gyre::tls
