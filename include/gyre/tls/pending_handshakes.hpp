// gyre/tls/pending_handshakes.hpp: the handshakes in progress of a listener on one loop.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/io/backend.hpp>
#include <gyre/net/tcp_stream.hpp>
#include <gyre/sync/event.hpp>
#include <gyre/tls/server_config.hpp>
#include <gyre/tls/stream.hpp>

#include <cstddef>

namespace gyre::tls {

/// Anybody may begin a handshake and not finish it. So beyond a number of them the oldest one is given up: honest
/// clients need milliseconds. For authors of listeners. Thread: one loop.
class GYRE_API pending_handshakes {
 public:
  pending_handshakes() noexcept = default;
  pending_handshakes& operator=(pending_handshakes&&) = delete;

  /// Does the handshake of a server. Returns an empty stream when it was given up, when the server stops before the
  /// client has sent anything, or when it has failed within a second after another failure, so that a log does not grow
  /// with every scan of the port.
  ///
  /// Cancel: the connection is closed. Errors: same as tls::accept.
  [[nodiscard]] task<stream> run(tcp_stream peer, server_config config, std::size_t max);

 private:
  struct entry;
  static task<stream> end_of(entry& waiting);
  static task<stream> accept_first(tcp_stream peer, server_config config);
  void add(entry& fresh, std::size_t max) noexcept;
  void remove(entry& ended) noexcept;

  entry* newest_ = nullptr;
  entry* oldest_ = nullptr;
  std::size_t count_ = 0;
  io::monotonic_time quiet_until_ = 0;
};

}  // namespace gyre::tls
