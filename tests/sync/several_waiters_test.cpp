// tests/sync/several_waiters_test.cpp: several tasks that wait with the same subscription, watcher or receiver.
#include <gyre/sync.hpp>

#include "tests/support/virtual_run.hpp"

#include <optional>
#include <vector>

using namespace gyre_test;

TEST(broadcast, tasks_that_share_a_subscription_share_its_items) {
  run_virtual([]() -> gyre::task<> {
    gyre::broadcast<int> broadcast(4);
    auto subscription = broadcast.subscribe();
    std::vector<int> got;
    auto take = [&]() -> gyre::task<> {
      while (const auto item = co_await subscription.receive()) got.push_back(item->value);
      EXPECT_TRUE(broadcast.is_closed());
    };
    auto send = [&]() -> gyre::task<> {
      for (int i = 0; i < 5; ++i) {
        co_await gyre::sleep(1ms);
        broadcast.send(i);
      }
      co_await gyre::sleep(1ms);
      broadcast.close();
    };
    auto all = gyre::gather(take(), take(), send());
    co_await std::move(all);
    EXPECT_EQ(got, (std::vector{0, 1, 2, 3, 4}));
  });
}

TEST(broadcast, a_cancelled_receive_that_shares_a_subscription_keeps_no_item_from_the_others) {
  run_virtual([]() -> gyre::task<> {
    gyre::broadcast<int> broadcast(4);
    auto subscription = broadcast.subscribe();
    auto take = [&]() -> gyre::task<int> { co_return (co_await subscription.receive()).value().value; };
    auto first = gyre::spawn(take());
    auto second = gyre::spawn(take());
    co_await gyre::sleep(1ms);
    broadcast.send(7);
    first.cancel();  // the item has arrived, and the task has not been resumed
    EXPECT_EQ(co_await second, 7);
    EXPECT_TRUE(co_await cancel_and_wait(first));
  });
}

TEST(broadcast, a_receive_that_found_the_item_taken_can_be_cancelled) {
  run_virtual([]() -> gyre::task<> {
    gyre::broadcast<int> broadcast(4);
    auto subscription = broadcast.subscribe();
    auto take = [&]() -> gyre::task<> { (void)co_await subscription.receive(); };
    auto first = gyre::spawn(take());
    auto second = gyre::spawn(take());
    co_await gyre::sleep(1ms);
    broadcast.send(7);
    co_await first.wait();
    co_await gyre::sleep(1ms);
    EXPECT_FALSE(second.done());
    EXPECT_TRUE(co_await cancel_and_wait(second));
  });
}

TEST(watch, tasks_that_share_a_watcher_all_hear_of_a_change) {
  run_virtual([]() -> gyre::task<> {
    gyre::watch<int> watch(1);
    auto watcher = watch.subscribe();
    int heard = 0;
    auto see = [&]() -> gyre::task<> {
      if (!co_await watcher.changed()) co_return;
      EXPECT_EQ(watcher.value(), 2);
      ++heard;
    };
    auto change = [&]() -> gyre::task<> {
      co_await gyre::yield();
      watch.set(2);
    };
    auto all = gyre::gather(see(), see(), change());
    co_await std::move(all);
    EXPECT_EQ(heard, 2);
  });
}

TEST(watch, reports_its_end_to_all_waiters) {
  run_virtual([]() -> gyre::task<> {
    gyre::watch<int> watch(1);
    auto watcher = watch.subscribe();
    auto see = [&]() -> gyre::task<bool> { co_return co_await watcher.changed(); };
    auto close = [&]() -> gyre::task<> {
      co_await gyre::yield();
      watch.close();
    };
    auto all = gyre::gather(see(), see(), close());
    const auto told = co_await std::move(all);
    EXPECT_FALSE(told.get<0>());
    EXPECT_FALSE(told.get<1>());
    EXPECT_FALSE(co_await watcher.changed());
  });
}

TEST(oneshot, a_value_that_was_given_to_a_waiting_receive_cannot_be_taken_by_another) {
  run_virtual([]() -> gyre::task<> {
    gyre::oneshot<int> reply;
    auto waiting = gyre::spawn([&]() -> gyre::task<int> { co_return co_await reply.receiver.receive(); });
    co_await gyre::sleep(1ms);
    EXPECT_TRUE(reply.sender.send(7));
    EXPECT_EQ(reply.receiver.try_receive(), std::nullopt);
    EXPECT_EQ(co_await waiting, 7);
  });
}
