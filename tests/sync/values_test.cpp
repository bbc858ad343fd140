// tests/sync/values_test.cpp: one value for one or many, the latest state, and every item for all subscribers.
#include <gyre/sync/broadcast.hpp>
#include <gyre/sync/future.hpp>
#include <gyre/sync/oneshot.hpp>
#include <gyre/sync/semaphore.hpp>
#include <gyre/sync/watch.hpp>

#include "tests/support/virtual_run.hpp"

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

using namespace gyre_test;

// ---- oneshot

TEST(oneshot, brings_a_value_whether_it_was_sent_before_or_after) {
  run_virtual([]() -> gyre::task<> {
    gyre::oneshot<std::unique_ptr<int>> early;
    EXPECT_TRUE(early.sender.send(std::make_unique<int>(1)));
    EXPECT_EQ(*co_await early.receiver.receive(), 1);
    gyre::oneshot<int> late;
    auto receiver = gyre::spawn([&]() -> gyre::task<int> { co_return co_await late.receiver.receive(); });
    co_await gyre::yield();
    EXPECT_TRUE(late.sender.send(2));
    EXPECT_EQ(co_await receiver, 2);
  });
}

// A receive that finds its value, but must let other tasks run first because its task has used up its budget.
TEST(oneshot, may_be_destroyed_when_its_value_was_received) {
  run_virtual([]() -> gyre::task<> {
    constexpr int max_ready_awaits = 64;  // one more than these goes through the ready queue
    for (int ready_awaits = 0; ready_awaits <= max_ready_awaits; ++ready_awaits) {
      auto pair = std::make_unique<gyre::oneshot<std::string>>();
      gyre::counting_semaphore permits(max_ready_awaits);
      EXPECT_TRUE(pair->sender.send("a value that is too long to be kept in the string itself"));
      auto receiving = gyre::spawn([&]() -> gyre::task<std::string> {
        for (int i = 0; i < ready_awaits; ++i) co_await permits.acquire();
        co_return co_await pair->receiver.receive();
      });
      co_await gyre::yield();
      pair.reset();
      EXPECT_EQ(co_await receiving, "a value that is too long to be kept in the string itself");
    }
  });
}

TEST(oneshot, reports_that_its_sender_was_dropped) {
  run_virtual([]() -> gyre::task<> {
    gyre::oneshot<int> pair;
    std::optional<gyre::oneshot_sender<int>> sender(std::move(pair.sender));
    auto receiver = gyre::spawn([&]() -> gyre::task<int> { co_return co_await pair.receiver.receive(); });
    co_await gyre::yield();
    sender.reset();
    EXPECT_THROW(co_await receiver, gyre::sender_dropped);
    const auto outcome = co_await gyre::as_expected(pair.receiver.receive());
    EXPECT_EQ(outcome.error(), gyre::sync_errc::sender_dropped);
  });
}

TEST(oneshot, reports_to_the_sender_that_nobody_wants_the_value) {
  gyre::oneshot<std::string> pair;
  {
    const gyre::oneshot_receiver<std::string> gone = std::move(pair.receiver);
  }
  EXPECT_TRUE(pair.sender.is_closed());
  std::string value = "kept";
  EXPECT_FALSE(pair.sender.send(std::move(value)));
  EXPECT_EQ(value, "kept");  // NOLINT(bugprone-use-after-move): that is the contract
}

// ---- promise and future

TEST(future, gives_its_value_to_all_waiters_and_to_those_that_come_later) {
  run_virtual([]() -> gyre::task<> {
    gyre::promise<std::string> promise;
    const gyre::future<std::string> future = promise.get_future();
    auto wait = [](gyre::future<std::string> f) -> gyre::task<std::string> { co_return co_await f; };
    auto one = gyre::spawn(wait(future));
    auto two = gyre::spawn(wait(future));
    co_await gyre::yield();
    EXPECT_FALSE(future.done());
    EXPECT_TRUE(promise.set_value("here"));
    EXPECT_FALSE(promise.set_value("too late"));
    EXPECT_EQ(co_await one, "here");
    EXPECT_EQ(co_await two, "here");
    EXPECT_EQ(co_await future, "here");
    EXPECT_EQ(future.result(), "here");
  });
}

