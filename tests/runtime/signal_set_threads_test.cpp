// tests/runtime/signal_set_threads_test.cpp: awaited signals, whatever thread they arrive on.
#include <gyre/runtime/signal_set.hpp>

#include <gyre/loop/sleep.hpp>
#include <gyre/loop/timeout_op.hpp>
#include <gyre/loop/yield.hpp>
#include <gyre/runtime/run.hpp>
#include <gyre/tasks/as_result.hpp>
#include <gyre/tasks/gather.hpp>
#include <gyre/tasks/timeout.hpp>
#include <gyre/testing/cancel_at_every_await.hpp>
#include <gyre/testing/run_test.hpp>

#include <gtest/gtest.h>

#include <signal.h>
#include <unistd.h>

#include <csignal>
#include <system_error>
#include <thread>

using gyre::testing::run_test;
using namespace std::chrono_literals;

namespace {

volatile std::sig_atomic_t handled = 0;

std::errc error_of_set(std::initializer_list<int> numbers) {
  try {
    const gyre::signal_set set(numbers);
    return {};
  } catch (const std::system_error& error) {
    return static_cast<std::errc>(error.code().value());
  }
}

}  // namespace

TEST(signal_set_threads, a_signal_that_comes_is_told) {
  run_test([]() -> gyre::task<> {
    gyre::signal_set set{SIGUSR1, SIGUSR2};
    auto waiting = gyre::spawn([&]() -> gyre::task<int> { co_return co_await set.next(); });
    co_await gyre::sleep(1ms);
    EXPECT_FALSE(waiting.done());
    ::kill(::getpid(), SIGUSR2);
    const int number = co_await waiting;
    EXPECT_EQ(number, SIGUSR2);
  });
}

TEST(signal_set_threads, signals_that_came_before_are_told_in_the_order_of_their_numbers_and_once) {
  run_test([]() -> gyre::task<> {
    gyre::signal_set set{SIGUSR1, SIGUSR2, SIGHUP};
    for (const int each : {SIGUSR2, SIGHUP, SIGUSR2}) ::raise(each);
    const int first = co_await set.next();
    const int second = co_await set.next();
    EXPECT_EQ(first, SIGHUP);
    EXPECT_EQ(second, SIGUSR2);
    const auto third =
        co_await gyre::as_result(gyre::timeout(1ms, [&]() -> gyre::task<int> { co_return co_await set.next(); }));
    EXPECT_FALSE(third.has_value());
  });
}

TEST(signal_set_threads, signals_to_other_threads_arrive) {
  run_test([]() -> gyre::task<> {
    gyre::signal_set set{SIGUSR1};
    for (int i = 0; i < 100; ++i) {
      std::thread other([] { ::raise(SIGUSR1); });
      const int number = co_await set.next();
      EXPECT_EQ(number, SIGUSR1);
      other.join();
    }
  });
}

TEST(signal_set_threads, a_storm_on_another_thread_ends_and_the_last_is_told) {
  run_test([]() -> gyre::task<> {
    gyre::signal_set set{SIGUSR1, SIGUSR2};
    std::thread other([] {
      for (int i = 0; i < 5000; ++i) ::raise(SIGUSR1);
      ::raise(SIGUSR2);
    });
    while (co_await set.next() != SIGUSR2) {
    }
    other.join();
  });
}

TEST(signal_set_threads, at_its_end_the_signals_do_what_they_did_before) {
  handled = 0;
  const auto before = std::signal(SIGUSR1, [](int) { handled = handled + 1; });
  run_test([]() -> gyre::task<> {
    const gyre::signal_set set{SIGUSR1};
    ::raise(SIGUSR1);
    co_return;
  });
  EXPECT_EQ(handled, 0);
  ::raise(SIGUSR1);
  EXPECT_EQ(handled, 1);
  std::signal(SIGUSR1, before);
}

TEST(signal_set_threads, refuses_a_number_that_is_no_signal_cannot_be_caught_or_is_taken) {
  run_test([]() -> gyre::task<> {
    EXPECT_EQ(error_of_set({0}), std::errc::invalid_argument);
    EXPECT_EQ(error_of_set({1000}), std::errc::invalid_argument);
    EXPECT_EQ(error_of_set({SIGUSR1, SIGKILL}), std::errc::invalid_argument);
    const gyre::signal_set set{SIGUSR1};
    EXPECT_EQ(error_of_set({SIGUSR2, SIGUSR1}), std::errc::device_or_resource_busy);
    EXPECT_EQ(error_of_set({SIGUSR2}), std::errc{}) << "a set that was refused has kept a signal";
    co_return;
  });
}

TEST(signal_set_threads, it_takes_sigterm_from_run_main_and_gives_it_back) {
  const int code = gyre::run_main([]() -> gyre::task<int> {
    {
      gyre::signal_set set{SIGTERM};
      ::raise(SIGTERM);
      const int number = co_await set.next();
      EXPECT_EQ(number, SIGTERM);
    }
    ::raise(SIGTERM);
    co_await gyre::sleep(10s);
    co_return 0;
  }());
  EXPECT_EQ(code, 128 + SIGTERM);
}

TEST(signal_set_threads, a_cancel_anywhere_loses_no_signal) {
  const auto before = std::signal(SIGUSR1, SIG_IGN);  // for a signal that arrives after the end of a run
  const auto report = gyre::testing::cancel_at_every_await(
      []() -> gyre::task<> {
        gyre::signal_set set{SIGUSR1};
        const auto raise_later = []() -> gyre::task<> {
          co_await gyre::yield();
          ::raise(SIGUSR1);
        };
        const auto next_is_it = [&]() -> gyre::task<> {
          const int number = co_await set.next();
          EXPECT_EQ(number, SIGUSR1);
        };
        for (int i = 0; i < 3; ++i) co_await gyre::gather(raise_later(), next_is_it());
      },
      [](bool) {});
  std::signal(SIGUSR1, before);
  EXPECT_GT(report.cancelled, 0U);
  EXPECT_GT(report.completed, 0U);
}
