// tests/tasks/to_thread_threads_test.cpp: blocking functions on threads.
#include <gyre/tasks/thread_pool.hpp>
#include <gyre/tasks/to_thread.hpp>

#include "tests/support/virtual_run.hpp"

#include <algorithm>
#include <atomic>
#include <latch>
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

// ---- jobs that wait for other jobs

namespace {

int opens_and_resolves() {
  return gyre::run([]() -> gyre::task<int> {
    const auto found = co_await gyre::resolve("localhost", 80);
    auto file = co_await gyre::fs::file::open("/dev/null");
    co_await file.close();
    co_return found.empty() ? 0 : 1;
  });
}

/// Runs a loop that awaits a function on a pool thread. That function runs such a loop in turn, nested `depth` deep.
int run_nested(gyre::thread_pool& pool, int depth) {
  return gyre::run([&pool, depth]() -> gyre::task<int> {
    auto deeper = [&pool, depth] { return depth == 0 ? 1 : 1 + run_nested(pool, depth - 1); };
    co_return co_await gyre::to_thread(pool, deeper);
  });
}

}  // namespace

TEST(to_thread_threads, jobs_that_run_loops_may_open_files_and_resolve_names) {
  gyre::run([]() -> gyre::task<> {
    std::vector<gyre::task<int>> all;
    auto one = []() -> gyre::task<int> { co_return co_await gyre::to_thread(opens_and_resolves); };
    for (int i = 0; i < 80; ++i) all.push_back(one());  // more than there are threads
    auto gathered = gyre::gather(std::move(all));
    const auto results = co_await std::move(gathered);
    for (const int result : results) EXPECT_EQ(result, 1);
  });
}

TEST(to_thread_threads, jobs_that_never_end_do_not_delay_files_and_names) {
  gyre::run([]() -> gyre::task<> {
    std::counting_semaphore<200> gate(0);
    std::vector<gyre::task_handle<void>> blocked;
    for (int i = 0; i < 100; ++i)
      blocked.push_back(gyre::spawn([&]() -> gyre::task<> {
        auto function = [&] { gate.acquire(); };
        co_await gyre::to_thread(function);
      }));
    co_await gyre::yield();
    auto file = co_await gyre::fs::file::open("/dev/null");
    co_await file.close();
    const auto found = co_await gyre::resolve("localhost", 80);
    EXPECT_FALSE(found.empty());
    for (const auto& each : blocked) EXPECT_FALSE(each.done());
    gate.release(100);
    for (auto& each : blocked) co_await each;
  });
}

TEST(to_thread_threads, jobs_that_wait_for_jobs_of_their_own_pool_do_not_wait_for_ever) {
  gyre::thread_pool pool(1);
  EXPECT_EQ(run_nested(pool, 5), 6);
}

TEST(to_thread_threads, many_jobs_that_wait_for_one_of_their_own_pool_need_twice_its_threads_at_most) {
  gyre::thread_pool pool(4);
  std::atomic<std::size_t> most = 0;
  gyre::run([&]() -> gyre::task<> {
    auto inner = [&] {
      const std::size_t now = pool.threads();
      for (std::size_t seen = most; now > seen && !most.compare_exchange_weak(seen, now);) {
      }
    };
    auto outer = [&] { gyre::run([&]() -> gyre::task<> { co_await gyre::to_thread(pool, inner); }); };
    std::vector<gyre::task_handle<void>> all;
    for (int i = 0; i < 200; ++i)
      all.push_back(gyre::spawn([&]() -> gyre::task<> { co_await gyre::to_thread(pool, outer); }));
    for (auto& each : all) co_await each;
  });
  EXPECT_LE(most, 8U);
}

TEST(to_thread_threads, sixty_four_calls_run_at_a_time_and_further_ones_wait) {
  gyre::run([]() -> gyre::task<> {
    std::latch all_run(64);
    std::vector<gyre::task_handle<void>> calls;
    for (int i = 0; i < 64; ++i)
      calls.push_back(gyre::spawn([&]() -> gyre::task<> {
        auto function = [&] { all_run.arrive_and_wait(); };
        co_await gyre::to_thread(function);
      }));
    for (auto& each : calls) co_await each;
  });
  EXPECT_EQ(gyre::io::blocking_pool::for_calls().max_threads(), std::max(64U, std::thread::hardware_concurrency()));
}

// ---- the end of the threads

TEST(end_thread_pools_threads, joins_the_threads_of_the_process_and_later_calls_start_others) {
  const auto opens_and_computes = [] {
    EXPECT_EQ(opens_and_resolves(), 1);
    return gyre::run([]() -> gyre::task<std::thread::id> {
      auto function = [] { return std::this_thread::get_id(); };
      co_return co_await gyre::to_thread(function);
    });
  };
  for (int round = 0; round < 3; ++round) {
    EXPECT_NE(opens_and_computes(), std::thread::id());
    gyre::end_thread_pools();
    EXPECT_EQ(gyre::io::blocking_pool::for_calls().threads(), 0U);
    EXPECT_EQ(gyre::io::blocking_pool::for_files().threads(), 0U);
    EXPECT_EQ(gyre::io::blocking_pool::for_names().threads(), 0U);
  }
}

