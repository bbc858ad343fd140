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

}  // namespace gyre_test
