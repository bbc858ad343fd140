// gyre/tls/server_sessions.hpp: encrypts the connections of an http::server.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/net/secure_session.hpp>
#include <gyre/tls/server_config.hpp>

namespace gyre::tls {

/// Makes an http::server speak HTTPS. Copies refer to the same.
///
///   options.encryption = gyre::tls::server_sessions(config);
///
/// Thread: any, also at the same time.
class GYRE_API server_sessions {
 public:
  explicit server_sessions(server_config config);

  /// The configuration of connections that begin from now on. Those that exist keep theirs. Errors:
  /// std::invalid_argument when it offers a protocol that the server does not speak; the former one remains.
  void set_config(server_config next);
  [[nodiscard]] server_config config() const noexcept;

  // NOLINTNEXTLINE(google-explicit-constructor): it is made for this
  operator security() const noexcept { return shared_; }

 private:
  class state;
  [[nodiscard]] state& shared() const noexcept;

  security shared_;
};

}  // namespace gyre::tls
