// tests/tasks/run_coroutine_threadsafe_threads_test.cpp: threads without a loop that call coroutines.
#include <gyre/tasks/run_coroutine_threadsafe.hpp>

#include "tests/support/loop_thread.hpp"
#include "tests/tasks/remote_coroutines.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <semaphore>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using gyre_test::loop_thread;
using gyre_test::sleep_long;
using gyre_test::word;
using namespace std::chrono_literals;

namespace {

gyre::task<> fail() {
  co_await gyre::yield();
  throw std::runtime_error("failed there");
}

}  // namespace

TEST(run_coroutine_threadsafe_threads, gives_a_thread_the_value_of_a_coroutine) {
  const loop_thread there;
  auto answer = gyre::run_coroutine_threadsafe(there.loop(), word(7));
  EXPECT_EQ(answer.get(), "word 7");
  EXPECT_EQ(gyre::blocking_run(there.loop(), word(8)), "word 8");
}

TEST(run_coroutine_threadsafe_threads, runs_the_coroutine_on_the_thread_of_the_loop) {
  const loop_thread there;
  const auto id = gyre::blocking_run(there.loop(), []() -> gyre::task<std::thread::id> {
    co_await gyre::yield();
    co_return std::this_thread::get_id();
  });
  EXPECT_EQ(id, there.id());
}

TEST(run_coroutine_threadsafe_threads, throws_what_the_coroutine_throws) {
  const loop_thread there;
  EXPECT_THROW(gyre::blocking_run(there.loop(), fail()), std::runtime_error);
}

TEST(run_coroutine_threadsafe_threads, waits_for_a_task_that_gives_nothing) {
  const loop_thread there;
  std::atomic<bool> ran = false;
  gyre::blocking_run(there.loop(), [&]() -> gyre::task<> {
    ran = true;
    co_return;
  });
  EXPECT_TRUE(ran);
}

TEST(run_coroutine_threadsafe_threads, moves_a_value_that_cannot_be_copied) {
  const loop_thread there;
  auto made = gyre::blocking_run(there.loop(),
                                 []() -> gyre::task<std::unique_ptr<int>> { co_return std::make_unique<int>(5); });
  EXPECT_EQ(*made, 5);
}

TEST(run_coroutine_threadsafe_threads, lets_the_task_go_on_when_a_wait_with_a_limit_ends) {
  const loop_thread there;
  auto sleeping = gyre::run_coroutine_threadsafe(there.loop(), sleep_long());
  EXPECT_FALSE(sleeping.wait_for(1ms));
  EXPECT_FALSE(sleeping.done());
  sleeping.cancel();
  EXPECT_THROW(sleeping.get(), gyre::task_cancelled);
  EXPECT_TRUE(sleeping.done());
  sleeping.cancel();
}

TEST(run_coroutine_threadsafe_threads, is_cancelled_by_the_end_of_the_loop) {
  loop_thread there;
  auto sleeping = gyre::run_coroutine_threadsafe(there.loop(), sleep_long());
  there.stop();
  EXPECT_THROW(sleeping.get(), gyre::task_cancelled);
}

TEST(run_coroutine_threadsafe_threads, lets_the_task_go_on_when_the_handle_is_dropped) {
  const loop_thread there;
  std::binary_semaphore done(0);
  {
    const auto dropped = gyre::run_coroutine_threadsafe(there.loop(), [&]() -> gyre::task<> {
      co_await gyre::yield();
      done.release();
    });
  }
  done.acquire();
}

TEST(run_coroutine_threadsafe_threads, says_on_the_thread_of_the_loop_that_it_would_wait_for_itself) {
  const loop_thread there;
  gyre::blocking_run(there.loop(), []() -> gyre::task<> {
    auto own = gyre::run_coroutine_threadsafe(gyre::event_loop::current(), word(1));
    EXPECT_THROW((void)own.get(), std::logic_error);
    co_return;
  });
}

