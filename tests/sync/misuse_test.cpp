// tests/sync/misuse_test.cpp: misuse that the types of this layer cannot rule out stops the program with a message.
#include <gyre/sync/broadcast.hpp>
#include <gyre/sync/condition_variable.hpp>
#include <gyre/sync/future.hpp>
#include <gyre/sync/latch.hpp>
#include <gyre/sync/mutex.hpp>
#include <gyre/sync/oneshot.hpp>
#include <gyre/sync/semaphore.hpp>
#include <gyre/sync/shared_channel.hpp>
#include <gyre/sync/shared_mutex.hpp>
#include <gyre/sync/watch.hpp>

#include "tests/support/virtual_run.hpp"

#include <exception>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

using namespace gyre_test;

// NOLINTBEGIN(bugprone-use-after-move): that is the test

// ---- values

TEST(sync_misuse_death, the_result_of_a_future_without_a_value_stops_the_program) {
  gyre::promise<std::string> text;
  EXPECT_DEATH((void)text.get_future().result(), "result.. of a future that has no value yet");
  gyre::promise<void> nothing;
  EXPECT_DEATH(nothing.get_future().result(), "result.. of a future that has no value yet");
}

TEST(sync_misuse_death, a_promise_that_is_given_no_exception_stops_the_program) {
  gyre::promise<int> promise;
  EXPECT_DEATH(promise.set_exception(nullptr), "set_exception of a promise with a null exception_ptr");
}

TEST(sync_misuse_death, a_promise_or_a_future_that_was_moved_from_stops_the_program) {
  gyre::promise<int> promise;
  auto future = promise.get_future();
  const auto future_there = std::move(future);
  const char* const sentence = "a future that was moved from was used";
  EXPECT_DEATH((void)future.done(), sentence);
  EXPECT_DEATH((void)future.result(), sentence);
  EXPECT_DEATH(run_virtual([&]() -> gyre::task<> { (void)co_await future; }), sentence);
  const auto copy = future;  // as empty as the original
  EXPECT_DEATH((void)copy.done(), sentence);

  auto promise_there = std::move(promise);
  EXPECT_DEATH((void)promise.set_value(1), "a promise that was moved from was used");
  EXPECT_DEATH((void)promise.get_future(), "a promise that was moved from was used");
  EXPECT_TRUE(promise_there.set_value(1));
  EXPECT_EQ(future_there.result(), 1);
}

TEST(sync_misuse_death, an_end_of_a_oneshot_that_was_moved_from_stops_the_program) {
  gyre::oneshot<int> pair;
  auto sender = std::move(pair.sender);
  auto receiver = std::move(pair.receiver);
  EXPECT_DEATH((void)pair.sender.send(1), "has sent its value or was moved from: a oneshot takes one value only");
  EXPECT_DEATH((void)pair.receiver.receive(), "a oneshot_receiver that was moved from was used");
  EXPECT_DEATH((void)pair.receiver.try_receive(), "a oneshot_receiver that was moved from was used");
}

// ---- sources that are gone

TEST(sync_misuse_death, a_watcher_or_a_subscription_whose_source_is_gone_stops_the_program) {
  std::optional<gyre::watch<int>> state(std::in_place, 0);
  auto watcher = state->subscribe();
  auto copy = watcher;
  state.reset();
  const char* const sentence = "a watcher was used after its watch was destroyed";
  EXPECT_DEATH((void)watcher.value(), sentence);
  EXPECT_DEATH((void)copy.has_changed(), sentence);
  EXPECT_DEATH(run_virtual([&]() -> gyre::task<> { (void)co_await watcher.changed(); }), sentence);

  std::optional<gyre::broadcast<int>> news(std::in_place, 1);
  auto subscription = news->subscribe();
  news.reset();
  EXPECT_DEATH((void)subscription.try_receive(), "a subscription was used after its broadcast was destroyed");
  EXPECT_DEATH(run_virtual([&]() -> gyre::task<> { (void)co_await subscription.receive(); }),
               "a subscription was used after its broadcast was destroyed");
  subscription = gyre::broadcast<int>(1).subscribe();  // assigned and destroyed as before
}

TEST(sync_misuse, subscriptions_may_be_copied_assigned_and_dropped_in_any_order) {
  gyre::watch<int> one(1);
  gyre::watch<int> two(2);
  auto first = one.subscribe();
  auto second = two.subscribe();
  {
    const auto copy = first;
    first = second;
    second = copy;
  }
  EXPECT_EQ(first.value(), 2);
  EXPECT_EQ(second.value(), 1);
  first = second;
  one.set(3);
  EXPECT_TRUE(first.has_changed());
  EXPECT_EQ(first.value(), 3);
}

// ---- shared_channel

