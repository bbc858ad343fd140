// tests/runtime/runtime_clean_up_threads_test.cpp: the end of several loops: cancels, clean-up, messages on their way.
#include <gyre/runtime/runtime.hpp>

#include <gyre/gyre.hpp>

#include <gtest/gtest.h>

#include <malloc.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <stdexcept>

#include "tests/runtime/index_here.hpp"
#include "tests/support/body_ref.hpp"
#include "tests/support/co_assert.hpp"
#include "tests/support/sanitized.hpp"

using gyre_test::index_here;
using namespace std::chrono_literals;

namespace {

/// Sleeps until it is cancelled, and counts its end.
gyre::task<> sleep_and_count_the_end(std::atomic<int>& ended) {
  const gyre::scope_exit end([&] { ++ended; });
  co_await gyre::sleep(1h);
}

/// Awaits `clean_up()` in a task that the end of the main task, on the first of two loops, has cancelled.
void clean_up_after_the_main_task(gyre_test::body_ref<> clean_up) {
  auto work = [&]() -> gyre::task<> {
    bool ends = false;
    try {
      co_await gyre::sleep(1h);
    } catch (const gyre::cancelled&) {  // the clean-up follows, outside of the handler
      ends = true;
    }
    if (ends) co_await gyre::shield(clean_up());
  };
  gyre::run(
      [&]() -> gyre::task<> {
        gyre::spawn(work).detach();
        co_await gyre::yield();
      },
      {.threads = 2});
}

}  // namespace

TEST(runtime_threads, stop_cancels_the_tasks_of_all_loops_and_waits_for_their_clean_up) {
  gyre::runtime cores({.threads = 3});
  std::atomic<int> began = 0;
  std::atomic<int> ended = 0;
  auto work = [&]() -> gyre::task<> {
    ++began;
    co_await sleep_and_count_the_end(ended);
  };
  for (std::size_t i = 0; i < 3; ++i) {
    (void)gyre::run_coroutine_threadsafe(cores.loop(i), work);
    (void)gyre::blocking_run(cores.loop(i), index_here());
  }
  EXPECT_EQ(began, 3);
  cores.stop();
  EXPECT_EQ(ended, 3);
  cores.stop();
}

TEST(runtime_threads, a_task_that_cleans_up_can_use_a_loop_whose_tasks_have_ended) {
  int asked = 0;
  clean_up_after_the_main_task([&]() -> gyre::task<> {
    gyre::event_loop& there = (*gyre::event_loop::current().group())[1];
    for (int i = 0; i < 100; ++i) asked += co_await gyre::on(there, [] { return 1; });
  });
  EXPECT_EQ(asked, 100);
}

TEST(runtime_threads, a_task_that_cleans_up_can_run_tasks_on_every_loop) {
  std::vector<std::size_t> seen;
  clean_up_after_the_main_task([&]() -> gyre::task<> {
    for (std::size_t i = 0; i < 2; ++i)
      seen.push_back(co_await gyre::on((*gyre::event_loop::current().group())[i], index_here));
  });
  EXPECT_EQ(seen, (std::vector<std::size_t>{0, 1}));
}

TEST(runtime_threads, a_shielded_call_to_another_loop_outlives_the_main_task) {
  bool returned = false;
  gyre::run(
      [&]() -> gyre::task<> {
        gyre::event_loop& home = gyre::event_loop::current();
        gyre::event_loop& there = (*home.group())[1];
        gyre::event running;
        auto flush = [&]() -> gyre::task<> {
          home.post([&] { running.set(); });
          for (int i = 0; i < 100; ++i) co_await gyre::yield();
          co_await gyre::sleep(1ms);
        };
        auto shielded = [&returned, &there, flush]() -> gyre::task<> {
          co_await gyre::shield(gyre::on(there, flush));
          returned = true;
        };
        gyre::spawn(shielded).detach();
        co_await running.wait();
      },
      {.threads = 2});
  EXPECT_TRUE(returned);
}

TEST(runtime_threads, the_end_of_the_main_task_makes_no_call_to_another_loop_fail) {
  static std::atomic<int> failures;
  failures = 0;
  for (int round = 0; round < 20; ++round) {
    gyre::run(
        []() -> gyre::task<> {
          auto call_for_ever = []() -> gyre::task<> {
            auto sleep_there = []() -> gyre::task<> { co_await gyre::sleep(1h); };
            const std::size_t next = gyre::event_loop::current().index() + 1;
            co_await gyre::on((*gyre::event_loop::current().group())[next % 3], sleep_there);
          };
          auto begin = [&] {
            gyre::event_loop::current().set_exception_handler(
                [](const gyre::background_failure&, void*) noexcept { ++failures; }, nullptr);
            for (int i = 0; i < 10; ++i) gyre::spawn(call_for_ever).detach();
          };
          co_await gyre::for_each_loop(begin);
          co_await gyre::for_each_loop(index_here);
        },
        {.threads = 3});
  }
  EXPECT_EQ(failures, 0);
}

TEST(runtime_threads, messages_that_are_on_their_way_at_the_end_arrive) {
  std::atomic<int> arrived = 0;
  gyre::run(
      [&]() -> gyre::task<> {
        gyre::event_loop& first = gyre::event_loop::current();
        gyre::event_loop& second = (*first.group())[1];
        // Each message sends another one, back and forth.
        struct ball {
          gyre::event_loop& here;
          gyre::event_loop& there;
          std::atomic<int>& arrived;
          int left;
          void operator()() const {
            ++arrived;
            if (left > 0) there.post(ball{there, here, arrived, left - 1});
          }
        };
        second.post(ball{second, first, arrived, 499});
        co_return;
      },
      {.threads = 2});
  EXPECT_EQ(arrived, 500);
}

TEST(runtime_threads, the_exception_of_the_main_task_ends_all_loops) {
  std::atomic<bool> begun = false;
  std::atomic<int> ended = 0;
  auto main_task = [&]() -> gyre::task<> {
    gyre::event_loop& there = (*gyre::event_loop::current().group())[1];
    auto work = [&]() -> gyre::task<> {
      begun = true;
      co_await sleep_and_count_the_end(ended);
    };
    gyre::spawn_on(there, work).detach();
    while (!begun) co_await gyre::yield();
    throw std::runtime_error("main failed");
  };
  EXPECT_THROW(gyre::run(main_task, {.threads = 2}), std::runtime_error);
  EXPECT_EQ(ended, 1);
}

TEST(runtime_threads, the_second_stop_signal_ends_tasks_on_every_loop) {
  std::atomic<int> ended = 0;
  gyre::run_main(
      [&]() -> gyre::task<> {
        auto begin = [&] {
          gyre::spawn(sleep_and_count_the_end(ended)).detach();
        };  // only a cancel of its loop ends it
        co_await gyre::for_each_loop(begin);
        co_await gyre::for_each_loop(index_here);
        auto signal = [] { ::kill(::getpid(), SIGTERM); };
        gyre::spawn([&]() -> gyre::task<> {
          co_await gyre::stop_requested();
          signal();
        }).detach();
        signal();
        while (ended < 2) co_await gyre::shield(gyre::yield());
      },
      {.threads = 2});
  EXPECT_EQ(ended, 2);
}
