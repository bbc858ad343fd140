// tests/net/large_receive_cancel_test.cpp: receive() into large buffers, cancelled at any moment, loses and doubles no
// byte. CONTRIBUTING.md says how to run it for longer.
#include <gyre/gyre.hpp>

#include "tests/net/connected_pair.hpp"
#include "tests/net/loop_buffers.hpp"
#include "tests/net/stream_flow.hpp"

#include <array>
#include <stdexcept>
#include <system_error>
#include <utility>
#include <vector>

using namespace gyre_test;

namespace {

using flow_of_tcp = flow<gyre::tcp_stream>;

/// Writes from `there.written` to `until` in one piece.
gyre::task<> write_until(flow_of_tcp& there, std::size_t until) {
  std::vector<std::byte> bytes(until - there.written);
  fill(bytes, there.seed, there.written);
  there.written = until;
  co_await there.to->write_all(bytes);
}

/// Receives up to `position`. Returns the size of the largest lease.
gyre::task<std::size_t> receive_until(flow_of_tcp& there, std::size_t position) {
  std::size_t most = 0;
  while (there.position < position) {
    const gyre::buffer_lease lease = co_await there.from->receive();
    if (lease.empty()) throw std::runtime_error("ended at byte " + std::to_string(there.position));
    there.take(lease.bytes());
    most = std::max(most, lease.size());
  }
  co_return most;
}

/// A connection whose server receives into large buffers.
struct large_stream {
  connected_pair pair;
  flow_of_tcp there{1, pair.server, pair.client, true};

  gyre::task<> promote() {
    pair = co_await connect_pair();
    auto writing = gyre::spawn(write_until(there, 1'000'000));
    const std::size_t most = co_await receive_until(there, 1'000'000);
    co_await writing;
    EXPECT_GT(most, pool().buffer_size());
  }
};

/// Receives in a task of its own.
gyre::task<> take_lease(flow_of_tcp& there, bool& ended) {
  const gyre::buffer_lease lease = co_await there.from->receive();
  there.take(lease.bytes());
  ended = lease.empty();
}

// ---- random

/// The ways to be interrupted. Returns true at the end of the stream.
gyre::task<bool> take_lease_somehow(flow_of_tcp& there) {
  bool ended = false;
  try {
    switch (there.choose.below(5)) {
      case 0: {
        auto limited = gyre::timeout(there.moment(), take_lease(there, ended));
        co_await std::move(limited);
        break;
      }
      case 1: {  // before it begins, while it waits, or when it has its result
        auto receiving = gyre::spawn(take_lease(there, ended));
        co_await pause(there.choose);
        receiving.cancel();
        co_await receiving.wait();
        receiving.result();
        break;
      }
      case 2: {
        auto receiving = gyre::spawn(take_lease(there, ended));
        co_await pause(there.choose);
        there.from->cancel();
        co_await receiving;
        break;
      }
      case 3: {  // two that end each other
        auto first = take_lease(there, ended);
        auto slow = pause(there.choose);
        co_await gyre::race(std::move(first), std::move(slow));
        break;
      }
      default:
        co_await take_lease(there, ended);
    }
  } catch (const gyre::timed_out&) {
  } catch (const gyre::task_cancelled&) {
  } catch (const std::system_error& error) {
    if (error.code() == std::errc::operation_canceled) co_return false;
    if (error.code() != std::errc::connection_reset || there.end != finish::reset || !there.has_left) throw;
    co_return true;
  }
  co_return ended;
}

gyre::task<> receive_flow(flow_of_tcp& there) {
  for (bool ended = false; !ended;) {
    ended = co_await take_lease_somehow(there);
    co_await pause(there.choose);
  }
  if (there.position != there.total && there.end != finish::reset)
    throw std::runtime_error("ended after " + std::to_string(there.position) + " of " + std::to_string(there.total));
}

/// Takes the large buffers, and sometimes all, for a moment.
gyre::task<> exhaust_pool(choices& choose, const bool& over) {
  while (!over) {
    std::vector<std::uint32_t> taken;
    while (pool().large_available() > 0) taken.push_back(pool().take_large());
    if (choose.one_in(2))
      while (pool().available() > 0) taken.push_back(pool().take());
    co_await pause(choose);
    for (const std::uint32_t each : taken) pool().release(each);
    co_await gyre::sleep(std::chrono::microseconds(choose.below(300)));
  }
}

gyre::run_options large_buffer_loop(unsigned seed) {
  choices choose(seed);
  gyre::run_options options;
  options.loop.backend.buffer_count = 16U << choose.below(5);
  options.loop.backend.buffer_size = 512U << choose.below(4);
  const std::array<std::uint32_t, 3> larges{1, 3, 64};
  options.loop.backend.large_buffer_count = larges[choose.below(3)];
  options.loop.backend.large_buffer_size = 8'192U << choose.below(4);
  const std::array<int, 4> turns{1, 2, 5, 128};
  options.loop.ready_per_turn = turns[choose.below(4)];
  return options;
}

}  // namespace