TEST(sync_misuse_death, a_shared_channel_that_was_moved_from_stops_the_program) {
  gyre::shared_channel<int> channel(1);
  const auto there = std::move(channel);
  const char* const sentence = "a shared_channel that was moved from was used";
  EXPECT_DEATH((void)channel.try_send(1), sentence);
  EXPECT_DEATH((void)channel.try_receive(), sentence);
  EXPECT_DEATH((void)channel.blocking_send(1), sentence);
  EXPECT_DEATH((void)channel.blocking_receive(), sentence);
  EXPECT_DEATH(channel.close(), sentence);
  EXPECT_DEATH(run_virtual([&]() -> gyre::task<> { co_await channel.send(1); }), sentence);
  EXPECT_DEATH(run_virtual([&]() -> gyre::task<> { (void)co_await channel.receive(); }), sentence);
  auto copy = channel;  // as empty as the original
  EXPECT_DEATH(copy.close(), sentence);
}

TEST(sync_misuse, a_shared_channel_refuses_to_block_the_thread_of_a_loop) {
  run_virtual([]() -> gyre::task<> {
    gyre::shared_channel<int> channel(1);
    EXPECT_THROW((void)channel.blocking_receive(), std::logic_error);
    EXPECT_THROW((void)channel.blocking_send(1), std::logic_error);
    EXPECT_EQ(channel.try_receive(), std::nullopt);
    co_return;
  });
}

// ---- locks and signals

TEST(sync_misuse_death, a_wait_for_a_condition_without_its_mutex_stops_the_program) {
  const auto wait = [] {
    run_virtual([]() -> gyre::task<> {
      gyre::mutex mutex;
      gyre::condition_variable changed(mutex);
      co_await changed.wait();
    });
  };
  EXPECT_DEATH(wait(), "wait.. of a condition_variable whose mutex is not locked: co_await mutex.scoped_lock.. first");
}

TEST(sync_misuse_death, a_lock_that_is_given_back_but_not_held_stops_the_program) {
  gyre::mutex mutex;
  EXPECT_DEATH(mutex.unlock(), "a mutex was unlocked that is not locked: let a guard of scoped_lock.. unlock it");
}

TEST(sync_misuse_death, a_send_to_a_closed_broadcast_and_a_latch_below_0_stop_the_program) {
  gyre::broadcast<int> news(1);
  news.close();
  EXPECT_DEATH(news.send(1), "send.. to a broadcast that is closed: ask is_closed.. first");
  gyre::latch open(1);
  EXPECT_DEATH(open.count_down(2), "a latch was counted down below 0");
  open.count_down();
  EXPECT_DEATH(open.count_down(), "a latch was counted down below 0: make it with a higher count");
}

// ---- operations that are not awaited

TEST(sync_misuse_death, a_lock_that_is_not_awaited_stops_a_debug_build) {
  if (!gyre::checks_everything) return;
  gyre::mutex mutex;
  EXPECT_DEATH(const std::lock_guard<gyre::mutex> guard(mutex), "lock.. of a mutex was called and not awaited");
  EXPECT_DEATH(
      { [[maybe_unused]] const auto guard = mutex.scoped_lock(); },
      "scoped_lock.. of a mutex was called and not awaited, so it did nothing: co_await it");
  gyre::counting_semaphore slots(1);
  EXPECT_DEATH((void)slots.acquire(), "acquire.. of a semaphore was called and not awaited");
  EXPECT_DEATH({ [[maybe_unused]] const auto permit = slots.scoped_acquire(); }, "scoped_acquire.. of a semaphore");
  gyre::shared_mutex shared;
  EXPECT_DEATH((void)shared.lock_shared(), "a lock function of a shared_mutex was called and not awaited");
}

// NOLINTEND(bugprone-use-after-move)

TEST(sync_misuse, locks_that_are_awaited_anyhow_or_cut_off_before_are_no_misuse) {
  run_virtual([]() -> gyre::task<> {
    gyre::mutex mutex;
    gyre::counting_semaphore slots(1);
    gyre::shared_mutex shared;
    {
      auto operation = mutex.scoped_lock();
      auto moved = std::move(operation);
      const auto guard = co_await std::move(moved);
      EXPECT_TRUE((co_await gyre::as_expected(shared.lock())).has_value());
      EXPECT_THROW(co_await gyre::timeout(1ms, mutex.lock()), gyre::timed_out);
      EXPECT_FALSE((co_await gyre::as_expected(gyre::timeout(1ms, shared.lock_shared()))).has_value());
    }
    shared.unlock();
    EXPECT_EQ((co_await gyre::race(slots.scoped_acquire(), gyre::sleep(1ms))).index, 0U);
    (void)co_await gyre::gather(slots.scoped_acquire(), shared.scoped_lock());

    // In a cancelled scope an await throws before it requests anything, and the tasks of a race do not begin.
    auto cut_off = [&]() -> gyre::task<> {
      co_await outlast_cancel();
      EXPECT_THROW(co_await mutex.lock(), gyre::cancelled);
      EXPECT_THROW((void)co_await gyre::as_expected(slots.acquire()), gyre::cancelled);
      EXPECT_THROW((void)co_await gyre::timeout(1s, mutex.scoped_lock()), gyre::cancelled);
      co_await gyre::race(mutex.lock(), shared.lock_shared());
    };
    (void)co_await is_cancelled_after(1ms, cut_off);
    EXPECT_FALSE(mutex.is_locked());
    (void)gyre::race(mutex.lock(), slots.acquire());  // a task that is never awaited
  });
}
