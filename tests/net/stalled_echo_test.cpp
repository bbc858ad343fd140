// tests/net/stalled_echo_test.cpp: servers whose clients send much and read nothing hold receive buffers. The others go
// on, memory is bounded, and nothing is lost.
#include <gyre/gyre.hpp>

#include "tests/net/connected_pair.hpp"
#include "tests/net/echo.hpp"
#include "tests/net/loop_buffers.hpp"
#include "tests/net/small_segments.hpp"
#include "tests/net/stream_flow.hpp"

#include <algorithm>
#include <deque>
#include <string>
#include <utility>
#include <vector>

using namespace gyre_test;

namespace {

gyre::task<> send_bytes(gyre::tcp_stream& to, unsigned seed, std::size_t size) {
  const std::vector<std::byte> bytes = pattern(size, seed);
  co_await to.write_all(std::span<const std::byte>(bytes));
  co_await to.shutdown_write();
}

/// Reads to the end, and checks each byte.
gyre::task<> expect_to_end(gyre::tcp_stream& from, unsigned seed, std::size_t size) {
  std::vector<std::byte> buffer(100'000);
  std::size_t position = 0;
  while (const std::size_t count = co_await from.read_some(std::span(buffer))) {
    const std::size_t same = matching(std::span(buffer).first(count), seed, position);
    position += same;
    if (same < count) throw std::runtime_error(std::to_string(position) + " is another");
  }
  EXPECT_EQ(position, size) << "connection " << seed;
}

/// A client that sends much to an echo server, and reads what comes back when the test lets it.
struct conversation {
  gyre::tcp_stream client, server;
  gyre::task_handle<void> sending, echoing;

  void begin(unsigned seed, std::size_t size) {
    connected_pair pair = small_segment_pair();
    client = std::move(pair.client);
    server = std::move(pair.server);
    server.set_send_buffer_size(10'000);
    client.set_receive_buffer_size(100'000);
    sending = gyre::spawn(send_bytes(client, seed, size));
    echoing = gyre::spawn(echo_and_end(server));
  }
  gyre::task<> finish(unsigned seed, std::size_t size) {
    server.set_send_buffer_size(1'000'000);
    client.set_receive_buffer_size(1'000'000);
    co_await expect_to_end(client, seed, size);
    co_await sending;
    co_await echoing;
  }
};

/// Another connection goes on while these are stalled.
gyre::task<> expect_service(std::size_t size) {
  conversation other;
  other.begin(1'000'000, size);
  co_await other.finish(1'000'000, size);
}

gyre::task<> stall_echoes(std::size_t connections, std::size_t size) {
  std::vector<conversation> all(connections);
  for (unsigned i = 0; i < all.size(); ++i) all[i].begin(i, size);
  for (int n = 0; n < 10; ++n) co_await settle();
  for (const conversation& each : all) EXPECT_FALSE(each.echoing.done());
  EXPECT_LE(common_in_use(), pool().count() / 4 * 3 + 1);
  co_await gyre::timeout(20s, expect_service(600'000));
  for (unsigned i = 0; i < all.size(); ++i) co_await all[i].finish(i, size);
  EXPECT_FALSE(pool().in_use());
}

void run_with(gyre::io::backend_options backend, auto body) {
  gyre::run_options options;
  options.loop.backend = backend;
  auto limited = [&body]() -> gyre::task<> { co_await gyre::timeout(120s, body); };
  EXPECT_NO_THROW(gyre::run(limited, options));
}

}  // namespace

TEST(stalled_echo, for_more_clients_than_there_are_large_buffers_leaves_the_others_the_common_ones) {
  run_with({}, []() -> gyre::task<> {
    constexpr std::size_t size = 1'500'000;
    std::deque<conversation> all(60);
    for (unsigned i = 0; i < all.size(); ++i) all[i].begin(i, size);
    for (int n = 1; n < 1000 && pool().large_available() > 0; ++n) {
      co_await settle();
      if (n % 10 != 0 || all.size() == 160) continue;
      // A server whose last piece was small stalls with a common buffer. Another client takes its place.
      const auto seed = static_cast<unsigned>(all.size());
      all.emplace_back().begin(seed, size);
    }
    for (const conversation& each : all) EXPECT_FALSE(each.echoing.done());
    EXPECT_EQ(pool().large_available(), 0U) << "the large buffers are used up";
    for (int n = 0; n < 1000 && pool().available() == 0; ++n) co_await settle();  // all clients may just have sent
    EXPECT_GT(pool().available(), 0U);
    co_await gyre::timeout(20s, expect_service(4'000'000));
    for (unsigned i = 0; i < all.size(); ++i) co_await all[i].finish(i, size);
    EXPECT_FALSE(pool().in_use());
  });
}

TEST(stalled_echo, loses_nothing_and_holds_up_nobody_in_a_pool_of_any_size) {
  for (const std::uint32_t count : {1U, 2U, 16U, 64U, 1024U})
    for (const std::uint32_t large : {0U, 1U, 3U})
      run_with({.buffer_count = count, .large_buffer_count = large},
               []() -> gyre::task<> { co_await stall_echoes(20, 600'000); });
}
