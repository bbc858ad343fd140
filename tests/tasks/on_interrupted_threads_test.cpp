// tests/tasks/on_interrupted_threads_test.cpp: calls to another loop that are cancelled, time out or meet its end.
#include <gyre/tasks/on.hpp>

#include <gyre/gyre.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <semaphore>
#include <string>

#include "tests/support/co_assert.hpp"
#include "tests/tasks/other_loop.hpp"
#include "tests/tasks/remote_coroutines.hpp"

using namespace gyre_test;
using namespace std::chrono_literals;

TEST(on_threads, a_cancel_reaches_the_task_and_waits_for_its_end) {
  run_two_loops([]() -> gyre::task<> {
    bool cleaned_up = false;
    gyre::event running;
    gyre::event_loop& home = gyre::event_loop::current();
    auto sleep_and_clean = [&]() -> gyre::task<> {
      const gyre::scope_exit end([&] { cleaned_up = true; });
      home.post([&] { running.set(); });
      co_await gyre::sleep(1h);
    };
    auto caller = gyre::spawn([&]() -> gyre::task<> { co_await gyre::on(other(), sleep_and_clean); });
    co_await running.wait();
    caller.cancel();
    EXPECT_THROW(co_await caller, gyre::task_cancelled);
    EXPECT_TRUE(cleaned_up);
  });
}

TEST(on_threads, a_value_that_comes_despite_the_cancel_wins) {
  run_two_loops([]() -> gyre::task<> {
    gyre::event running;
    gyre::event_loop& home = gyre::event_loop::current();
    auto stubborn = [&]() -> gyre::task<int> {
      home.post([&] { running.set(); });
      try {
        co_await gyre::sleep(1h);
      } catch (const gyre::cancelled&) {  // the test is about a task that ignores it
      }
      co_return 4;
    };
    int value = 0;
    auto caller = gyre::spawn([&]() -> gyre::task<> { value = co_await gyre::on(other(), stubborn); });
    co_await running.wait();
    caller.cancel();
    co_await caller;
    EXPECT_EQ(value, 4);
  });
}

TEST(on_threads, a_call_that_is_cancelled_before_it_arrives_never_runs) {
  run_two_loops([]() -> gyre::task<> {
    bool ran = false;
    gyre::event_loop& there = other();
    std::binary_semaphore blocked{0};
    there.post([&] { blocked.acquire(); });  // the other loop handles nothing meanwhile
    auto caller = gyre::spawn([&]() -> gyre::task<> { co_await gyre::on(there, [&] { ran = true; }); });
    co_await gyre::yield();
    caller.cancel();
    co_await gyre::yield();
    blocked.release();
    EXPECT_THROW(co_await caller, gyre::task_cancelled);
    EXPECT_FALSE(ran);
  });
}

TEST(on_threads, a_time_limit_around_it_ends_the_task) {
  run_two_loops([]() -> gyre::task<> {
    EXPECT_THROW(co_await gyre::timeout(5ms, []() -> gyre::task<> { co_await gyre::on(other(), sleep_long); }),
                 gyre::timed_out);
  });
}

TEST(on_threads, the_faster_of_two_loops_wins_a_race_and_the_slower_one_is_cancelled) {
  run_two_loops([]() -> gyre::task<> {
    const auto first = co_await gyre::race(gyre::on(other(), sleep_long), gyre::on(gyre::event_loop::current(), seven));
    EXPECT_EQ(first.index, 1U);
  });
}

TEST(on_threads, a_task_that_runs_when_its_loop_is_shut_down_counts_as_cancelled) {
  gyre::runtime there({.threads = 1});
  gyre::run([&]() -> gyre::task<> {
    gyre::event running;
    gyre::event_loop& home = gyre::event_loop::current();
    auto sleep_there = [&]() -> gyre::task<> {
      home.post([&] { running.set(); });
      co_await gyre::sleep(1h);
    };
    auto call = gyre::spawn_on(there.loop(0), sleep_there);
    co_await running.wait();
    there.stop();
    EXPECT_THROW(co_await call, gyre::task_cancelled);
  });
}

TEST(on_threads, a_started_task_can_be_cancelled_from_the_calling_loop) {
  run_two_loops([]() -> gyre::task<> {
    auto made = gyre::spawn_on(other(), sleep_long);
    co_await gyre::yield();
    made.cancel();
    EXPECT_THROW(co_await made, gyre::task_cancelled);
  });
}

TEST(on_threads, the_end_of_the_main_task_cancels_tasks_that_still_run_on_other_loops) {
  std::atomic<bool> begun = false;
  std::atomic<bool> cleaned_up = false;
  run_two_loops([&]() -> gyre::task<> {
    auto sleep_there = [&]() -> gyre::task<> {
      const gyre::scope_exit end([&] { cleaned_up = true; });
      begun = true;
      co_await gyre::sleep(1h);
    };
    gyre::spawn_on(other(), sleep_there).detach();
    while (!begun) co_await gyre::yield();
  });
  EXPECT_TRUE(cleaned_up);
}
