// tests/tasks/to_thread_threads_test.cpp: blocking functions on threads.
#include <gyre/tasks/to_thread.hpp>

#include "tests/support/virtual_run.hpp"

#include <atomic>
#include <memory>
#include <semaphore>
#include <stdexcept>
#include <thread>
#include <vector>

using namespace gyre_test;

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
