// tests/sync/given_back_test.cpp: a grant to an operand of a combination is given back when the combination drops the
// operand.
#include <gyre/sync.hpp>

#include "tests/support/virtual_run.hpp"

#include <stdexcept>
#include <string>
#include <vector>

using namespace gyre_test;

static_assert(gyre::chainable_before_another<gyre::mutex_lock_op>);
static_assert(!gyre::chainable_before_another<gyre::mutex_guard_op>, "nobody would get the guard");
static_assert(!gyre::chainable_before_another<gyre::channel_receive_op<int>>, "nobody would get the item");

namespace {

gyre::task<> fails_now() {
  co_await gyre::yield();
  throw std::runtime_error("failed");
}

gyre::task<> fails_after(gyre::event& happened) {
  co_await happened.wait();
  throw std::runtime_error("failed");
}

/// An event that has happened races with `others`, and wins.
template <class... Others>
gyre::task<> lose_a_race(Others... others) {
  gyre::event over;
  over.set();
  auto race = gyre::race(over.wait(), std::move(others)...);
  const auto first = co_await std::move(race);  // g++ 12 refuses the await inside the macro here
  EXPECT_EQ(first.index, 0U);
}

}  // namespace

TEST(chain_given_back, a_cancel_after_the_lock_was_granted_gives_the_lock_back) {
  run_virtual([]() -> gyre::task<> {
    gyre::mutex mutex;
    gyre::event never;
    auto waiting = gyre::spawn([&]() -> gyre::task<> { co_await (mutex.lock() && never.wait()); });
    co_await gyre::sleep(1ms);
    EXPECT_TRUE(mutex.is_locked());
    EXPECT_TRUE(co_await cancel_and_wait(waiting));
    EXPECT_FALSE(mutex.is_locked());
  });
}

TEST(chain_given_back, a_cancel_between_the_grant_and_the_next_link_gives_the_permit_back) {
  run_virtual([]() -> gyre::task<> {
    gyre::counting_semaphore slots(0);
    gyre::event never;
    auto waiting = gyre::spawn([&]() -> gyre::task<> { co_await (slots.acquire() && never.wait()); });
    co_await gyre::sleep(1ms);
    slots.release();
    waiting.cancel();
    co_await waiting.wait();
    EXPECT_EQ(slots.available(), 1U);
  });
}

TEST(chain_given_back, a_failure_of_a_later_link_gives_back_what_all_earlier_ones_were_granted) {
  run_virtual([]() -> gyre::task<> {
    gyre::mutex mutex;
    gyre::shared_mutex shared;
    gyre::channel<int> channel(1);
    channel.close();
    EXPECT_THROW(co_await (mutex.lock() && shared.lock_shared() && channel.send(1)), gyre::channel_closed);
    EXPECT_FALSE(mutex.is_locked());
    EXPECT_EQ(shared.readers(), 0U);
    const auto outcome = co_await gyre::as_expected(mutex.lock() && channel.send(1));
    EXPECT_FALSE(outcome.has_value());
    EXPECT_FALSE(mutex.is_locked());
  });
}

// More tasks are ready than one turn runs, so the limit expires between the grant and the turn of the waiting task.
TEST(chain_given_back, a_time_out_after_the_grant_ends_the_chain_and_gives_the_grant_back) {
  auto body = []() -> gyre::task<> {
    gyre::mutex mutex;
    gyre::counting_semaphore slots(0);
    gyre::event never;
    co_await mutex.lock();
    auto lock = gyre::spawn(throws<gyre::timed_out>(gyre::timeout(5ms, mutex.lock() && never.wait())));
    auto acquire = gyre::spawn(throws<gyre::timed_out>(gyre::timeout(5ms, slots.acquire() && never.wait())));
    co_await gyre::sleep(1ms);
    mutex.unlock();
    slots.release();
    gyre::event_loop::current().end_turn();
    const auto granted = gyre::now();
    while (gyre::now() - granted < 10ms) {
    }
    const auto both = [&]() -> gyre::task<> {
      co_await lock.wait();
      co_await acquire.wait();
    };
    co_await gyre::timeout(10s, both);
    EXPECT_TRUE(lock.result());
    EXPECT_TRUE(acquire.result());
    EXPECT_FALSE(mutex.is_locked());
    EXPECT_EQ(slots.available(), 1U);
  };
  EXPECT_NO_THROW(gyre::run(body(), {.loop = {.ready_per_turn = 1}}));
}

