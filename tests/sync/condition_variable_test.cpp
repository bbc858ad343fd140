// tests/sync/condition_variable_test.cpp: waiting with a mutex for a condition.
#include <gyre/sync/condition_variable.hpp>

#include "tests/support/virtual_run.hpp"

#include <memory>
#include <vector>

using namespace gyre_test;

namespace {

struct guarded {
  gyre::mutex mutex;
  gyre::condition_variable changed{mutex};
  int items = 0;

  gyre::task<> consume(std::vector<int>& order, int number) {
    const auto guard = co_await mutex.scoped_lock();
    co_await changed.wait([this] { return items > 0; });
    EXPECT_TRUE(mutex.is_locked());
    --items;
    order.push_back(number);
  }
  gyre::task<> produce(int count) {
    const auto guard = co_await mutex.scoped_lock();
    items += count;
    changed.notify(static_cast<std::size_t>(count));
  }
};

}  // namespace

TEST(condition_variable, wakes_as_many_as_it_is_told_in_the_order_in_which_they_came) {
  run_virtual([]() -> gyre::task<> {
    guarded shared;
    std::vector<int> order;
    std::vector<gyre::task_handle<void>> consumers;
    for (int i = 0; i < 3; ++i) consumers.push_back(gyre::spawn(shared.consume(order, i)));
    co_await gyre::sleep(1ms);
    EXPECT_FALSE(shared.mutex.is_locked()) << "a waiter does not hold the mutex";
    co_await shared.produce(2);
    co_await consumers[0];
    co_await consumers[1];
    EXPECT_FALSE(consumers[2].done());
    co_await shared.produce(1);
    co_await consumers[2];
    EXPECT_EQ(order, (std::vector{0, 1, 2}));
  });
}

TEST(condition_variable, notify_all_wakes_everybody_one_after_the_other) {
  run_virtual([]() -> gyre::task<> {
    gyre::mutex mutex;
    gyre::condition_variable changed(mutex);
    int inside = 0;
    auto wait = [&]() -> gyre::task<> {
      const auto guard = co_await mutex.scoped_lock();
      co_await changed.wait();
      EXPECT_EQ(++inside, 1);
      co_await gyre::sleep(1ms);
      --inside;
    };
    std::vector<gyre::task_handle<void>> all;
    for (int i = 0; i < 4; ++i) all.push_back(gyre::spawn(wait()));
    co_await gyre::sleep(1ms);
    changed.notify_all();
    for (auto& each : all) co_await each;
  });
}

TEST(condition_variable, a_predicate_that_is_true_already_makes_nobody_wait) {
  run_virtual([]() -> gyre::task<> {
    gyre::mutex mutex;
    gyre::condition_variable changed(mutex);
    const auto guard = co_await mutex.scoped_lock();
    co_await changed.wait([] { return true; });
  });
}

TEST(condition_variable, a_cancelled_wait_has_the_mutex_again_when_it_throws) {
  run_virtual([]() -> gyre::task<> {
    gyre::mutex mutex;
    gyre::condition_variable changed(mutex);
    bool threw = false;
    auto waiter = gyre::spawn([&]() -> gyre::task<> {
      co_await mutex.lock();
      try {
        co_await changed.wait();
      } catch (const gyre::cancelled&) {
        threw = true;
        EXPECT_TRUE(mutex.is_locked());
        mutex.unlock();
        throw;
      }
    });
    co_await gyre::yield();
    co_await mutex.lock();
    waiter.cancel();
    co_await gyre::sleep(1ms);
    EXPECT_FALSE(threw) << "it waits for the mutex";
    mutex.unlock();
    co_await waiter.wait();
    EXPECT_TRUE(threw);
    EXPECT_FALSE(mutex.is_locked());
  });
}

TEST(condition_variable, a_notification_does_not_get_lost_in_a_waiter_that_was_cancelled_before) {
  run_virtual([]() -> gyre::task<> {
    guarded shared;
    std::vector<int> order;
    auto first = gyre::spawn(shared.consume(order, 1));
    auto second = gyre::spawn(shared.consume(order, 2));
    co_await gyre::sleep(1ms);
    first.cancel();
    co_await shared.produce(1);
    co_await second;
    co_await first.wait();
    EXPECT_EQ(order, (std::vector{2}));
  });
}

TEST(condition_variable, a_waiter_that_is_cancelled_after_its_notification_passes_it_on) {
  run_virtual([]() -> gyre::task<> {
    guarded shared;
    std::vector<int> order;
    auto first = gyre::spawn(shared.consume(order, 1));
    auto second = gyre::spawn(shared.consume(order, 2));
    co_await gyre::sleep(1ms);
    co_await shared.produce(1);  // notifies the first, which has not resumed yet
    first.cancel();
    co_await gyre::timeout(1s, second.wait());
    EXPECT_TRUE(co_await cancel_and_wait(first));
    EXPECT_EQ(order, (std::vector{2}));
    EXPECT_FALSE(shared.mutex.is_locked());
  });
}

// Only a sanitizer reports a use of the destroyed object.
TEST(condition_variable, may_be_destroyed_before_those_it_has_notified_go_on) {
  run_virtual([]() -> gyre::task<> {
    gyre::mutex mutex;
    auto condition = std::make_unique<gyre::condition_variable>(mutex);
    auto waiter = gyre::spawn([&]() -> gyre::task<> {
      const auto guard = co_await mutex.scoped_lock();
      co_await condition->wait();
    });
    co_await gyre::yield();
    condition->notify_all();
    condition.reset();
    co_await waiter;
  });
}
