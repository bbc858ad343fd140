// tests/tasks/on_cancel_threads_test.cpp: calls to other loops, cancelled at every step of the caller.
#include <gyre/tasks/on.hpp>

#include <gyre/gyre.hpp>
#include <gyre/testing/cancel_at_every_await.hpp>

#include <gtest/gtest.h>

#include "tests/support/error_of.hpp"
#include "tests/support/sanitized.hpp"

#include <pthread.h>
#include <signal.h>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <thread>

namespace {

/// Counts the parts of a call that exist, on all threads.
struct live_counts {
  std::atomic<int> running = 0;  // tasks on other loops
  std::atomic<int> values = 0;   // captures, arguments and results
  std::atomic<int> outlived = 0;
};

struct counted {
  explicit counted(std::atomic<int>& in) noexcept : count(&in) { ++*count; }
  counted(const counted& other) noexcept : counted(*other.count) {}
  counted& operator=(const counted&) = default;
  ~counted() { --*count; }
  std::atomic<int>* count;
};

gyre::task<counted> work(live_counts& book, counted argument) {
  const counted running(book.running);
  for (int i = 0; i < 3; ++i) co_await gyre::yield();
  co_await gyre::sleep(std::chrono::microseconds(10));
  co_return argument;
}

/// Records a task that still runs when the await of its call ends.
struct end_of_call {
  explicit end_of_call(live_counts& in) noexcept : book(in) {}
  end_of_call& operator=(end_of_call&&) = delete;
  ~end_of_call() { book.outlived += book.running; }
  live_counts& book;
};

gyre::task<> call_tasks(live_counts& book, gyre::event_loop& first, gyre::event_loop& second) {
  const counted captured(book.values);
  auto plain = [captured] { return captured; };
  auto there = [&book, captured]() -> gyre::task<counted> { co_return co_await work(book, captured); };
  auto further = [&second, there]() -> gyre::task<counted> { co_return co_await gyre::on(second, there); };
  auto failing = [&book, captured]() -> gyre::task<> {
    (void)co_await work(book, captured);
    throw std::runtime_error("failed there");
  };
  {
    const end_of_call end(book);
    (void)co_await gyre::on(first, plain);
    (void)co_await gyre::on(first, there);
  }
  {
    const end_of_call end(book);
    (void)co_await gyre::on(first, further);
  }
  const end_of_call end(book);
  EXPECT_TRUE(co_await gyre_test::throws<std::runtime_error>(gyre::on(second, failing)));
}

gyre::task<> start_tasks(live_counts& book, gyre::event_loop& first, gyre::event_loop& second) {
  const counted captured(book.values);
  auto there = [&book, captured]() -> gyre::task<counted> { co_return co_await work(book, captured); };
  {
    const end_of_call end(book);
    auto started = gyre::spawn_on(first, there);
    (void)co_await gyre::join_or_cancel(started);
  }
  const end_of_call end(book);
  auto started = gyre::spawn_on(second, there);
  started.cancel();
  EXPECT_TRUE(co_await gyre_test::throws<gyre::task_cancelled>(gyre::join_or_cancel(started)));
}

using scenario = gyre::task<> (*)(live_counts& book, gyre::event_loop& first, gyre::event_loop& second);

void cancel_at_every_step(scenario body) {
  const gyre::runtime others({.threads = 2});
  live_counts book;
  const auto make = [&]() -> gyre::task<> { co_await body(book, others.loop(0), others.loop(1)); };
  const auto check = [&](bool) {
    EXPECT_EQ(book.running, 0);
    EXPECT_EQ(book.values, 0);
    EXPECT_EQ(book.outlived, 0);
  };
  gyre::testing::cancel_report report;
  EXPECT_NO_THROW(report = gyre::testing::cancel_at_every_await(make, check));
  EXPECT_GE(report.cancelled, 3U);
  EXPECT_GE(report.completed, 1U);
}

}  // namespace

TEST(on_cancel_threads, a_call_that_is_cancelled_at_any_step_leaves_no_task_and_no_value) {
  cancel_at_every_step(&call_tasks);
}

TEST(on_cancel_threads, a_started_call_that_is_cancelled_at_any_step_leaves_no_task_and_no_value) {
  cancel_at_every_step(&start_tasks);
}

// The thread that cancels is held up by a signal handler that sleeps, perhaps between the mark and the message of a
// cancel, while the other runtime stops.
TEST(on_cancel_threads, cancels_that_meet_the_end_of_another_runtime_reach_its_loop_before_that_is_destroyed) {
  constexpr int calls = 2000;
  constexpr int rounds = gyre_test::has_address_sanitizer ? 10 : 30;
  struct sigaction napping{};
  struct sigaction before{};
  napping.sa_handler = [](int) {
    const timespec nap{.tv_sec = 0, .tv_nsec = 10'000'000};
    ::nanosleep(&nap, nullptr);
  };
  ASSERT_EQ(::sigaction(SIGUSR2, &napping, &before), 0);
  for (int round = 0; round < rounds; ++round) {
    auto other = std::make_unique<gyre::runtime>();
    std::atomic<bool> cancels = false;
    std::atomic<int> ended = 0;
    std::thread caller([&] {
      gyre::run([&]() -> gyre::task<> {
        auto waits_there = [&]() -> gyre::task<> {
          const gyre::scope_exit end([&] { ++ended; });
          auto waits = []() -> gyre::task<> { co_await gyre::sleep(std::chrono::hours(1)); };
          try {
            co_await gyre::on(other->loop(0), waits);
          } catch (const gyre::task_cancelled&) {  // the other runtime was quicker
          }
        };
        auto calls_it = [&](gyre::task_group& group) -> gyre::task<> {
          for (int i = 0; i < calls; ++i) group.spawn(waits_there);
          co_await gyre::sleep(std::chrono::milliseconds(5));
          cancels = true;
          group.cancel();
        };
        auto scope = gyre::spawn([&]() -> gyre::task<> { co_await gyre::task_group::scope(calls_it); });
        co_await scope.wait();
      });
    });
    while (!cancels) {
    }
    for (std::atomic<int> pause = 0; pause < round * 3701 % 100'000; ++pause) {
    }
    ::pthread_kill(caller.native_handle(), SIGUSR2);
    other.reset();
    caller.join();
    EXPECT_EQ(ended, calls);
  }
  ::sigaction(SIGUSR2, &before, nullptr);
}
