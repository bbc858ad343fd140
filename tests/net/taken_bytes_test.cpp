// tests/net/taken_bytes_test.cpp: how many bytes a peer has taken, which the time limits of writes ask for.
#include <gyre/net/unix_stream.hpp>

#include "tests/net/connected_pair.hpp"

#include <array>
#include <cstdint>
#include <limits>
#include <string>

using namespace gyre_test;

TEST(taken_bytes, on_a_tcp_stream_are_those_that_the_peer_has_acknowledged_since_the_last_call) {
  run_with_pair([](connected_pair& pair) -> gyre::task<> {
    std::array<std::byte, 1000> buffer{};
    std::uint64_t seen = 0;
    EXPECT_LE(pair.client.socket().taken_since(seen), 1U) << "the kernel counts the SYN";
    for (const std::size_t size : {1000U, 1U, 400U}) {
      const std::string sent(size, 'x');
      co_await pair.client.write_all(sent);
      (void)co_await pair.server.read_exactly(std::span(buffer).first(size));
      std::uint64_t taken = 0;
      for (int n = 0; n < 5000 && taken < size; ++n) {  // the acknowledgement may be delayed
        taken += pair.client.socket().taken_since(seen);
        if (taken < size) co_await gyre::sleep(1ms);
      }
      EXPECT_EQ(taken, size);
      EXPECT_EQ(pair.client.socket().taken_since(seen), 0U);
    }
  });
}

TEST(taken_bytes, on_a_unix_stream_are_those_that_the_kernel_has_accepted_since_the_last_call) {
  run_with_unix_pair([](gyre::unix_stream_pair& pair) -> gyre::task<> {
    std::uint64_t seen = 0;
    EXPECT_EQ(pair.first.socket().taken_since(seen), 0U);
    for (const std::size_t size : {1000U, 1U, 400U}) {
      const std::string sent(size, 'x');
      co_await pair.first.write_all(sent);
      EXPECT_EQ(pair.first.socket().taken_since(seen), size);
      EXPECT_EQ(pair.first.socket().taken_since(seen), 0U);
    }
  });
}

// A count that began again at 0 could make a fast peer look like one that takes nothing.
TEST(taken_bytes, on_a_unix_stream_stay_many_beyond_4_gib) {
  run_test([]() -> gyre::task<> {
    constexpr std::uint32_t most = std::numeric_limits<std::uint32_t>::max();
    auto pair = gyre::unix_stream::pair();
    std::uint64_t seen = 0;
    pair.first.socket().written = most - 3;
    const std::string sent(100, 'x');
    co_await pair.first.write_all(sent);
    EXPECT_EQ(pair.first.socket().taken_since(seen), most);
    co_await pair.first.write_all(sent);
    EXPECT_EQ(pair.first.socket().taken_since(seen), 100U);
  });
}
