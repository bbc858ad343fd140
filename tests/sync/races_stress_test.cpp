// tests/sync/races_stress_test.cpp: operations that hand something over lose races, time-outs and chains at random
// moments, with random cancels. Each item, value, lock and permit that is not taken is still there afterwards.
#include <gyre/sync.hpp>

#include <gyre/coro/scope_exit.hpp>

#include "tests/sync/stress.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <vector>

using namespace gyre_test;

namespace {

struct world_of_races : random_world {
  using random_world::moment;
  using random_world::random_world;

  std::chrono::microseconds moment() { return moment(60); }
  gyre::task<> pause() { co_await gyre::sleep(moment()); }

  // ---- items: each number is sent once, and must be received once

  gyre::task<> produce() {
    const int number = made++;
    if (choose.one_in(2))
      co_await gyre::shield(queue.put(number));
    else
      co_await gyre::shield(channel.send(number));
  }
  gyre::task<> race_for_items() {
    auto first = gyre::race(queue.get(), channel.receive(), gyre::sleep(moment()));
    const auto won = co_await std::move(first);
    if (won.index == 0) note(std::get<0>(won.value));
    if (won.index == 1) note(std::get<1>(won.value).value_or(-1));
  }
  gyre::task<> limited_item() {
    const auto got = co_await gyre::as_expected(gyre::timeout(moment(), channel.receive()));
    if (got) note(got->value_or(-1));
  }
  // A gather that fails drops the results of the others.
  gyre::task<> failing_gather() { (void)co_await throws<std::runtime_error>(gyre::gather(fail_soon(), take_item())); }
  gyre::task<> fail_soon() {
    co_await pause();
    throw std::runtime_error("on purpose");
  }
  gyre::task<> take_item() { note(co_await queue.get()); }
  void note(int number) {
    ASSERT_GE(number, 0);
    seen.resize(std::max(seen.size(), static_cast<std::size_t>(number) + 1));
    EXPECT_EQ(++seen[static_cast<std::size_t>(number)], 1) << number << " came twice";
  }

  // ---- one value: it is received, or it stays

  gyre::task<> give(gyre::oneshot_sender<int> to, bool at_once) {
    if (!at_once) co_await pause();
    to.send(7);
  }
  gyre::task<> race_for_a_value() {
    gyre::oneshot<int> once;
    gyre::spawn(give(std::move(once.sender), choose.one_in(2))).detach();
    if (choose.one_in(2)) co_await gyre::yield();
    auto first = gyre::race(once.receiver.receive(), gyre::sleep(moment()));
    const auto won = co_await std::move(first);
    int value = 0;
    if (won.index == 0)
      value = std::get<0>(won.value);
    else
      value = co_await once.receiver.receive();
    EXPECT_EQ(value, 7);
  }

  // ---- broadcasts: a subscriber sees each item once and in order, or is told how many it missed

  gyre::task<> race_for_news() {
    auto subscription = news.subscribe();
    std::uint64_t expected = told;
    for (int i = 0; i < 5; ++i) {
      auto first = gyre::race(subscription.receive(), gyre::sleep(moment()));
      const auto won = co_await std::move(first);
      if (won.index != 0) continue;
      const auto& item = std::get<0>(won.value);
      EXPECT_EQ(item->value, expected + item->missed);
      expected = item->value + 1;
    }
  }
  gyre::task<> tell() {
    news.send(told++);
    state.set(static_cast<int>(told));
    co_await pause();
  }
  gyre::task<> race_for_a_change() {
    auto watcher = state.subscribe();
    const int before = watcher.value();
    auto first = gyre::race(watcher.changed(), gyre::sleep(moment()));
    const auto won = co_await std::move(first);
    const bool has_changed = watcher.has_changed();
    if (won.index == 0) EXPECT_GT(watcher.value(), before);
    if (has_changed) EXPECT_GT(watcher.value(), before) << "the change stays unseen when the race drops it";
  }

  // ---- chains under time-outs: all locks and permits of a chain, or none

  gyre::task<> chain_of_locks() {
    const auto got = co_await gyre::as_expected(gyre::timeout(moment(), mutex.lock() && slots.acquire()));
    if (!got) co_return;
    EXPECT_EQ(++inside, 1);
    co_await gyre::shield(pause());
    --inside;
    slots.release();
    mutex.unlock();
  }
  gyre::task<> race_of_chains() {
    auto first = gyre::race(slots.acquire() && mutex.lock(), gyre::sleep(moment()));
    const auto won = co_await std::move(first);
    if (won.index != 0) co_return;
    EXPECT_EQ(++inside, 1);
    --inside;
    mutex.unlock();
    slots.release();
  }
  gyre::task<> chain_with_an_item() {
    const int number = made++;
    bool sent = false;
    const gyre::scope_exit accounted([&]() noexcept {
      if (!sent) note(number);
    });
    const auto outcome = co_await gyre::as_expected(gyre::timeout(moment(), mutex.lock() && channel.send(number)));
    sent = outcome.has_value();
    if (sent) mutex.unlock();
  }

  gyre::task<> step() {
    using action = gyre::task<> (world_of_races::*)();
    constexpr std::array<action, 14> all{
        &world_of_races::produce,        &world_of_races::produce,           &world_of_races::produce,
        &world_of_races::race_for_items, &world_of_races::race_for_items,    &world_of_races::limited_item,
        &world_of_races::failing_gather, &world_of_races::race_for_a_value,  &world_of_races::race_for_news,
        &world_of_races::tell,           &world_of_races::race_for_a_change, &world_of_races::chain_of_locks,
        &world_of_races::race_of_chains, &world_of_races::chain_with_an_item};
    co_await (this->*all[choose.below(all.size())])();
  }
  /// For consumers that have no time limit.
  gyre::task<> finish() {
    for (int i = 0; i < 2000; ++i) co_await produce();
  }

  gyre::queue<int> queue{1'000'000};
  gyre::channel<int> channel{1'000'000};
  gyre::broadcast<std::uint64_t> news{4};
  gyre::watch<int> state{0};
  gyre::mutex mutex;
  gyre::counting_semaphore slots{2};
  std::vector<int> seen;
  std::uint64_t told = 0;
  int made = 0;
  int inside = 0;
};

}  // namespace

TEST(races_stress, a_race_a_time_out_or_a_chain_leaves_everything_that_it_does_not_take) {
  stress<world_of_races>([](world_of_races& all) {
    EXPECT_FALSE(all.mutex.is_locked());
    EXPECT_EQ(all.slots.available(), 2U);
    while (const auto item = all.queue.try_get()) all.note(*item);
    while (const auto item = all.channel.try_receive()) all.note(*item);
    all.seen.resize(static_cast<std::size_t>(all.made));
    EXPECT_EQ(std::ranges::count(all.seen, 0), 0) << "lost of " << all.made << " items";
  });
}
