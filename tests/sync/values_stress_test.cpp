// tests/sync/values_stress_test.cpp: random use of primitives that deliver values and events to many tasks, with random
// cancels.
#include <gyre/sync.hpp>

#include "tests/sync/stress.hpp"

#include <array>

using namespace gyre_test;

namespace {

struct world_of_values : random_world {
  using random_world::random_world;

  gyre::task<> pause() { co_await gyre::sleep(moment(30)); }

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
    for (std::size_t i = choose.between(1, 4); i > 0; --i) news.send(sent++);
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
    co_await signal.wait();
    co_await pause();
    signal.clear();
  }
  gyre::task<> make_moment() {
    signal.set();
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
    co_await ordered.put(static_cast<int>(choose.below(100)));
    const int least = co_await ordered.get();
    while (auto other = ordered.try_get()) EXPECT_LE(least, *other);
  }

  gyre::task<> step() {
    using action = gyre::task<> (world_of_values::*)();
    constexpr std::array<action, 12> all{
        &world_of_values::listen,      &world_of_values::tell,        &world_of_values::observe,
        &world_of_values::change,      &world_of_values::meet,        &world_of_values::wait_for_moment,
        &world_of_values::make_moment, &world_of_values::answer_once, &world_of_values::promise_and_future,
        &world_of_values::sort,        &world_of_values::tell,        &world_of_values::change};
    co_await limited((this->*all[choose.below(all.size())])());
  }
  gyre::task<> finish() { co_return; }

  gyre::broadcast<std::uint64_t> news{4};
  gyre::watch<int> state{0};
  gyre::barrier meeting{3};
  gyre::event signal;
  gyre::priority_queue<int> ordered{64};
  std::uint64_t sent = 0;
  int version = 0;
  int met = 0;
};

}  // namespace

TEST(values_stress, random_use_with_random_cancels_keeps_every_order) {
  stress<world_of_values>([](const world_of_values& all) {
    EXPECT_GT(all.met, 0);
    EXPECT_GT(all.version, 0);
  });
}
