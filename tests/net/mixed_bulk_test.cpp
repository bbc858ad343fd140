// tests/net/mixed_bulk_test.cpp: stalled echoes, relays that are cancelled or reset, leases that are held, and a pool
// that runs out, all on one loop. CONTRIBUTING.md says how to run it for longer.
#include <gyre/gyre.hpp>

#include "tests/net/connected_pair.hpp"
#include "tests/net/echo.hpp"
#include "tests/net/random_loop.hpp"
#include "tests/net/small_segments.hpp"
#include "tests/net/stream_flow.hpp"

#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

using namespace gyre_test;

namespace {

gyre::io::backend& backend() { return gyre::event_loop::current().backend(); }

void check(unsigned seed, std::size_t& position, std::span<const std::byte> bytes) {
  const std::size_t same = matching(bytes, seed, position);
  position += same;
  if (same < bytes.size()) throw std::runtime_error("byte " + std::to_string(position) + " is another");
}

/// Sends until the end, or until the connection fails. Then it ends as `end` says.
gyre::task<> send_and_finish(gyre::tcp_stream& to, unsigned seed, std::size_t size, finish end) {
  const std::vector<std::byte> bytes = pattern(size, seed);
  try {
    co_await to.write_all(std::span<const std::byte>(bytes));
    if (end == finish::shut_down) co_await to.shutdown_write();
  } catch (const std::system_error&) {
  }
  if (end == finish::reset) to.abort();
}

/// Reads to the end, and returns the number of bytes. Pauses, and holds some leases meanwhile.
gyre::task<std::size_t> read_with_pauses(gyre::tcp_stream& from, unsigned seed, choices& choose, bool& failed) {
  struct held_piece {
    gyre::buffer_lease lease;
    std::size_t position;
  };
  std::vector<held_piece> held;
  const std::size_t max_held = choose.below(6);
  std::size_t received = 0;
  try {
    while (gyre::buffer_lease lease = co_await from.receive()) {
      const std::size_t size = lease.size();
      held.push_back({std::move(lease), received});
      received += size;
      co_await pause(choose);
      while (held.size() > max_held) {
        check(seed, held.front().position, held.front().lease.bytes());
        held.erase(held.begin());
      }
    }
  } catch (const std::system_error&) {
    failed = true;
  }
  for (held_piece& each : held) check(seed, each.position, each.lease.bytes());
  co_return received;
}

/// An echo whose client begins to read late.
gyre::task<> stall_echo(unsigned seed) {
  choices choose(seed);
  auto pair = small_segment_pair();
  pair.server.set_send_buffer_size(20'000);
  const std::size_t size = choose.between(1, 8) * 100'000;
  auto sending = gyre::spawn(send_and_finish(pair.client, seed, size, finish::shut_down));
  auto echoing = gyre::spawn(echo_and_end(pair.server));
  co_await gyre::sleep(std::chrono::microseconds(choose.below(20'000)));
  pair.server.set_send_buffer_size(500'000);
  bool failed = false;
  const std::size_t received = co_await read_with_pauses(pair.client, seed, choose, failed);
  EXPECT_FALSE(failed);
  EXPECT_EQ(received, size);
  co_await sending;
  co_await echoing;
}

/// A relay that may be cancelled, or whose client or server may reset, while much is on its way.
gyre::task<> relay_bulk(unsigned seed) {
  choices choose(seed);
  auto left = co_await connect_pair();
  auto right = small_segment_pair();
  if (choose.one_in(2)) right.client.set_send_buffer_size(20'000);
  const std::size_t size = choose.between(1, 10) * 200'000;
  const bool resets = choose.one_in(3);
  const bool is_cancelled = choose.one_in(3);
  const bool server_leaves = choose.one_in(4);
  auto sending = gyre::spawn(send_and_finish(left.client, seed, size, resets ? finish::reset : finish::shut_down));
  const auto copy = [&]() -> gyre::task<> {
    try {
      (void)co_await gyre::copy_bidirectional(left.server, right.client);
    } catch (const std::exception&) {  // both sides have been aborted
    }
  };
  auto copying = gyre::spawn(copy);
  bool failed = false;
  std::size_t received = 0;
  if (server_leaves) {
    co_await gyre::sleep(std::chrono::microseconds(choose.below(5'000)));
    right.server.abort();
  } else {
    auto reading = gyre::spawn(read_with_pauses(right.server, seed, choose, failed));
    if (is_cancelled) {
      co_await gyre::sleep(std::chrono::microseconds(choose.below(8'000)));
      copying.cancel();
      co_await copying.wait();
      left.server.abort();
      right.client.abort();
    }
    received = co_await reading;
    if (!failed) (void)co_await gyre::as_expected(right.server.shutdown_write());
  }
  co_await sending;
  co_await copying.wait();
  EXPECT_LE(received, size);
  if (!server_leaves && !failed) {
    EXPECT_EQ(received, size) << "a part looks like the whole";
  }
  if (!resets && !is_cancelled && !server_leaves) {
    EXPECT_FALSE(failed);
  }
}

/// Takes buffers and pipes for moments, while readers that wait for them are cancelled.
gyre::task<> squeeze(unsigned seed, const bool& over) {
  choices choose(seed);
  auto pair = co_await connect_pair();
  co_await pair.client.write_all(std::string(100'000, 'x'));
  while (!over) {
    std::vector<std::uint32_t> taken;
    while (backend().buffers().large_available() > 0) taken.push_back(backend().buffers().take_large());
    if (choose.one_in(2))
      while (backend().buffers().available() > 0) taken.push_back(backend().buffers().take());
    gyre::io::pipe_pool::pipe* const pipe = backend().pipes().take();
    const auto receive = [&]() -> gyre::task<> { (void)co_await gyre::as_expected(pair.server.receive()); };
    auto waiting = gyre::spawn(receive);
    co_await pause(choose);
    waiting.cancel();
    co_await waiting.wait();
    for (const std::uint32_t each : taken) backend().buffers().release(each);
    if (pipe != nullptr) backend().pipes().give_back(*pipe);
    co_await gyre::sleep(std::chrono::microseconds(choose.below(500)));
  }
}

}  // namespace

TEST(mixed_bulk, loses_and_doubles_no_byte_and_leaves_nothing_behind) {
  std::uint64_t lent = 0;
  for_each_seed(12, [&](unsigned seed) {
    auto body = [&, seed]() -> gyre::task<> {
      choices choose(seed);
      bool over = false;
      std::vector<gyre::task_handle<void>> all;
      for (unsigned n = 0; n < choose.between(2, 10); ++n) {
        all.push_back(gyre::spawn(stall_echo(seed * 1000 + n)));
        all.push_back(gyre::spawn(relay_bulk(seed * 1000 + 500 + n)));
      }
      gyre::task_handle<void> squeezing;
      const bool squeezes = choose.one_in(2);
      if (squeezes) squeezing = gyre::spawn(squeeze(seed, over));
      for (auto& each : all) co_await each.wait();
      over = true;
      if (squeezes) co_await squeezing;
      for (auto& each : all) co_await each;
      for (int n = 0; n < 100 && backend().buffers().in_use(); ++n) co_await settle();
      EXPECT_FALSE(backend().buffers().in_use());
      EXPECT_EQ(backend().pipes().in_use(), 0U);
      EXPECT_FALSE(backend().pipes().worth_it());
      lent += backend().pipes().lent();
    };
    gyre::run(body, loop_for(seed));
  });
  EXPECT_GT(lent, 0U) << "pipes have been used";
}
