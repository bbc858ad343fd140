// tests/net/large_receive_test.cpp: the size of receive buffers follows the stream.
#include <gyre/gyre.hpp>

#include "tests/net/connected_pair.hpp"
#include "tests/net/loop_buffers.hpp"
#include "tests/support/real_run.hpp"

#include <algorithm>
#include <string>
#include <vector>

using namespace gyre_test;

namespace {

constexpr std::size_t common = 4096;
constexpr std::size_t large = gyre::io::bulk_size;

std::uint32_t large_in_use() { return pool().large_count() - pool().large_available(); }

/// Sends `size` bytes through the pair. Returns the sizes of the leases in which they arrived.
gyre::task<std::vector<std::size_t>> move_bytes(connected_pair& pair, std::size_t size) {
  const std::vector<std::byte> sent = pattern(size);
  auto writer = gyre::spawn(gyre::as_task(pair.client.write_all(std::span<const std::byte>(sent))));
  std::vector<std::size_t> sizes;
  std::vector<std::byte> all;
  while (all.size() < size) {
    const gyre::buffer_lease lease = co_await pair.server.receive();
    if (lease.empty()) break;
    sizes.push_back(lease.size());
    all.insert(all.end(), lease.bytes().begin(), lease.bytes().end());
  }
  co_await writer;
  EXPECT_TRUE(all == sent);
  co_return sizes;
}

/// One small message there. Returns true if it lay in a large buffer.
gyre::task<bool> small_message_is_in_large_buffer(connected_pair& pair) {
  co_await pair.client.write_all("small");
  co_await expect_received(pair.server, "small");
  co_return large_in_use() == 1;
}

}  // namespace

TEST(large_receive, a_stream_that_fills_its_buffers_gets_large_ones) {
  run_real([]() -> gyre::task<> {
    auto pair = co_await connect_pair();
    const auto sizes = co_await move_bytes(pair, 4'000'000);
    EXPECT_EQ(*std::max_element(sizes.begin(), sizes.end()), large);
    EXPECT_LT(sizes.size(), 4'000'000 / common / 4);
  });
}

TEST(large_receive, the_first_message_of_a_stream_arrives_in_one_lease) {
  run_real([]() -> gyre::task<> {
    for (const std::size_t size : {common + 1, std::size_t{20'000}, std::size_t{60'000}}) {
      auto pair = co_await connect_pair();
      const std::vector<std::byte> sent = pattern(size);
      co_await pair.client.write_all(std::span<const std::byte>(sent));
      const gyre::buffer_lease lease = co_await pair.server.receive();
      EXPECT_TRUE(std::equal(lease.bytes().begin(), lease.bytes().end(), sent.begin(), sent.end())) << lease.size();
    }
  });
}

