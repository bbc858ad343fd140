// tests/tasks/threads_and_callbacks_threads_test.cpp: blocking functions on threads; callbacks that come at once, later, from
// another thread, twice or never.
#include <gyre/tasks/from_callback.hpp>
#include <gyre/tasks/to_thread.hpp>
#include <gyre/testing/cancel_at_every_await.hpp>

#include "tests/support/virtual_run.hpp"

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <semaphore>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using namespace gyre_test;

// ---- to_thread

TEST(to_thread_threads, runs_elsewhere_and_brings_the_result_back) {
  gyre::run([]() -> gyre::task<> {
    const auto here = std::this_thread::get_id();
    auto function = [] { return std::this_thread::get_id(); };
    const auto there = co_await gyre::to_thread(function);
    EXPECT_NE(here, there);
    EXPECT_EQ(here, std::this_thread::get_id());
    auto moved = [] { return std::make_unique<int>(7); };
    EXPECT_EQ(*co_await gyre::to_thread(moved), 7);
    auto nothing = [] {};
    co_await gyre::to_thread(nothing);
  });
}

TEST(to_thread_threads, throws_what_the_function_throws) {
  gyre::run([]() -> gyre::task<> {
    auto function = []() -> int { throw std::runtime_error("from a thread"); };
    EXPECT_EQ(co_await error_of(gyre::to_thread(function)), "from a thread");
  });
}

TEST(to_thread_threads, the_loop_goes_on_meanwhile) {
  gyre::run([]() -> gyre::task<> {
    std::binary_semaphore gate(0);
    auto blocked = gyre::spawn([&]() -> gyre::task<> {
      auto function = [&] { gate.acquire(); };
      co_await gyre::to_thread(function);
    });
    for (int i = 0; i < 10; ++i) co_await gyre::yield();
    EXPECT_FALSE(blocked.done());
    gate.release();
    co_await blocked;
  });
}

TEST(to_thread_threads, a_cancel_waits_for_a_function_that_has_begun_and_its_result_wins) {
  gyre::run([]() -> gyre::task<> {
    std::binary_semaphore begun(0);
    std::binary_semaphore gate(0);
    int result = 0;
    auto task = gyre::spawn([&]() -> gyre::task<> {
      auto function = [&] {
        begun.release();
        gate.acquire();
        return 5;
      };
      result = co_await gyre::to_thread(function);
    });
    co_await gyre::yield();
    begun.acquire();
    task.cancel();
    co_await gyre::sleep(1ms);
    EXPECT_FALSE(task.done());
    gate.release();
    co_await task.wait();
    EXPECT_EQ(result, 5);
  });
}

TEST(to_thread_threads, a_cancel_before_it_has_begun_keeps_it_from_running) {
  gyre::run([]() -> gyre::task<> {
    std::counting_semaphore<1000> gate(0);
    std::atomic<int> ran = 0;
    std::vector<gyre::task_handle<void>> tasks;
    for (int i = 0; i < 200; ++i)  // more than there are threads
      tasks.push_back(gyre::spawn([&]() -> gyre::task<> {
        auto function = [&] {
          ++ran;
          gate.acquire();
        };
        co_await gyre::to_thread(function);
      }));
    co_await gyre::sleep(5ms);
    for (auto& each : tasks) each.cancel();
    gate.release(200);
    for (auto& each : tasks) co_await each.wait();
    EXPECT_LT(ran, 200);
    EXPECT_TRUE(tasks.back().state().was_cancelled());
  });
}

TEST(to_thread_threads, many_at_once_all_come_back) {
  gyre::run([]() -> gyre::task<> {
    std::vector<gyre::task<int>> all;
    auto square = [](int i) -> gyre::task<int> {
      auto function = [i] { return i * i; };
      co_return co_await gyre::to_thread(function);
    };
    for (int i = 0; i < 500; ++i) all.push_back(square(i));
    auto gathered = gyre::gather(std::move(all));
    const auto results = co_await std::move(gathered);
    for (int i = 0; i < 500; ++i) EXPECT_EQ(results.at(static_cast<std::size_t>(i)), i * i);
  });
}

// ---- from_callback

TEST(from_callback_threads, a_call_inside_the_initiation_is_a_result) {
  run_virtual([]() -> gyre::task<> {
    auto at_once = [](auto done) { done(42); };
    EXPECT_EQ(co_await gyre::from_callback<int>(at_once), 42);
    auto no_value = [](auto done) { done(); };
    co_await gyre::from_callback<void>(no_value);
  });
}

TEST(from_callback_threads, a_call_from_another_thread_resumes_on_the_loop) {
  gyre::run([]() -> gyre::task<> {
    const auto here = std::this_thread::get_id();
    std::thread thread;
    auto start = [&](std::function<void(std::string)> done) {
      thread = std::thread([done] { done("from a thread"); });
    };
    EXPECT_EQ(co_await gyre::from_callback<std::string>(start), "from a thread");
    EXPECT_EQ(std::this_thread::get_id(), here);
    thread.join();
  });
}

