// tests/net/receive_text.hpp: datagrams as text.
#pragma once

#include "tests/net/connected_pair.hpp"

#include <array>
#include <cstddef>
#include <span>
#include <string>

namespace gyre_test {

/// The next datagram.
template <class Socket>
gyre::task<std::string> receive_text(Socket& socket) {
  std::array<std::byte, 2048> buffer;
  const auto datagram = co_await socket.receive_from(buffer);
  co_return text_of(std::span(buffer).first(datagram.size));
}

template <class Socket>
gyre::task<> expect_text(Socket& socket, std::string expected) {
  const std::string text = co_await receive_text(socket);
  EXPECT_EQ(text, expected);
}

/// The same in a borrowed buffer.
template <class Socket>
gyre::task<> expect_lent_text(Socket& socket, std::string expected) {
  const auto datagram = co_await socket.receive();
  EXPECT_EQ(datagram.payload.text(), expected);
}

/// Runs a test with two UDP sockets of the loopback address.
inline void run_with_udp(body_ref<gyre::udp_socket&, gyre::udp_socket&> body) {
  run_test([&]() -> gyre::task<> {
    auto first = gyre::udp_socket::bind("127.0.0.1:0");
    auto second = gyre::udp_socket::bind("127.0.0.1:0");
    co_await body(first, second);
  });
}

}  // namespace gyre_test
