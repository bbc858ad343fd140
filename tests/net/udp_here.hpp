// tests/net/udp_here.hpp: a datagram socket on this machine, and the text that it receives.
#pragma once

#include <gyre/net/udp_socket.hpp>

#include <string>

namespace gyre_test {

inline gyre::udp_socket here(const gyre::udp_options& options = {}) {
  return gyre::udp_socket::bind("127.0.0.1:0", options);
}

inline gyre::task<std::string> lease_text(gyre::udp_socket& socket) {
  const auto datagram = co_await socket.receive();
  co_return std::string(datagram.payload.text());
}

}  // namespace gyre_test
