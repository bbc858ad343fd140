// tests/sync/other_loop_test.cpp: debug builds stop when a task is woken by the thread of another loop.
#include <gyre/sync/barrier.hpp>
#include <gyre/sync/broadcast.hpp>
#include <gyre/sync/channel.hpp>
#include <gyre/sync/condition_variable.hpp>
#include <gyre/sync/event.hpp>
#include <gyre/sync/future.hpp>
#include <gyre/sync/latch.hpp>
#include <gyre/sync/mutex.hpp>
#include <gyre/sync/oneshot.hpp>
#include <gyre/sync/queue.hpp>
#include <gyre/sync/semaphore.hpp>
#include <gyre/sync/shared_mutex.hpp>
#include <gyre/sync/watch.hpp>

#include "tests/support/virtual_run.hpp"

#include <thread>

using namespace gyre_test;

namespace {

/// Runs `wait` in a task named "waiter" on one loop until it waits. Then runs `wake` on the loop of another thread.
template <class Wait, class Wake>
void wakes_from_another_loop(const Wait& wait, const Wake& wake) {
  run_virtual([&]() -> gyre::task<> {
    auto waiter = gyre::spawn(wait(), {.name = "waiter"});
    co_await gyre::yield();
    std::thread([&] { gyre::run(wake()); }).join();
    co_await waiter;
  });
}

const char* const sentence =
    "task waiter, which waits at .*other_loop_test.cpp:[0-9]+, was woken by the thread of another";

}  // namespace

class woken_on_another_loop_death : public testing::Test {
 protected:
  void SetUp() override {
    if (!gyre::checks_everything) GTEST_SKIP() << "a check of debug builds";
  }
};

TEST_F(woken_on_another_loop_death, by_a_mutex) {
  const auto scenario = [] {
    gyre::mutex mutex;
    wakes_from_another_loop(
        [&]() -> gyre::task<> {
          EXPECT_TRUE(mutex.try_lock());
          co_await mutex.lock();
        },
        [&]() -> gyre::task<> {
          mutex.unlock();
          co_return;
        });
  };
  EXPECT_DEATH(scenario(), sentence);
}

TEST_F(woken_on_another_loop_death, by_a_shared_mutex) {
  const auto scenario = [] {
    gyre::shared_mutex mutex;
    wakes_from_another_loop(
        [&]() -> gyre::task<> {
          EXPECT_TRUE(mutex.try_lock());
          co_await mutex.lock_shared();
        },
        [&]() -> gyre::task<> {
          mutex.unlock();
          co_return;
        });
  };
  EXPECT_DEATH(scenario(), sentence);
}

TEST_F(woken_on_another_loop_death, by_a_semaphore) {
  const auto scenario = [] {
    gyre::counting_semaphore slots(0);
    wakes_from_another_loop([&]() -> gyre::task<> { co_await slots.acquire(); },
                            [&]() -> gyre::task<> {
                              slots.release();
                              co_return;
                            });
  };
  EXPECT_DEATH(scenario(), sentence);
}

TEST_F(woken_on_another_loop_death, by_a_condition_variable) {
  const auto scenario = [] {
    gyre::mutex mutex;
    gyre::condition_variable condition(mutex);
    wakes_from_another_loop(
        [&]() -> gyre::task<> {
          const auto guard = co_await mutex.scoped_lock();
          co_await condition.wait();
        },
        [&]() -> gyre::task<> {
          condition.notify_all();
          co_return;
        });
  };
  EXPECT_DEATH(scenario(), sentence);
}

TEST_F(woken_on_another_loop_death, by_an_event_a_latch_or_a_barrier) {
  const auto by_event = [] {
    gyre::event happened;
    wakes_from_another_loop([&]() -> gyre::task<> { co_await happened.wait(); },
                            [&]() -> gyre::task<> {
                              happened.set();
                              co_return;
                            });
  };
  const auto by_latch = [] {
    gyre::latch latch(1);
    wakes_from_another_loop([&]() -> gyre::task<> { co_await latch.wait(); },
                            [&]() -> gyre::task<> {
                              latch.count_down();
                              co_return;
                            });
  };
  const auto by_barrier = [] {
    gyre::barrier barrier(2);
    const auto arrive = [&]() -> gyre::task<> { (void)co_await barrier.wait(); };
    wakes_from_another_loop(arrive, arrive);
  };
  EXPECT_DEATH(by_event(), sentence);
  EXPECT_DEATH(by_latch(), sentence);
  EXPECT_DEATH(by_barrier(), sentence);
}

