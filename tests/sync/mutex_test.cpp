// tests/sync/mutex_test.cpp: one task at a time, in order.
#include <gyre/sync/mutex.hpp>

#include "tests/support/turns_of_others.hpp"
#include "tests/support/virtual_run.hpp"

#include <vector>

using namespace gyre_test;

TEST(mutex, is_taken_at_once_when_it_is_free) {
  run_virtual([]() -> gyre::task<> {
    gyre::mutex mutex;
    co_await mutex.lock();
    EXPECT_TRUE(mutex.is_locked());
    EXPECT_FALSE(mutex.try_lock());
    mutex.unlock();
    EXPECT_TRUE(mutex.try_lock());
    mutex.unlock();
  });
}

TEST(mutex, lets_tasks_in_one_at_a_time_in_the_order_in_which_they_came) {
  run_virtual([]() -> gyre::task<> {
    gyre::mutex mutex;
    std::vector<int> order;
    int inside = 0;
    auto work = [&](int number) -> gyre::task<> {
      const auto guard = co_await mutex.scoped_lock();
      EXPECT_EQ(++inside, 1);
      co_await gyre::sleep(1ms);
      order.push_back(number);
      --inside;
    };
    std::vector<gyre::task<>> tasks;
    for (int i = 0; i < 5; ++i) tasks.push_back(work(i));
    co_await gyre::gather(std::move(tasks));
    EXPECT_EQ(order, (std::vector{0, 1, 2, 3, 4}));
    EXPECT_FALSE(mutex.is_locked());
  });
}

TEST(mutex, that_is_unlocked_goes_to_who_waits_and_not_to_who_tries_in_between) {
  run_virtual([]() -> gyre::task<> {
    gyre::mutex mutex;
    co_await mutex.lock();
    bool got_it = false;
    auto waiter = gyre::spawn([&]() -> gyre::task<> {
      const auto guard = co_await mutex.scoped_lock();
      got_it = true;
    });
    co_await gyre::yield();
    mutex.unlock();
    EXPECT_FALSE(mutex.try_lock());
    co_await waiter;
    EXPECT_TRUE(got_it);
  });
}

// Otherwise all other tasks would queue for it from then on, and each lock would cost a task switch.
TEST(mutex, lets_others_run_before_a_task_that_has_had_its_share_takes_it) {
  run_virtual([]() -> gyre::task<> {
    gyre::mutex mutex;
    auto lock = [&]() -> gyre::task<> {
      for (int i = 0; i < 1'000; ++i) const auto guard = co_await mutex.scoped_lock();
    };
    auto look = [&] { EXPECT_FALSE(mutex.is_locked()); };
    EXPECT_GT(co_await turns_of_others_during(lock(), look), 5);
  });
}

TEST(mutex, makes_a_task_that_lets_others_run_first_stand_in_line_when_one_of_them_takes_it) {
  run_virtual([]() -> gyre::task<> {
    gyre::mutex mutex;
    gyre::task_handle<void> other = gyre::spawn([&]() -> gyre::task<> {
      const auto guard = co_await mutex.scoped_lock();
      co_await gyre::sleep(1ms);
    });
    const auto began = gyre::event_loop::current().now();
    for (int i = 0; i < 1'000; ++i) const auto guard = co_await mutex.scoped_lock();
    EXPECT_EQ(gyre::event_loop::current().now() - began, 1'000'000);
    co_await other;
    EXPECT_FALSE(mutex.is_locked());
  });
}

TEST(mutex, a_cancel_while_others_run_leaves_it_free) {
  run_virtual([]() -> gyre::task<> {
    gyre::mutex mutex;
    int locked = 0;
    auto work = gyre::spawn([&]() -> gyre::task<> {
      for (;;) {
        const auto guard = co_await mutex.scoped_lock();
        ++locked;
      }
    });
    co_await gyre::yield();  // it has used up its share now
    work.cancel();
    const int before = locked;
    EXPECT_GT(before, 1);
    EXPECT_THROW(co_await work, gyre::task_cancelled);
    EXPECT_EQ(locked, before);
    EXPECT_FALSE(mutex.is_locked());
  });
}

TEST(mutex, a_cancelled_wait_leaves_the_line_to_the_others) {
  run_virtual([]() -> gyre::task<> {
    gyre::mutex mutex;
    co_await mutex.lock();
    std::vector<int> order;
    auto work = [&](int number) -> gyre::task<> {
      const auto guard = co_await mutex.scoped_lock();
      order.push_back(number);
    };
    auto first = gyre::spawn(work(1));
    auto second = gyre::spawn(work(2));
    auto third = gyre::spawn(work(3));
    co_await gyre::yield();
    second.cancel();
    mutex.unlock();
    co_await first;
    co_await second.wait();
    co_await third;
    EXPECT_EQ(order, (std::vector{1, 3}));
    EXPECT_FALSE(mutex.is_locked());
  });
}

TEST(mutex, a_time_out_ends_the_wait_without_taking_it) {
  run_virtual([]() -> gyre::task<> {
    gyre::mutex mutex;
    co_await mutex.lock();
    const auto outcome = co_await gyre::as_expected(gyre::timeout(10ms, mutex.lock()));
    EXPECT_EQ(outcome.error(), std::errc::timed_out);
    mutex.unlock();
    EXPECT_FALSE(mutex.is_locked());
  });
}
