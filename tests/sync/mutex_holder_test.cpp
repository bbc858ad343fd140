// tests/sync/mutex_holder_test.cpp: the task that holds a mutex is known, and waits for itself if it locks it again.
#include <gyre/sync/condition_variable.hpp>
#include <gyre/sync/mutex.hpp>

#include "tests/support/virtual_run.hpp"

#include <utility>
#include <vector>

using namespace gyre_test;

TEST(mutex_holder_death, that_locks_its_mutex_again_is_named_on_virtual_time) {
  EXPECT_DEATH(run_virtual([]() -> gyre::task<> {
                 gyre::mutex mutex;
                 co_await mutex.lock();
                 co_await mutex.lock();
               }),
               "deadlock: nothing can wake 1 task(.|\n)*mutex_holder_test.cpp:[0-9]+");
}

TEST(mutex_holder_death, that_locks_its_mutex_again_stops_a_debug_build) {
  if (!gyre::checks_everything) return;
  const char* const sentence = "a task locks a mutex that it holds already";
  EXPECT_DEATH(gyre::run([]() -> gyre::task<> {
                 gyre::mutex mutex;
                 const auto guard = co_await mutex.scoped_lock();
                 co_await mutex.lock();
               }),
               sentence);
  EXPECT_DEATH(gyre::run([]() -> gyre::task<> {
                 gyre::mutex mutex;
                 gyre::condition_variable condition(mutex);
                 const auto guard = co_await mutex.scoped_lock();
                 auto notify = gyre::spawn([&]() -> gyre::task<> {
                   condition.notify();
                   co_return;
                 });
                 co_await condition.wait();
                 (void)co_await mutex.scoped_lock();
               }),
               sentence);
}

TEST(mutex_holder, may_wait_for_its_mutex_with_a_time_limit) {
  run_virtual([]() -> gyre::task<> {
    gyre::mutex mutex;
    const auto guard = co_await mutex.scoped_lock();
    EXPECT_FALSE((co_await gyre::as_expected(gyre::timeout(1ms, mutex.lock()))).has_value());
    auto lock = [&]() -> gyre::task<> { co_await mutex.lock(); };
    EXPECT_FALSE((co_await gyre::as_expected(gyre::timeout(1ms, lock()))).has_value());
  });
}

TEST(mutex_holder, hands_the_mutex_over_with_its_guard) {
  run_virtual([]() -> gyre::task<> {
    gyre::mutex mutex;
    auto guard = co_await mutex.scoped_lock();
    auto hold = [](gyre::mutex_guard) -> gyre::task<> { co_await gyre::sleep(1ms); };
    auto holder = gyre::spawn(hold(std::move(guard)));
    auto detached = std::move(holder);
    auto wait = [&]() -> gyre::task<> { co_await detached; };
    auto waiter = gyre::spawn(wait());
    const auto again = co_await mutex.scoped_lock();
    co_await waiter;
  });
}

TEST(mutex_holder, is_not_mistaken_for_a_later_task_at_its_address_when_its_guard_outlives_it) {
  run_virtual([]() -> gyre::task<> {
    gyre::mutex mutex;
    gyre::mutex_guard* guard = nullptr;
    co_await gyre::spawn([&]() -> gyre::task<> {
      gyre::mutex_guard held = co_await mutex.scoped_lock();  // docs/compilers.md
      guard = new gyre::mutex_guard(std::move(held));
    });
    EXPECT_TRUE(mutex.is_locked());
    // One of these tasks gets the memory of the task that has ended.
    auto lock = [&]() -> gyre::task<> { const auto held = co_await mutex.scoped_lock(); };
    std::vector<gyre::task_handle<>> waiters;
    for (int i = 0; i < 4; ++i) waiters.push_back(gyre::spawn(lock()));
    co_await gyre::yield();
    delete guard;
    for (auto& each : waiters) co_await each;
  });
}
