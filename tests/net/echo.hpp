// tests/net/echo.hpp: servers that send back what they receive.
#pragma once

#include <gyre/gyre.hpp>

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

}  // namespace gyre_test