TEST(large_receive, the_end_of_a_stream_is_kept_when_it_comes_with_the_first_message) {
  run_real([]() -> gyre::task<> {
    for (const std::size_t size : {common, common + 1, std::size_t{60'000}}) {
      auto pair = co_await connect_pair();
      const std::vector<std::byte> sent = pattern(size);
      co_await pair.client.write_all(std::span<const std::byte>(sent));
      co_await pair.client.shutdown_write();
      std::size_t received = 0;
      while (const gyre::buffer_lease lease = co_await pair.server.receive()) received += lease.size();
      EXPECT_EQ(received, size);
      const gyre::buffer_lease again = co_await pair.server.receive();
      EXPECT_TRUE(again.empty());
    }
  });
}

TEST(large_receive, a_reset_after_the_first_message_is_reported_after_its_bytes) {
  run_real([]() -> gyre::task<> {
    auto pair = co_await connect_pair();
    const std::vector<std::byte> sent = pattern(common);
    co_await pair.client.write_all(std::span<const std::byte>(sent));
    pair.client.abort();
    const gyre::buffer_lease first = co_await pair.server.receive();
    EXPECT_TRUE(std::equal(first.bytes().begin(), first.bytes().end(), sent.begin(), sent.end()));
    const auto second = co_await gyre::as_expected(pair.server.receive());
    EXPECT_EQ(code_of(second), std::errc::connection_reset);
  });
}

TEST(large_receive, a_stream_of_small_messages_never_has_a_large_buffer) {
  run_real([]() -> gyre::task<> {
    auto pair = co_await connect_pair();
    for (int i = 0; i < 100; ++i) {
      const bool is_large = co_await small_message_is_in_large_buffer(pair);
      EXPECT_FALSE(is_large);
    }
  });
}

TEST(large_receive, small_messages_after_large_ones_lie_in_common_buffers_and_large_messages_in_large_ones_again) {
  run_real([]() -> gyre::task<> {
    for (const std::size_t before : {std::size_t{20'000}, std::size_t{1'000'000}}) {
      auto pair = co_await connect_pair();
      (void)co_await move_bytes(pair, before);
      for (int i = 0; i < 100; ++i) {
        const bool in_large = co_await small_message_is_in_large_buffer(pair);
        EXPECT_FALSE(in_large) << i;
      }
      const auto sizes = co_await move_bytes(pair, 1'000'000);
      EXPECT_GT(*std::max_element(sizes.begin(), sizes.end()), common);
    }
  });
}

TEST(large_receive, an_idle_stream_holds_no_buffer_after_a_large_transfer) {
  run_real([]() -> gyre::task<> {
    auto pair = co_await connect_pair();
    (void)co_await move_bytes(pair, 1'000'000);
    auto waiting = gyre::spawn(gyre::as_task(pair.server.receive()));
    co_await gyre::sleep(1ms);
    EXPECT_EQ(large_in_use(), 0U);
    waiting.cancel();
    co_await waiting.wait();
  });
}

TEST(large_receive, while_all_large_buffers_are_held_streams_go_on_with_common_ones) {
  run_real([]() -> gyre::task<> {
    auto pair = co_await connect_pair();
    gyre::io::buffer_pool& all = gyre::event_loop::current().backend().buffers();
    std::vector<std::uint32_t> held;
    while (all.large_available() > 0) held.push_back(all.take_large());
    const auto sizes = co_await move_bytes(pair, 1'000'000);
    EXPECT_EQ(*std::max_element(sizes.begin(), sizes.end()), common);
    for (const std::uint32_t each : held) all.release(each);
    const auto later = co_await move_bytes(pair, 1'000'000);
    EXPECT_EQ(*std::max_element(later.begin(), later.end()), large);
  });
}

TEST(large_receive, streams_that_nobody_reads_leave_the_others_their_speed_and_lose_nothing) {
  run_real([]() -> gyre::task<> {
    constexpr std::size_t size = 300'000;
    const std::vector<std::byte> sent = pattern(size);
    std::vector<connected_pair> unread;
    std::vector<std::size_t> taken;
    for (int i = 0; i < 40; ++i) {
      unread.push_back(co_await connect_pair());
      (void)co_await move_bytes(unread.back(), 100'000);
      co_await unread.back().client.write_all(std::span<const std::byte>(sent));
      const gyre::buffer_lease first = co_await unread.back().server.receive();  // receives ahead from now on
      EXPECT_TRUE(std::equal(first.bytes().begin(), first.bytes().end(), sent.begin()));
      taken.push_back(first.size());
    }
    auto other = co_await connect_pair();
    (void)co_await gyre::timeout(20s, move_bytes(other, 4'000'000));
    for (std::size_t i = 0; i < unread.size(); ++i) {
      std::vector<std::byte> rest;
      while (taken[i] + rest.size() < size) {
        const gyre::buffer_lease lease = co_await gyre::timeout(20s, unread[i].server.receive());
        if (!lease) break;
        rest.insert(rest.end(), lease.bytes().begin(), lease.bytes().end());
      }
      EXPECT_TRUE(
          std::equal(rest.begin(), rest.end(), sent.begin() + static_cast<std::ptrdiff_t>(taken[i]), sent.end()));
    }
  });
}
