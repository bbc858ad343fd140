// tests/net/served_on_loops.hpp: handlers that tell the loop on which they run, and clients that read it.
#pragma once

#include <gyre/gyre.hpp>

#include <array>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace gyre_test {

inline constexpr std::array both_modes{gyre::accept_mode::reuse_port, gyre::accept_mode::one_acceptor};

inline std::string index_here() { return std::to_string(gyre::event_loop::current().index()); }

/// Sends the index of its loop, then echoes until the end of the stream.
inline gyre::task<> tell_loop_and_echo(gyre::tcp_stream peer) {
  co_await peer.write_all(index_here());
  while (co_await peer.next_or_stop()) {
    const auto received = co_await peer.receive();
    co_await peer.write_all(received.bytes());
  }
}

inline gyre::task<char> first_byte(gyre::tcp_stream& stream) {
  std::array<char, 1> answer{};
  co_await stream.read_exactly(std::as_writable_bytes(std::span(answer)));
  co_return answer[0];
}

/// Clients that stay connected.
class clients {
 public:
  /// Connects `count` clients one after the other, and waits for the answer of each.
  gyre::task<> connect(const gyre::address& where, int count) {
    for (int i = 0; i < count; ++i) {
      auto stream = co_await gyre::tcp_stream::connect(where);
      loops.push_back(co_await first_byte(stream));
      streams.push_back(std::move(stream));
    }
  }
  [[nodiscard]] std::map<char, int> per_loop() const {
    std::map<char, int> counted;
    for (const char each : loops) ++counted[each];
    return counted;
  }
  std::vector<gyre::tcp_stream> streams;
  std::vector<char> loops;
};

}  // namespace gyre_test