TEST(from_callback_threads, errors_arrive_as_what_they_are) {
  run_virtual([]() -> gyre::task<> {
    auto with_code = [](auto done) { done.fail(std::make_error_code(std::errc::connection_refused)); };
    auto with_exception = [](auto done) { done.fail(std::make_exception_ptr(std::out_of_range("that"))); };
    auto throws = [](const auto&) { throw std::runtime_error("could not start"); };
    EXPECT_THROW(co_await gyre::from_callback<int>(with_code), std::system_error);
    const auto outcome = co_await gyre::as_expected(gyre::from_callback<int>(with_code));
    EXPECT_EQ(outcome.error(), std::errc::connection_refused);
    EXPECT_THROW(co_await gyre::from_callback<int>(with_exception), std::out_of_range);
    EXPECT_EQ(co_await error_of(gyre::from_callback<int>(throws)), "could not start");
  });
}

TEST(from_callback_threads, the_first_call_counts) {
  run_virtual([]() -> gyre::task<> {
    auto twice = [](auto done) {
      done(1);
      done(2);
      done.fail(std::make_error_code(std::errc::io_error));
    };
    EXPECT_EQ(co_await gyre::from_callback<int>(twice), 1);
  });
}

TEST(from_callback_threads, a_callback_that_nobody_can_call_any_more_is_an_error_and_no_hang) {
  run_virtual([]() -> gyre::task<> {
    auto forgets = [](const auto&) {};
    EXPECT_THROW(co_await gyre::from_callback<int>(forgets), gyre::callback_dropped);
  });
}

TEST(from_callback_threads, a_cancel_without_a_hook_stops_waiting_and_later_calls_are_ignored) {
  run_virtual([]() -> gyre::task<> {
    std::optional<gyre::callback<int>> kept;
    auto task = gyre::spawn([&]() -> gyre::task<> {
      auto keep = [&](const gyre::callback<int>& done) { kept.emplace(done); };
      (void)co_await gyre::from_callback<int>(keep);
    });
    co_await gyre::yield();
    task.cancel();
    co_await task.wait();
    EXPECT_TRUE(task.state().was_cancelled());
    (*kept)(1);
    kept.reset();
  });
}

TEST(from_callback_threads, a_cancel_with_a_hook_waits_for_the_call_that_it_brings_about) {
  run_virtual([]() -> gyre::task<> {
    std::optional<gyre::callback<int>> kept;
    bool asked = false;
    auto task = gyre::spawn([&]() -> gyre::task<> {
      auto keep = [&](const gyre::callback<int>& done) { kept.emplace(done); };
      auto on_cancel = [&] { asked = true; };
      (void)co_await gyre::from_callback<int>(keep, on_cancel);
    });
    co_await gyre::yield();
    task.cancel();
    co_await gyre::yield();
    EXPECT_TRUE(asked);
    EXPECT_FALSE(task.done());
    kept->fail(std::make_error_code(std::errc::operation_canceled));
    co_await task.wait();
    EXPECT_TRUE(task.state().was_cancelled());
    kept.reset();
  });
}

TEST(from_callback_threads, calls_race_with_cancels_from_another_thread) {
  gyre::run([]() -> gyre::task<> {
    for (int i = 0; i < 200; ++i) {
      std::thread thread;
      auto task = gyre::spawn([&]() -> gyre::task<> {
        auto start = [&](const gyre::callback<int>& done) { thread = std::thread([done] { done(1); }); };
        (void)co_await gyre::from_callback<int>(start);
      });
      co_await gyre::yield();
      if (i % 2 == 0) co_await gyre::yield();
      task.cancel();
      co_await task.wait();
      if (thread.joinable()) thread.join();
    }
  });
}

TEST(from_callback_threads, a_callback_may_outlive_the_loop) {
  std::optional<gyre::callback<int>> kept;
  gyre::run([&]() -> gyre::task<> {
    auto keep = [&](const gyre::callback<int>& done) { kept.emplace(done); };
    auto waiting = gyre::from_callback<int>(keep);
    EXPECT_THROW(co_await gyre::timeout(1ms, std::move(waiting)), gyre::timed_out);
  });
  (*kept)(1);
  kept.reset();
}

// ---- spawn_then

TEST(spawn_then_threads, tells_callback_code_how_a_task_ended) {
  std::vector<std::string> told;
  run_virtual([&]() -> gyre::task<> {
    gyre::spawn_then(value_after(1ms, 3), [&](auto outcome) { told.push_back(std::to_string(outcome.value())); });
    gyre::spawn_then(fail_after(2ms, "no"), [&](auto outcome) { told.push_back(outcome ? "?" : "failed"); });
    gyre::spawn_then(value_after(1h, 1), [&](auto outcome) { told.push_back(outcome ? "?" : "cancelled"); });
    co_await gyre::sleep(5ms);
  });
  EXPECT_EQ(told, (std::vector<std::string>{"3", "failed", "cancelled"}));
}
