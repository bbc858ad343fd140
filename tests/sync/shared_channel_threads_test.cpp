// tests/sync/shared_channel_threads_test.cpp: items between loops and threads. None is lost or duplicated.
#include <gyre/sync/shared_channel.hpp>

#include "tests/support/virtual_run.hpp"

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

using namespace gyre_test;

namespace {

constexpr int items = 2'000;

gyre::task<> produce(gyre::shared_channel<int> channel, int first) {
  for (int i = 0; i < items; ++i) co_await channel.send(first + i);
}

gyre::task<long> consume(gyre::shared_channel<int> channel, std::atomic<int>& count) {
  long sum = 0;
  while (auto item = co_await channel.receive()) {
    sum += *item;
    ++count;
  }
  co_return sum;
}

}  // namespace

TEST(shared_channel_threads, brings_items_from_tasks_of_some_loops_to_tasks_of_others) {
  gyre::shared_channel<int> channel(8);
  std::atomic<int> received = 0;
  std::atomic<long> sum = 0;
  std::vector<std::thread> consumers;
  std::vector<std::thread> producers;
  for (int i = 0; i < 2; ++i) consumers.emplace_back([&] { sum += gyre::run(consume(channel, received)); });
  for (int i = 0; i < 2; ++i) producers.emplace_back([&, i] { gyre::run(produce(channel, i * items)); });
  for (std::thread& each : producers) each.join();
  channel.close();
  for (std::thread& each : consumers) each.join();
  EXPECT_EQ(received, 2 * items);
  EXPECT_EQ(sum, 2L * items * (2L * items - 1) / 2);
}

TEST(shared_channel_threads, threads_without_a_loop_send_and_receive_by_blocking) {
  gyre::shared_channel<int> there(4);
  gyre::shared_channel<int> back(4);
  std::thread echo([&] {
    while (auto item = there.blocking_receive()) EXPECT_TRUE(back.blocking_send(*item * 2));
    back.close();
  });
  gyre::run([&]() -> gyre::task<> {
    auto sender = gyre::spawn([&]() -> gyre::task<> {
      for (int i = 0; i < items; ++i) co_await there.send(i);
      there.close();
    });
    for (int i = 0; i < items; ++i) EXPECT_EQ(co_await back.receive(), i * 2);
    EXPECT_EQ(co_await back.receive(), std::nullopt);
    co_await sender;
  });
  echo.join();
}

TEST(shared_channel_threads, closing_wakes_all_waiters) {
  gyre::shared_channel<int> channel(1);
  std::thread blocked([&] { EXPECT_EQ(channel.blocking_receive(), std::nullopt); });
  std::thread closer([&] { channel.close(); });
  gyre::run([&]() -> gyre::task<> { EXPECT_EQ(co_await channel.receive(), std::nullopt); });
  blocked.join();
  closer.join();
  EXPECT_FALSE(channel.blocking_send(1));
  EXPECT_FALSE(channel.try_send(1));
}

TEST(shared_channel_threads, cancelled_receives_lose_nothing) {
  gyre::shared_channel<int> channel(2);
  std::thread producer([&] {
    for (int i = 0; i < items; ++i) EXPECT_TRUE(channel.blocking_send(i));
    channel.close();
  });
  gyre::run([&]() -> gyre::task<> {
    int expected = 0;
    for (bool more = true; more;) {
      auto handle = gyre::spawn([&]() -> gyre::task<> {
        for (;;) {
          const auto item = co_await channel.receive();
          if (!item) {
            more = false;
            co_return;
          }
          EXPECT_EQ(*item, expected++);
        }
      });
      for (int i = 0; i < 3; ++i) co_await gyre::yield();
      handle.cancel();
      co_await handle.wait();
    }
    EXPECT_EQ(expected, items);
  });
  producer.join();
}

TEST(shared_channel, is_a_bounded_channel_on_one_loop) {
  run_virtual([]() -> gyre::task<> {
    gyre::shared_channel<std::unique_ptr<int>> channel(1);
    co_await channel.send(std::make_unique<int>(1));
    auto second = std::make_unique<int>(2);
    EXPECT_FALSE(channel.try_send(second));
    EXPECT_EQ(*second, 2) << "what was not taken is as it was";
    auto sender = gyre::spawn([&]() -> gyre::task<> { co_await channel.send(std::move(second)); });
    co_await gyre::yield();
    EXPECT_EQ(**channel.try_receive(), 1);
    auto received = co_await channel.receive();
    EXPECT_EQ(**received, 2);
    co_await sender;
    channel.close();
    EXPECT_THROW(co_await channel.send(nullptr), gyre::channel_closed);
    const auto outcome = co_await gyre::as_expected(channel.send(nullptr));
    EXPECT_EQ(outcome.error(), gyre::sync_errc::closed);
    EXPECT_EQ(co_await channel.receive(), std::nullopt);
  });
}

TEST(shared_channel, a_time_out_and_a_cancel_end_a_wait) {
  run_virtual([]() -> gyre::task<> {
    gyre::shared_channel<int> channel(1);
    const auto outcome = co_await gyre::as_expected(gyre::timeout(1ms, channel.receive()));
    EXPECT_EQ(outcome.error(), std::errc::timed_out);
    EXPECT_TRUE(co_await is_cancelled_after(1ms, gyre::as_task(channel.receive())));
    EXPECT_TRUE(channel.try_send(5));
    EXPECT_EQ(co_await channel.receive(), 5);
  });
}