// asyncio: wait_for(future, 0).
TEST(future, that_is_done_gives_its_value_to_a_wait_without_any_time) {
  run_virtual([]() -> gyre::task<> {
    gyre::promise<int> promise;
    const gyre::future<int> future = promise.get_future();
    for (const auto limit : {0s, -1s}) {
      const std::string refusal = co_await error_of(gyre::wait_for(future, limit));
      EXPECT_NE(refusal.find("timed out"), std::string::npos) << refusal;
    }
    promise.set_value(3);
    for (const auto limit : {0s, -1s}) {
      const int value = co_await gyre::wait_for(future, limit);
      EXPECT_EQ(value, 3);
    }
    gyre::shared_task<int> shared(value_after(0ms, 4));
    const int first = co_await shared;
    const int again = co_await gyre::wait_for(shared, 0s);
    EXPECT_EQ(first + again, 8);
  });
}

TEST(future, throws_what_the_promise_was_given) {
  run_virtual([]() -> gyre::task<> {
    gyre::promise<void> promise;
    const gyre::future<void> future = promise.get_future();
    promise.set_exception(std::make_exception_ptr(std::runtime_error("no")));
    EXPECT_THROW(co_await future, std::runtime_error);
    EXPECT_THROW(future.result(), std::runtime_error);
  });
}

TEST(future, reports_that_its_promise_was_destroyed) {
  run_virtual([]() -> gyre::task<> {
    std::optional<gyre::promise<int>> promise(std::in_place);
    const gyre::future<int> future = promise->get_future();
    auto waiter = gyre::spawn([&]() -> gyre::task<int> { co_return co_await future; });
    co_await gyre::yield();
    promise.reset();
    EXPECT_THROW(co_await waiter, gyre::sender_dropped);
  });
}

// ---- broadcast

TEST(broadcast, gives_every_item_to_every_subscriber) {
  run_virtual([]() -> gyre::task<> {
    gyre::broadcast<int> news(4);
    news.send(0);  // before the first subscription
    auto one = news.subscribe();
    auto two = news.subscribe();
    auto listen = [](gyre::broadcast_subscription<int>& from) -> gyre::task<int> {
      int sum = 0;
      while (auto item = co_await from.receive()) {
        EXPECT_EQ(item->missed, 0U);
        sum += item->value;
      }
      co_return sum;
    };
    auto first = gyre::spawn(listen(one));
    auto second = gyre::spawn(listen(two));
    for (int i = 1; i <= 10; ++i) {
      news.send(i);
      co_await gyre::yield();
      co_await gyre::yield();
    }
    news.close();
    EXPECT_EQ(co_await first, 55);
    EXPECT_EQ(co_await second, 55);
  });
}

TEST(broadcast, tells_a_slow_subscriber_how_many_items_it_missed) {
  run_virtual([]() -> gyre::task<> {
    gyre::broadcast<int> news(3);
    auto slow = news.subscribe();
    for (int i = 0; i < 10; ++i) news.send(i);
    const auto item = co_await slow.receive();
    EXPECT_EQ(item->missed, 7U);
    EXPECT_EQ(item->value, 7);
    EXPECT_EQ((co_await slow.receive())->missed, 0U);
    EXPECT_EQ((co_await slow.receive())->value, 9);
    EXPECT_FALSE(slow.try_receive());
    news.close();
    EXPECT_FALSE(co_await slow.receive());
  });
}

// ---- watch

TEST(watch, shows_the_latest_value_and_skips_those_in_between) {
  run_virtual([]() -> gyre::task<> {
    gyre::watch<int> state(0);
    auto watcher = state.subscribe();
    EXPECT_FALSE(watcher.has_changed());
    auto observer = gyre::spawn([&]() -> gyre::task<int> {
      EXPECT_TRUE(co_await watcher.changed());
      co_return watcher.value();
    });
    co_await gyre::yield();
    state.set(1);
    state.modify([](int& value) { ++value; });
    EXPECT_EQ(co_await observer, 2);
    EXPECT_FALSE(watcher.has_changed());
  });
}

TEST(watch, that_is_closed_gives_the_last_change_and_then_the_end) {
  run_virtual([]() -> gyre::task<> {
    gyre::watch<int> state(0);
    auto watcher = state.subscribe();
    state.set(1);
    state.close();
    EXPECT_TRUE(co_await watcher.changed());
    EXPECT_EQ(watcher.value(), 1);
    EXPECT_FALSE(co_await watcher.changed());
  });
}

TEST(watch, keeps_a_change_unseen_when_the_wait_for_it_times_out) {
  run_virtual([]() -> gyre::task<> {
    gyre::watch<int> state(0);
    auto watcher = state.subscribe();
    const auto outcome = co_await gyre::as_expected(gyre::timeout(1ms, watcher.changed()));
    EXPECT_EQ(outcome.error(), std::errc::timed_out);
    state.set(1);
    EXPECT_TRUE(watcher.has_changed());
  });
}
