// tests/net/echo.hpp: servers of a test, and handlers that send back what they receive.
#pragma once

#include <gyre/gyre.hpp>

#include <utility>

namespace gyre_test {

/// Echoes until the client has ended its direction, or the server stops.
inline gyre::task<> echo(gyre::tcp_stream peer) {
  while (co_await peer.next_or_stop()) {
    const gyre::buffer_lease lease = co_await peer.receive();
    co_await peer.write_all(lease.bytes());
  }
}

/// The same for a stream of the caller. Then it ends its own direction, too.
inline gyre::task<> echo_and_end(gyre::tcp_stream& peer) {
  while (const gyre::buffer_lease lease = co_await peer.receive()) co_await peer.write_all(lease.bytes());
  co_await peer.shutdown_write();
}

/// A listener, and the task that serves its connections. Must not move.
struct test_server {
  template <class Handler>
  explicit test_server(Handler handler, gyre::serve_options options = {})
      : serving(gyre::spawn(listener.serve(std::move(handler), options))) {}

  [[nodiscard]] gyre::address where() const { return listener.local_address(); }
  gyre::task<gyre::tcp_stream> connect() const { co_return co_await gyre::tcp_stream::connect(where()); }
  /// Cancels the server, and waits for its end.
  gyre::task<> stop() {
    serving.cancel();
    co_await serving.wait();
  }

  gyre::tcp_listener listener = gyre::tcp_listener::bind("127.0.0.1:0");
  gyre::task_handle<void> serving;
};

}  // namespace gyre_test
