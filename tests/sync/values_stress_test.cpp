// tests/sync/values_stress_test.cpp: random use of primitives that deliver values and events to many tasks, with random
// cancels. Runs with the same seed are the same.
#include <gyre/sync.hpp>

#include "tests/support/virtual_run.hpp"

#include <random>
#include <vector>

using namespace gyre_test;

namespace {

struct world_of_values {
  explicit world_of_values(unsigned seed) : random(seed) {}

  int pick(int below) { return std::uniform_int_distribution<int>(0, below - 1)(random); }

  gyre::task<> pause() { co_await gyre::sleep(std::chrono::microseconds(pick(30))); }

  // Items arrive in order, and missed items are counted.
  gyre::task<> listen() {
    auto subscription = news.subscribe();
    std::uint64_t expected = sent;
    for (int i = 0; i < 5; ++i) {
      const auto item = co_await subscription.receive();
      if (!item) co_return;
      EXPECT_EQ(item->value, expected + item->missed);
      expected = item->value + 1;
      co_await pause();
    }
  }
  gyre::task<> tell() {
    for (int i = pick(4); i >= 0; --i) news.send(sent++);
    co_await pause();
  }
  gyre::task<> observe() {
    auto watcher = state.subscribe();
    int before = watcher.value();
    for (int i = 0; i < 3; ++i) {
      const bool open = co_await watcher.changed();
      if (!open) co_return;
      EXPECT_GT(watcher.value(), before);
      before = watcher.value();
    }
  }
  gyre::task<> change() {
    state.set(++version);
    co_await pause();
  }
  gyre::task<> meet() {
    try {
      co_await meeting.wait();
      ++met;
    } catch (const gyre::broken_barrier&) {
      meeting.reset();
    }
  }
  gyre::task<> wait_for_moment() {
    co_await moment.wait();
    co_await pause();
    moment.clear();
  }
  gyre::task<> make_moment() {
    moment.set();
    co_await pause();
  }
  gyre::task<> answer_once() {
    gyre::oneshot<int> once;
    const auto give = [](gyre::oneshot_sender<int> to) -> gyre::task<> {
      co_await gyre::yield();
      to.send(7);
    };
    auto giving = gyre::spawn(give(std::move(once.sender)));
    const auto got = co_await once.receiver.receive();
    EXPECT_EQ(got, 7);
    co_await giving;
  }
  gyre::task<> promise_and_future() {
    gyre::promise<int> promise;
    const auto wait = [](gyre::future<int> awaited) -> gyre::task<> {
      const int value = co_await awaited;
      EXPECT_EQ(value, 9);
    };
    auto first = wait(promise.get_future());
    auto second = wait(promise.get_future());
    const auto give = [this](gyre::promise<int>& to) -> gyre::task<> {
      co_await pause();
      to.set_value(9);
    };
    auto giving = give(promise);
    co_await gyre::gather(std::move(first), std::move(second), std::move(giving));
  }
  gyre::task<> sort() {
    co_await ordered.put(pick(100));
    const int least = co_await ordered.get();
    while (auto other = ordered.try_get()) EXPECT_LE(least, *other);
  }

  gyre::task<> act(int steps) {
    using action = gyre::task<> (world_of_values::*)();
    constexpr action all[] = {
        &world_of_values::listen,      &world_of_values::tell,        &world_of_values::observe,
        &world_of_values::change,      &world_of_values::meet,        &world_of_values::wait_for_moment,
        &world_of_values::make_moment, &world_of_values::answer_once, &world_of_values::promise_and_future,
        &world_of_values::sort,        &world_of_values::tell,        &world_of_values::change};
    for (int i = 0; i < steps; ++i) {
      auto chosen = (this->*all[pick(static_cast<int>(std::size(all)))])();
      try {
        co_await gyre::timeout(std::chrono::microseconds(20 + pick(200)), std::move(chosen));
      } catch (const gyre::timed_out&) {  // so that every task ends, whatever the others do
      }
    }
  }

  std::mt19937 random;
  gyre::broadcast<std::uint64_t> news{4};
  gyre::watch<int> state{0};
  gyre::barrier meeting{3};
  gyre::event moment;
  gyre::priority_queue<int> ordered{64};
  std::uint64_t sent = 0;
  int version = 0;
  int met = 0;
};

}  // namespace

TEST(values_stress, random_use_with_random_cancels_keeps_every_order) {
  for (unsigned seed = 1; seed <= 30; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    run_virtual([seed]() -> gyre::task<> {
      world_of_values all(seed);
      std::vector<gyre::task_handle<void>> tasks;
      for (int i = 0; i < 40; ++i) tasks.push_back(gyre::spawn(all.act(30)));
      for (int i = 0; i < 15; ++i) {
        co_await gyre::sleep(std::chrono::microseconds(all.pick(100)));
        tasks[static_cast<std::size_t>(all.pick(40))].cancel();
      }
      for (auto& each : tasks) {
        co_await each.wait();
        EXPECT_TRUE(!each.state().failure() || each.state().was_cancelled());
      }
      EXPECT_GT(all.met, 0);
      EXPECT_GT(all.version, 0);
    });
  }
}
