// tests/sync/event_latch_barrier_test.cpp: waiting for events, and for other tasks.
#include <gyre/sync/barrier.hpp>
#include <gyre/sync/event.hpp>
#include <gyre/sync/latch.hpp>

#include "tests/support/virtual_run.hpp"

#include <vector>

using namespace gyre_test;

TEST(event, lets_all_waiters_go_on_when_it_is_set) {
  run_virtual([]() -> gyre::task<> {
    gyre::event event;
    int through = 0;
    auto wait = [&]() -> gyre::task<> {
      co_await event.wait();
      ++through;
    };
    auto both = gyre::spawn([&]() -> gyre::task<> {
      auto all = gyre::gather(wait(), wait());
      co_await std::move(all);
    });
    co_await gyre::sleep(1ms);
    EXPECT_EQ(through, 0);
    event.set();
    event.clear();  // the waiters have been resumed already
    co_await both;
    EXPECT_EQ(through, 2);
    EXPECT_FALSE(event.is_set());
  });
}

TEST(event, that_is_set_makes_nobody_wait_until_it_is_cleared) {
  run_virtual([]() -> gyre::task<> {
    gyre::event event;
    event.set();
    co_await event.wait();
    event.clear();
    const auto outcome = co_await gyre::as_expected(gyre::timeout(1ms, event.wait()));
    EXPECT_EQ(outcome.error(), std::errc::timed_out);
  });
}

TEST(latch, lets_go_when_it_has_been_counted_down) {
  run_virtual([]() -> gyre::task<> {
    gyre::latch latch(3);
    auto worker = gyre::spawn([&]() -> gyre::task<> { co_await latch.arrive_and_wait(); });
    co_await gyre::yield();
    EXPECT_EQ(latch.count(), 2U);
    latch.count_down();
    EXPECT_FALSE(latch.try_wait());
    latch.count_down();
    co_await latch.wait();
    co_await worker;
    EXPECT_TRUE(latch.try_wait());
  });
}

TEST(barrier, lets_go_when_all_parties_have_arrived_and_starts_anew) {
  run_virtual([]() -> gyre::task<> {
    gyre::barrier barrier(3);
    std::vector<int> rounds(3, 0);
    std::size_t sum = 0;
    auto party = [&](int number) -> gyre::task<> {
      for (int round = 0; round < 4; ++round) {
        co_await gyre::sleep(std::chrono::milliseconds(number));
        sum += co_await barrier.wait();
        ++rounds[static_cast<std::size_t>(number)];
        for (const int other : rounds) EXPECT_GE(other, round);
      }
    };
    auto all = gyre::gather(party(0), party(1), party(2));
    co_await std::move(all);
    EXPECT_EQ(rounds, (std::vector{4, 4, 4}));
    EXPECT_EQ(sum, 4U * (0 + 1 + 2)) << "each party of a round gets another number";
    EXPECT_EQ(barrier.waiting(), 0U);
  });
}

TEST(barrier, does_not_count_a_party_that_is_cancelled) {
  run_virtual([]() -> gyre::task<> {
    gyre::barrier barrier(2);
    auto wait = [&]() -> gyre::task<std::size_t> { co_return co_await barrier.wait(); };
    auto leaver = gyre::spawn(wait);
    co_await gyre::yield();
    leaver.cancel();
    co_await leaver.wait();
    EXPECT_EQ(barrier.waiting(), 0U);
    auto both = gyre::gather(wait(), wait());
    co_await std::move(both);
    EXPECT_FALSE(barrier.broken());
  });
}

TEST(barrier, that_is_aborted_fails_for_all_until_it_is_reset) {
  run_virtual([]() -> gyre::task<> {
    gyre::barrier barrier(2);
    auto wait = [&]() -> gyre::task<std::size_t> { co_return co_await barrier.wait(); };
    auto waiting = gyre::spawn(wait);
    co_await gyre::yield();
    barrier.abort();
    EXPECT_THROW(co_await waiting, gyre::broken_barrier);
    EXPECT_THROW(co_await barrier.wait(), gyre::broken_barrier);
    const auto outcome = co_await gyre::as_expected(barrier.wait());
    EXPECT_EQ(outcome.error(), gyre::sync_errc::broken);
    EXPECT_TRUE(barrier.broken());
    barrier.reset();
    auto both = gyre::gather(wait(), wait());
    co_await std::move(both);
  });
}

TEST(barrier, that_is_reset_fails_only_for_those_that_wait) {
  run_virtual([]() -> gyre::task<> {
    gyre::barrier barrier(2);
    auto wait = [&]() -> gyre::task<std::size_t> { co_return co_await barrier.wait(); };
    auto waiting = gyre::spawn(wait);
    co_await gyre::yield();
    barrier.reset();
    EXPECT_THROW(co_await waiting, gyre::broken_barrier);
    EXPECT_FALSE(barrier.broken());
  });
}
