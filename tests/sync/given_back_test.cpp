// tests/sync/given_back_test.cpp: a grant to an operand of a combination is given back when the combination drops the
// operand.
#include <gyre/sync.hpp>

#include "tests/support/virtual_run.hpp"

#include <stdexcept>
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

}  // namespace

TEST(chain_given_back, a_cancel_after_the_lock_was_granted_gives_the_lock_back) {
  run_virtual([]() -> gyre::task<> {
    gyre::mutex mutex;
    gyre::event never;
    auto waiting = gyre::spawn([&]() -> gyre::task<> { co_await (mutex.lock() && never.wait()); });
    co_await gyre::sleep(1ms);
    EXPECT_TRUE(mutex.is_locked());
    waiting.cancel();
    co_await waiting.wait();
    EXPECT_TRUE(waiting.state().was_cancelled());
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
    gyre::event over;
    auto sender = gyre::spawn([&]() -> gyre::task<> { co_await channel.send(1); });
    co_await shared.send(2);
    over.set();
    co_await gyre::sleep(1ms);
    auto race = gyre::race(over.wait(), channel.receive(), shared.receive());
    EXPECT_EQ((co_await std::move(race)).index, 0U);
    EXPECT_EQ(co_await channel.receive(), 1);
    EXPECT_EQ(co_await shared.receive(), 2);
    co_await sender;
  });
}

TEST(race_given_back, a_lock_and_a_permit_of_the_losers_are_free_again) {
  run_virtual([]() -> gyre::task<> {
    gyre::mutex mutex;
    gyre::counting_semaphore slots(1);
    gyre::event over;
    over.set();
    auto race = gyre::race(over.wait(), mutex.lock(), slots.acquire());
    EXPECT_EQ((co_await std::move(race)).index, 0U);
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