TEST(large_receive_cancel, before_it_begins_leaves_the_bytes_to_the_next) {
  run_test([]() -> gyre::task<> {
    large_stream here;
    co_await here.promote();
    co_await write_until(here.there, 1'050'000);
    bool ended = false;
    auto receiving = gyre::spawn(take_lease(here.there, ended));
    receiving.cancel();
    co_await receiving.wait();
    EXPECT_EQ(here.there.position, 1'000'000U);
    (void)co_await receive_until(here.there, 1'050'000);
  });
}

TEST(large_receive_cancel, while_it_waits_leaves_later_bytes_to_the_next) {
  run_test([]() -> gyre::task<> {
    large_stream here;
    co_await here.promote();
    bool ended = false;
    auto receiving = gyre::spawn(take_lease(here.there, ended));
    co_await settle();
    receiving.cancel();
    co_await receiving.wait();
    co_await write_until(here.there, 1'050'000);
    (void)co_await receive_until(here.there, 1'050'000);
  });
}

TEST(large_receive_cancel, in_the_turn_in_which_the_bytes_arrive_doubles_none) {
  for (int yields = 0; yields < 6; ++yields) {
    run_test([&]() -> gyre::task<> {
      large_stream here;
      co_await here.promote();
      bool ended = false;
      auto receiving = gyre::spawn(take_lease(here.there, ended));
      co_await settle();
      co_await write_until(here.there, 1'050'000);
      for (int n = 0; n < yields; ++n) co_await gyre::yield();
      receiving.cancel();
      co_await receiving.wait();
      (void)co_await receive_until(here.there, 1'050'000);
    });
  }
}

TEST(large_receive_cancel, of_a_lease_that_is_held_keeps_its_bytes) {
  run_test([]() -> gyre::task<> {
    large_stream here;
    co_await here.promote();
    co_await write_until(here.there, 1'020'000);
    gyre::buffer_lease held;
    const auto take = [&]() -> gyre::task<> {
      held = co_await here.there.from->receive();
      co_await gyre::sleep(1h);
    };
    auto task = gyre::spawn(take);
    co_await settle();
    task.cancel();
    co_await task.wait();
    co_await write_until(here.there, 1'040'000);
    co_await settle();
    here.there.take(held.bytes());
    (void)co_await receive_until(here.there, 1'040'000);
  });
}

TEST(large_receive_cancel, an_end_in_the_middle_of_a_large_buffer_comes_after_its_bytes) {
  run_test([]() -> gyre::task<> {
    large_stream here;
    co_await here.promote();
    co_await write_until(here.there, 1'010'001);
    co_await here.pair.client.shutdown_write();
    (void)co_await receive_until(here.there, 1'010'001);
    const gyre::buffer_lease none = co_await here.pair.server.receive();
    EXPECT_TRUE(none.empty());
  });
}

TEST(large_receive_cancel, a_reset_in_the_middle_of_a_large_buffer_is_an_error_after_what_has_arrived) {
  run_test([]() -> gyre::task<> {
    large_stream here;
    co_await here.promote();
    co_await write_until(here.there, 1'010'001);
    const gyre::buffer_lease first = co_await here.pair.server.receive();
    here.there.take(first.bytes());
    co_await write_until(here.there, 1'020'000);
    here.pair.client.set_reset_on_close(true);
    here.pair.client = gyre::tcp_stream();
    const std::string failure = co_await error_of(receive_until(here.there, 1'030'000));
    EXPECT_NE(failure.find("reset"), std::string::npos) << failure;
    EXPECT_LE(here.there.position, 1'020'000U);
  });
}

TEST(large_receive_cancel, at_random_loses_and_doubles_no_byte) {
  std::size_t large = 0;
  for_each_seed(15, [&](unsigned seed) {
    auto body = [&, seed]() -> gyre::task<> {
      auto pair = co_await connect_pair();
      flow_of_tcp there(seed, pair.server, pair.client, true);
      there.end = static_cast<finish>(there.choose.below(3));
      there.total *= 2;
      bool over = false;
      choices choose(seed + 1);
      gyre::task_handle<void> squeezing;
      if (choose.one_in(3)) squeezing = gyre::spawn(exhaust_pool(choose, over));
      auto writing = gyre::spawn(write(there));
      auto reading = gyre::spawn(receive_flow(there));
      while (!reading.done()) {
        large += pool().large_count() - pool().large_available();
        co_await gyre::sleep(100us);
      }
      over = true;
      const bool alone = !squeezing;
      if (!alone) co_await squeezing;
      co_await writing;
      co_await reading;
      EXPECT_FALSE(pool().in_use());
    };
    gyre::run(body, large_buffer_loop(seed));
  });
  EXPECT_GT(large, 0U) << "large buffers have been used";
}
