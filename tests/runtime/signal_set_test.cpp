// tests/runtime/signal_set_test.cpp: signals that interrupt the loop's own thread.
// Excluded from the thread sanitizer's tests. That sanitizer runs handlers only in calls that it knows. It loses a
// signal that arrives while its thread goes to sleep in the loop's call, until something else wakes the loop.
#include <gyre/runtime/signal_set.hpp>
#include <gyre/tasks/race.hpp>

#include <gyre/testing/run_test.hpp>

#include <gtest/gtest.h>

#include <signal.h>
#include <unistd.h>

#include <thread>

using gyre::testing::run_test;

TEST(signal_set, a_storm_from_outside_ends_and_the_last_is_told) {
  run_test([]() -> gyre::task<> {
    gyre::signal_set set{SIGUSR1, SIGUSR2};
    std::thread other([] {
      for (int i = 0; i < 5000; ++i) ::kill(::getpid(), SIGUSR1);
      ::kill(::getpid(), SIGUSR2);
    });
    while (co_await set.next() != SIGUSR2) {
    }
    other.join();
    sigset_t pending;
    ::sigpending(&pending);  // signals that are still on their way arrive before this call returns, not after the set
  });
}

TEST(signal_set, a_signal_whose_wait_loses_a_race_is_returned_by_the_next_one) {
  run_test([]() -> gyre::task<> {
    gyre::signal_set set{SIGUSR1, SIGUSR2};
    const auto at_once = []() -> gyre::task<> { co_return; };
    ::raise(SIGUSR2);
    auto race = gyre::race(at_once(), set.next());
    EXPECT_EQ((co_await std::move(race)).index, 0U);
    EXPECT_EQ(co_await set.next(), SIGUSR2);
  });
}