TEST(end_thread_pools_threads, waits_for_the_calls_of_a_running_loop_which_goes_on) {
  gyre::run([]() -> gyre::task<> {
    std::atomic<bool> returned = false;
    auto function = [&] {
      for (int i = 0; i < 1'000; ++i) std::this_thread::yield();
      returned = true;
    };
    auto call = gyre::spawn([&]() -> gyre::task<> { co_await gyre::to_thread(function); });
    co_await gyre::yield();
    gyre::end_thread_pools();
    EXPECT_TRUE(returned);
    co_await call;
    co_await gyre::to_thread(function);
  });
}

TEST(end_thread_pools_death_threads, on_a_thread_of_a_pool_stops_the_program) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto ends_its_own = [] {
    auto call = []() -> gyre::task<> { co_await gyre::to_thread(gyre::end_thread_pools); };
    gyre::run(call);
  };
  EXPECT_DEATH(ends_its_own(), "a pool of threads was joined by one of its own threads, which it waits for");
}

// ---- a pool of the program's own

TEST(thread_pool_threads, runs_no_more_at_a_time_than_asked_for) {
  gyre::thread_pool pool(2);
  EXPECT_EQ(pool.max_threads(), 2U);
  EXPECT_EQ(pool.threads(), 0U) << "none before there is work";
  std::atomic<int> running = 0;
  std::atomic<int> most = 0;
  gyre::run([&]() -> gyre::task<> {
    auto function = [&] {
      const int now = ++running;
      for (int seen = most; now > seen && !most.compare_exchange_weak(seen, now);) {
      }
      std::this_thread::yield();
      --running;
    };
    std::vector<gyre::task_handle<void>> all;
    for (int i = 0; i < 100; ++i)
      all.push_back(gyre::spawn([&]() -> gyre::task<> { co_await gyre::to_thread(pool, function); }));
    for (auto& each : all) co_await each;
  });
  EXPECT_LE(most, 2);
  EXPECT_LE(pool.threads(), 2U);
}

TEST(thread_pool_threads, is_shared_by_loops) {
  gyre::thread_pool pool(1);
  const auto where = [&] {
    return gyre::run([&]() -> gyre::task<std::thread::id> {
      auto function = [] { return std::this_thread::get_id(); };
      co_return co_await gyre::to_thread(pool, function);
    });
  };
  const std::thread::id first = where();
  std::thread::id second;
  std::thread([&] { second = where(); }).join();
  EXPECT_EQ(first, second);
}

TEST(thread_pool_threads, a_cancelled_call_in_the_queue_never_runs) {
  gyre::thread_pool pool(1);
  gyre::run([&]() -> gyre::task<> {
    std::binary_semaphore begun(0);
    std::binary_semaphore gate(0);
    bool ran = false;
    auto first = gyre::spawn([&]() -> gyre::task<> {
      auto function = [&] {
        begun.release();
        gate.acquire();
      };
      co_await gyre::to_thread(pool, function);
    });
    auto second = gyre::spawn([&]() -> gyre::task<> {
      auto function = [&] { ran = true; };
      co_await gyre::to_thread(pool, function);
    });
    co_await gyre::yield();
    begun.acquire();
    second.cancel();
    co_await second.wait();
    EXPECT_TRUE(second.state().was_cancelled());
    gate.release();
    co_await first;
    EXPECT_FALSE(ran);
  });
}

TEST(thread_pool_death_threads, destroyed_on_one_of_its_own_threads_stops_the_program) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto destroys_its_own = [] {
    gyre::run([]() -> gyre::task<> {
      auto pool = std::make_unique<gyre::thread_pool>(1);
      auto function = [&] { pool.reset(); };
      co_await gyre::to_thread(*pool, function);
    });
  };
  EXPECT_DEATH(destroys_its_own(), "destroyed by one of its own threads");
}

// ---- task_local values

TEST(to_thread_threads, sees_the_task_local_values_of_its_caller) {
  static const gyre::task_local<std::string> request_id;
  gyre::run([]() -> gyre::task<> {
    const auto bound = request_id.bind("42");
    auto look = [] { return request_id.get() == nullptr ? "none" : *request_id.get(); };
    EXPECT_EQ(co_await gyre::to_thread(look), "42");
    auto look_in_a_loop = [&] {
      return gyre::run([&]() -> gyre::task<std::string> {
        auto child = gyre::spawn([&]() -> gyre::task<std::string> { co_return look(); });
        co_return co_await child;
      });
    };
    EXPECT_EQ(co_await gyre::to_thread(look_in_a_loop), "42");
    {
      const auto inner = request_id.bind("43");
      EXPECT_EQ(co_await gyre::to_thread(look), "43");
    }
    EXPECT_EQ(co_await gyre::to_thread(look), "42");
  });
  auto of_a_task_without_any = []() -> gyre::task<bool> {
    auto look = [] { return request_id.get() == nullptr; };
    co_return co_await gyre::to_thread(look);
  };
  EXPECT_TRUE(gyre::run(of_a_task_without_any()));
}

TEST(thread_pool, needs_a_thread) { EXPECT_THROW(gyre::thread_pool(0), std::invalid_argument); }