TEST(chain_given_back, a_chain_that_succeeds_keeps_the_lock) {
  run_virtual([]() -> gyre::task<> {
    gyre::mutex mutex;
    gyre::channel<int> channel(1);
    co_await (mutex.lock() && channel.send(1));
    EXPECT_TRUE(mutex.is_locked());
    mutex.unlock();
  });
}

TEST(race_given_back, an_item_of_the_loser_is_the_next_of_its_queue_again) {
  run_virtual([]() -> gyre::task<> {
    gyre::queue<int> first(8);
    gyre::queue<int> second(8);
    for (int i = 0; i < 4; ++i) {
      co_await first.put(i);
      co_await second.put(i);
    }
    std::vector<int> from_first;
    std::vector<int> from_second;
    for (int i = 0; i < 8; ++i) {
      auto race = gyre::race(first.get(), second.get());
      const auto got = co_await std::move(race);
      (got.index == 0 ? from_first : from_second).push_back(got.value);
    }
    EXPECT_EQ(from_first, (std::vector{0, 1, 2, 3}));
    EXPECT_EQ(from_second, (std::vector{0, 1, 2, 3}));
  });
}

TEST(race_given_back, items_of_the_losers_go_back_into_a_channel_and_a_shared_channel) {
  run_virtual([]() -> gyre::task<> {
    gyre::channel<int> channel(0);
    gyre::shared_channel<int> shared(1);
    auto sender = gyre::spawn([&]() -> gyre::task<> { co_await channel.send(1); });
    co_await shared.send(2);
    co_await gyre::sleep(1ms);
    co_await lose_a_race(channel.receive(), shared.receive());
    EXPECT_EQ(co_await channel.receive(), 1);
    EXPECT_EQ(co_await shared.receive(), 2);
    co_await sender;
  });
}

TEST(race_given_back, the_value_of_a_oneshot_stays_for_the_next_receive) {
  run_virtual([]() -> gyre::task<> {
    const std::string text = "a text that is too long for the small buffer of a string";
    gyre::oneshot<std::string> once;
    once.sender.send(text);
    co_await lose_a_race(once.receiver.receive());
    EXPECT_EQ(co_await once.receiver.receive(), text);
    gyre::oneshot<int> number;
    number.sender.send(4711);
    auto failing = gyre::gather(fails_now(), number.receiver.receive());
    EXPECT_THROW(co_await std::move(failing), std::runtime_error);
    EXPECT_EQ(number.receiver.try_receive(), 4711);
  });
}

TEST(race_given_back, the_value_of_a_oneshot_that_comes_while_the_race_is_decided_stays) {
  run_virtual([]() -> gyre::task<> {
    gyre::event over;
    gyre::oneshot<int> once;
    auto finish = gyre::spawn([&]() -> gyre::task<> {
      co_await gyre::yield();
      over.set();
      once.sender.send(7);
    });
    auto race = gyre::race(over.wait(), once.receiver.receive());
    EXPECT_EQ((co_await std::move(race)).index, 0U);
    co_await finish;
    EXPECT_EQ(co_await once.receiver.receive(), 7);
  });
}

TEST(race_given_back, an_item_of_a_broadcast_is_the_next_of_its_subscription_again) {
  run_virtual([]() -> gyre::task<> {
    gyre::broadcast<int> news(2);
    auto subscription = news.subscribe();
    for (int i = 0; i < 4; ++i) news.send(i);
    co_await lose_a_race(subscription.receive());
    const auto first = co_await subscription.receive();
    EXPECT_EQ(first.value().value, 2);
    EXPECT_EQ(first.value().missed, 2U);
    EXPECT_EQ((co_await subscription.receive()).value().value, 3);
    EXPECT_FALSE(subscription.try_receive());
    news.close();
    co_await lose_a_race(subscription.receive());
    EXPECT_FALSE(co_await subscription.receive());
  });
}

