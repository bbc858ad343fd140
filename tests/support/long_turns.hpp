// tests/support/long_turns.hpp: clients that connect during long turns of the loop.
#pragma once

#include <gyre/gyre.hpp>

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <string_view>
#include <thread>
#include <vector>

namespace gyre_test {

/// A client that has connected and sent `bytes` before any other task runs. Returns a closed stream if it is refused.
inline gyre::tcp_stream connect_at_once(const gyre::address& where, std::string_view bytes) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (::connect(fd, static_cast<const sockaddr*>(where.data()), where.size()) < 0) {
    ::close(fd);
    return {};
  }
  (void)::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  return gyre::tcp_stream::from_fd(fd);
}

/// Connects several clients in each turn of the loop, which takes more than a millisecond, until one is refused.
inline gyre::task<std::vector<gyre::tcp_stream>> connect_in_long_turns(gyre::address where, std::string_view bytes) {
  using namespace std::chrono_literals;
  std::vector<gyre::tcp_stream> clients;
  for (;;) {
    for (int i = 0; i < 5; ++i) {
      auto client = connect_at_once(where, bytes);
      if (!client.is_open()) co_return clients;
      clients.push_back(std::move(client));
    }
    std::this_thread::sleep_for(2ms);
    co_await gyre::sleep(1ns);
  }
}

}  // namespace gyre_test