TEST(run_coroutine_threadsafe_threads, serves_many_threads_that_call_and_cancel_at_once) {
  loop_thread there;
  std::vector<std::thread> threads;
  std::atomic<int> values = 0;
  std::atomic<int> cancels = 0;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 200; ++i) {
        auto value = gyre::run_coroutine_threadsafe(there.loop(), word(i));
        auto sleeping = gyre::run_coroutine_threadsafe(there.loop(), sleep_long());
        sleeping.cancel();
        if (value.get() == "word " + std::to_string(i)) ++values;
        try {
          if ((i + t) % 2 == 0) sleeping.get();
        } catch (const gyre::task_cancelled&) {
          ++cancels;
        }
      }
    });
  for (std::thread& each : threads) each.join();
  EXPECT_EQ(values, 800);
  EXPECT_EQ(cancels, 400);
}

TEST(shared_task_handle, waits_until_the_task_has_ended_with_the_longest_limit_there_is) {
  const loop_thread other;
  std::binary_semaphore asked(0);
  auto release = [&]() -> gyre::task<int> {
    while (!asked.try_acquire()) co_await gyre::yield();
    co_return 5;
  };
  auto handle = gyre::run_coroutine_threadsafe(other.loop(), release);
  EXPECT_FALSE(handle.wait_for(0ns));
  asked.release();
  EXPECT_TRUE(handle.wait_for(std::chrono::nanoseconds::max()));
  EXPECT_TRUE(handle.done());
  EXPECT_EQ(handle.get(), 5);
}

TEST(shared_task_handle, may_be_cancelled_again_and_again) {
  const loop_thread other;
  auto handle = gyre::run_coroutine_threadsafe(other.loop(), sleep_long());
  for (int i = 0; i < 10; ++i) handle.cancel();
  EXPECT_THROW(handle.get(), gyre::task_cancelled);
}

TEST(run_coroutine_threadsafe_threads, shows_the_task_the_task_local_values_of_its_caller_as_long_as_it_lives) {
  static const gyre::task_local<std::string> request_id;
  loop_thread there;
  std::vector<gyre::shared_task_handle<std::string>> asked;
  auto caller = [&]() -> gyre::task<> {
    for (int i = 0; i < 100; ++i) {
      const auto bound = request_id.bind(std::to_string(i));
      asked.push_back(gyre::run_coroutine_threadsafe(there.loop(), []() -> gyre::task<std::string> {
        co_await gyre::sleep(1ms);
        co_return *request_id.get();
      }));
      co_await gyre::yield();
    }
  };
  gyre::run(caller());
  for (std::size_t i = 0; i < asked.size(); ++i) EXPECT_EQ(asked[i].get(), std::to_string(i));
}

// The caller has its own handle.
TEST(run_coroutine_threadsafe_threads, leaves_no_handle_of_a_running_task_behind) {
  testing::internal::CaptureStderr();
  {
    const loop_thread other;
    auto handle = gyre::run_coroutine_threadsafe(other.loop(), []() -> gyre::task<> { co_await gyre::yield(); });
    handle.get();
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(run_coroutine_threadsafe_threads, reports_a_failure_that_nobody_asks_for) {
  testing::internal::CaptureStderr();
  {
    const loop_thread other;
    (void)gyre::run_coroutine_threadsafe(other.loop(), fail);  // dropped while it runs
    const auto handle = gyre::run_coroutine_threadsafe(other.loop(), fail);
    while (!handle.done()) std::this_thread::yield();  // dropped afterwards
    auto asked = gyre::run_coroutine_threadsafe(other.loop(), fail);
    EXPECT_THROW(asked.get(), std::runtime_error);
    auto cancelled = gyre::run_coroutine_threadsafe(other.loop(), sleep_long());
    cancelled.cancel();
  }
  const std::string said = testing::internal::GetCapturedStderr();
  std::size_t reports = 0;
  for (std::size_t at = 0; (at = said.find("failed: failed there", at)) != std::string::npos; ++at) ++reports;
  EXPECT_EQ(reports, 2U) << said;
}