TEST_F(woken_on_another_loop_death, by_a_queue_or_a_channel) {
  const auto get = [] {
    gyre::queue<int> queue(1);
    wakes_from_another_loop([&]() -> gyre::task<> { (void)co_await queue.get(); },
                            [&]() -> gyre::task<> { co_await queue.put(1); });
  };
  const auto put = [] {
    gyre::queue<int> queue(1);
    EXPECT_TRUE(queue.try_put(1));
    wakes_from_another_loop([&]() -> gyre::task<> { co_await queue.put(2); },
                            [&]() -> gyre::task<> { (void)co_await queue.get(); });
  };
  const auto receive = [] {
    gyre::channel<int> channel(1);
    wakes_from_another_loop([&]() -> gyre::task<> { (void)co_await channel.receive(); },
                            [&]() -> gyre::task<> { co_await channel.send(1); });
  };
  const auto send = [] {
    gyre::channel<int> channel(0);
    wakes_from_another_loop([&]() -> gyre::task<> { co_await channel.send(1); },
                            [&]() -> gyre::task<> { (void)co_await channel.receive(); });
  };
  EXPECT_DEATH(get(), sentence);
  EXPECT_DEATH(put(), sentence);
  EXPECT_DEATH(receive(), sentence);
  EXPECT_DEATH(send(), sentence);
}

TEST_F(woken_on_another_loop_death, by_a_promise_or_a_oneshot) {
  const auto by_promise = [] {
    gyre::promise<int> promise;
    wakes_from_another_loop([&]() -> gyre::task<> { (void)co_await promise.get_future(); },
                            [&]() -> gyre::task<> {
                              promise.set_value(1);
                              co_return;
                            });
  };
  const auto by_oneshot = [] {
    gyre::oneshot<int> pair;
    wakes_from_another_loop([&]() -> gyre::task<> { (void)co_await pair.receiver.receive(); },
                            [&]() -> gyre::task<> {
                              (void)pair.sender.send(1);
                              co_return;
                            });
  };
  EXPECT_DEATH(by_promise(), sentence);
  EXPECT_DEATH(by_oneshot(), sentence);
}

TEST_F(woken_on_another_loop_death, by_a_watch_or_a_broadcast) {
  const auto by_watch = [] {
    gyre::watch<int> watch(1);
    auto watcher = watch.subscribe();
    wakes_from_another_loop([&]() -> gyre::task<> { (void)co_await watcher.changed(); },
                            [&]() -> gyre::task<> {
                              watch.set(2);
                              co_return;
                            });
  };
  const auto by_broadcast = [] {
    gyre::broadcast<int> broadcast(1);
    auto subscription = broadcast.subscribe();
    wakes_from_another_loop([&]() -> gyre::task<> { (void)co_await subscription.receive(); },
                            [&]() -> gyre::task<> {
                              broadcast.send(1);
                              co_return;
                            });
  };
  EXPECT_DEATH(by_watch(), sentence);
  EXPECT_DEATH(by_broadcast(), sentence);
}

TEST_F(woken_on_another_loop_death, in_a_chain_a_time_limit_or_an_as_expected) {
  const auto wakes = [](auto wait) {
    gyre::event happened;
    wakes_from_another_loop([&]() -> gyre::task<> { co_await wait(happened); },
                            [&]() -> gyre::task<> {
                              happened.set();
                              co_return;
                            });
  };
  EXPECT_DEATH(wakes([](gyre::event& e) -> gyre::task<> { co_await (e.wait() && e.wait()); }), sentence);
  EXPECT_DEATH(wakes([](gyre::event& e) -> gyre::task<> { co_await gyre::timeout(1h, e.wait()); }), sentence);
  EXPECT_DEATH(wakes([](gyre::event& e) -> gyre::task<> { (void)co_await gyre::as_expected(e.wait()); }), sentence);
}
