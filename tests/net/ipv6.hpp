// tests/net/ipv6.hpp: whether this machine has IPv6.
#pragma once

#include <gyre/io/io_error.hpp>
#include <gyre/net/udp_socket.hpp>

namespace gyre_test {

/// Whether a socket can be bound to the IPv6 loopback address. Needs a running loop.
inline bool has_ipv6() {
  try {
    (void)gyre::udp_socket::bind("[::1]:0");
    return true;
  } catch (const gyre::io_error&) {
    return false;
  }
}

}  // namespace gyre_test