TEST(race_given_back, an_item_of_a_broadcast_goes_to_a_task_that_waits_with_the_same_subscription) {
  run_virtual([]() -> gyre::task<> {
    gyre::broadcast<int> news(8);
    auto subscription = news.subscribe();
    gyre::event over;
    news.send(1);
    news.send(2);
    auto held = gyre::gather(subscription.receive(), fails_after(over));
    std::vector<int> received;
    auto other = gyre::spawn([&]() -> gyre::task<> {
      co_await gyre::sleep(500us);  // the gather has taken the first item
      for (int i = 0; i < 2; ++i) received.push_back((co_await subscription.receive()).value().value);
    });
    auto end = gyre::spawn([&]() -> gyre::task<> {
      co_await gyre::sleep(1ms);
      EXPECT_EQ(received, std::vector{2}) << "the first item is held";
      over.set();
    });
    EXPECT_THROW(co_await std::move(held), std::runtime_error);
    co_await other;
    co_await end;
    EXPECT_EQ(received, (std::vector{2, 1}));
  });
}

TEST(gather_given_back, an_item_of_a_queue_that_was_shut_down_at_once_meanwhile_is_dropped) {
  run_virtual([]() -> gyre::task<> {
    gyre::queue<int> queue(8);
    co_await queue.put(1);
    gyre::event over;
    auto failing = gyre::gather(queue.get(), fails_after(over));
    auto end = gyre::spawn([&]() -> gyre::task<> {
      co_await gyre::sleep(1ms);
      queue.shut_down(gyre::queue_shutdown_mode::immediate);
      over.set();
    });
    EXPECT_THROW(co_await std::move(failing), std::runtime_error);
    co_await end;
    EXPECT_TRUE(queue.empty());
    EXPECT_THROW(co_await queue.get(), gyre::queue_shut_down);
    co_await gyre::timeout(1s, queue.join());
  });
}

TEST(race_given_back, a_lock_and_a_permit_of_the_losers_are_free_again) {
  run_virtual([]() -> gyre::task<> {
    gyre::mutex mutex;
    gyre::counting_semaphore slots(1);
    co_await lose_a_race(mutex.lock(), slots.acquire());
    EXPECT_FALSE(mutex.is_locked());
    EXPECT_EQ(slots.available(), 1U);
    auto won = gyre::race(mutex.lock(), fails_now());
    EXPECT_EQ((co_await std::move(won)).index, 0U);
    EXPECT_TRUE(mutex.is_locked()) << "the winner keeps what it was granted";
    mutex.unlock();
  });
}

TEST(gather_given_back, a_failure_gives_back_what_the_others_were_granted) {
  run_virtual([]() -> gyre::task<> {
    gyre::mutex mutex;
    gyre::queue<int> queue(8);
    co_await queue.put(1);
    co_await queue.put(2);
    auto failing = gyre::gather(mutex.lock(), queue.get(), fails_now());
    EXPECT_THROW(co_await std::move(failing), std::runtime_error);
    EXPECT_FALSE(mutex.is_locked());
    EXPECT_EQ(queue.size(), 2U);
    auto both = gyre::gather(mutex.lock(), queue.get());
    EXPECT_EQ((co_await std::move(both)).get<1>(), 1);
    EXPECT_TRUE(mutex.is_locked());
    mutex.unlock();
  });
}

TEST(race_given_back, an_item_given_back_goes_to_a_get_that_waits) {
  run_virtual([]() -> gyre::task<> {
    gyre::queue<int> queue(8);
    gyre::event over;
    over.set();
    co_await queue.put(1);
    auto race = gyre::race(over.wait(), queue.get());
    auto getter = gyre::spawn([&]() -> gyre::task<int> {
      co_await gyre::yield();
      co_return co_await queue.get();
    });
    co_await std::move(race);
    EXPECT_EQ(co_await getter, 1);
  });
}
