// tests/sync/cancel_after_grant_test.cpp: the outcome for a task that is granted what it waits for, and is cancelled
// before it resumes. The table "When a cancel meets a success" of docs/guide/synchronization.md, row by row. Then the
// outcome for a task that is cancelled before the grant.
#include "tests/support/virtual_run.hpp"

#include <utility>

using namespace gyre_test;

namespace {

/// Runs `waits` until it waits, then grants and cancels it in the same turn. Returns whether its await returned
/// normally. The next await of the task must fail in either case.
template <class Waits, class Grant>
gyre::task<bool> success_wins(Waits waits, Grant grant) {
  bool returned = false;
  bool went_on = false;
  auto waiter = gyre::spawn([&]() -> gyre::task<> {
    (void)co_await waits();
    returned = true;
    co_await gyre::yield();
    went_on = true;
  });
  co_await gyre::sleep(1ms);
  EXPECT_FALSE(returned);
  grant();
  waiter.cancel();
  co_await waiter.wait();
  EXPECT_FALSE(went_on);
  co_return returned;
}

}  // namespace

TEST(cancel_after_grant, leaves_the_task_with_its_lock_or_permit) {
  run_virtual([]() -> gyre::task<> {
    gyre::mutex mutex;
    (void)mutex.try_lock();
    EXPECT_TRUE(co_await success_wins([&] { return mutex.lock(); }, [&] { mutex.unlock(); }));
    EXPECT_TRUE(mutex.is_locked());
    EXPECT_TRUE(co_await success_wins([&] { return mutex.scoped_lock(); }, [&] { mutex.unlock(); }));
    EXPECT_FALSE(mutex.is_locked()) << "the guard releases it";
    gyre::counting_semaphore permits(0);
    EXPECT_TRUE(co_await success_wins([&] { return permits.acquire(); }, [&] { permits.release(); }));
    EXPECT_FALSE(permits.try_acquire());
    gyre::shared_mutex shared;
    co_await shared.lock();
    EXPECT_TRUE(co_await success_wins([&] { return shared.lock(); }, [&] { shared.unlock(); }));
    EXPECT_FALSE(shared.try_lock());
  });
}

TEST(cancel_after_grant, leaves_the_task_with_its_item) {
  run_virtual([]() -> gyre::task<> {
    gyre::queue<int> queue(1);
    EXPECT_TRUE(co_await success_wins([&] { return queue.get(); }, [&] { (void)queue.try_put(1); }));
    EXPECT_TRUE(queue.empty());
    EXPECT_TRUE(queue.try_put(2));
    EXPECT_TRUE(co_await success_wins([&] { return queue.put(3); }, [&] { (void)queue.try_get(); }));
    EXPECT_EQ(queue.try_get(), 3);
    gyre::channel<int> channel(1);
    EXPECT_TRUE(co_await success_wins([&] { return channel.receive(); }, [&] { (void)channel.try_send(1); }));
    EXPECT_EQ(channel.try_receive(), std::nullopt);
    gyre::oneshot<int> once;
    EXPECT_TRUE(co_await success_wins([&] { return once.receiver.receive(); }, [&] { once.sender.send(1); }));
    EXPECT_EQ(once.receiver.try_receive(), std::nullopt);
  });
}

TEST(cancel_after_grant, finds_a_wait_over) {
  run_virtual([]() -> gyre::task<> {
    gyre::event event;
    EXPECT_TRUE(co_await success_wins([&] { return event.wait(); }, [&] { event.set(); }));
    gyre::latch latch(1);
    EXPECT_TRUE(co_await success_wins([&] { return latch.wait(); }, [&] { latch.count_down(); }));
    gyre::watch<int> watched(0);
    auto watcher = watched.subscribe();
    EXPECT_TRUE(co_await success_wins([&] { return watcher.changed(); }, [&] { watched.set(1); }));
    gyre::promise<int> promise;
    auto future = promise.get_future();
    EXPECT_TRUE(co_await success_wins([&]() -> gyre::task<> { (void)co_await future; }, [&] { promise.set_value(1); }));
  });
}

TEST(cancel_after_grant, leaves_the_item_of_a_broadcast_unread) {
  run_virtual([]() -> gyre::task<> {
    gyre::broadcast<int> news(4);
    auto subscription = news.subscribe();
    EXPECT_FALSE(co_await success_wins([&] { return subscription.receive(); }, [&] { news.send(1); }));
    EXPECT_EQ((co_await subscription.receive())->value, 1);
  });
}

TEST(cancel_after_grant, gives_the_notification_of_a_condition_to_another_waiter) {
  run_virtual([]() -> gyre::task<> {
    gyre::mutex mutex;
    gyre::condition_variable changed(mutex);
    bool notified = false;
    auto waits = [&]() -> gyre::task<> {
      const auto guard = co_await mutex.scoped_lock();
      co_await changed.wait();
    };
    auto begins = success_wins(waits, [&] { changed.notify(); });
    auto other = [&]() -> gyre::task<> {
      co_await gyre::yield();  // after the first
      const auto guard = co_await mutex.scoped_lock();
      co_await changed.wait();
      notified = true;
    };
    auto behind = gyre::spawn(other);
    EXPECT_FALSE(co_await std::move(begins));
    co_await gyre::timeout(1s, behind);
    EXPECT_TRUE(notified);
    EXPECT_FALSE(mutex.is_locked());
  });
}

// ---- cancels before the grant

namespace {

/// Two tasks run `waits`. The first is cancelled, then `grant()` is called, and the second must go on.
template <class Waits, class Grant>
gyre::task<> second_goes_on(Waits waits, Grant grant) {
  auto wait = [&]() -> gyre::task<> { (void)co_await waits(); };
  auto first = gyre::spawn(wait());
  auto second = gyre::spawn(wait());
  co_await gyre::yield();
  first.cancel();
  grant();
  co_await second;
  EXPECT_TRUE(co_await cancel_and_wait(first));
}

}  // namespace

TEST(cancel_before_grant, leaves_the_grant_to_the_other_waiter) {
  run_virtual([]() -> gyre::task<> {
    gyre::event event;
    co_await second_goes_on([&] { return event.wait(); }, [&] { event.set(); });
    gyre::counting_semaphore permits(0);
    co_await second_goes_on([&] { return permits.acquire(); }, [&] { permits.release(); });
    EXPECT_EQ(permits.available(), 0U);
    gyre::promise<int> promise;
    const auto future = promise.get_future();
    auto get = [&]() -> gyre::task<> { EXPECT_EQ(co_await future, 5); };
    co_await second_goes_on(get, [&] { promise.set_value(5); });
  });
}

TEST(cancel_before_grant, leaves_the_value_to_the_next_receive) {
  run_virtual([]() -> gyre::task<> {
    gyre::oneshot<int> once;
    EXPECT_TRUE(co_await is_cancelled_after(1ms, gyre::as_task(once.receiver.receive())));
    once.sender.send(3);
    EXPECT_EQ(co_await once.receiver.receive(), 3);
    gyre::broadcast<int> news(3);
    auto subscription = news.subscribe();
    EXPECT_TRUE(co_await is_cancelled_after(1ms, gyre::as_task(subscription.receive())));
    news.send(1);
    EXPECT_EQ((co_await subscription.receive())->value, 1);
  });
}
