// tests/tasks/to_thread_threads_test.cpp: blocking functions on threads.
#include <gyre/tasks/thread_pool.hpp>
#include <gyre/tasks/to_thread.hpp>

#include "tests/support/virtual_run.hpp"

#include <algorithm>
#include <atomic>
#include <functional>
#include <latch>
#include <memory>
#include <semaphore>
#include <stdexcept>
#include <thread>
#include <vector>

using namespace gyre_test;

namespace {

/// Starts `count` calls of a function on threads. With a pool, on its threads.
std::vector<gyre::task_handle<void>> start_calls(int count, std::function<void()> function,
                                                 gyre::thread_pool* pool = nullptr) {
  const auto call = [](std::function<void()> f, gyre::thread_pool* p) -> gyre::task<> {
    if (p != nullptr)
      co_await gyre::to_thread(*p, std::move(f));
    else
      co_await gyre::to_thread(std::move(f));
  };
  std::vector<gyre::task_handle<void>> calls;
  for (int i = 0; i < count; ++i) calls.push_back(gyre::spawn(call(function, pool)));
  return calls;
}

gyre::task<> end_of(std::vector<gyre::task_handle<void>> calls) {
  for (auto& each : calls) co_await each;
}

/// Notes in `most` the largest `now`.
template <class T>
void note_most(std::atomic<T>& most, T now) {
  for (T seen = most; now > seen && !most.compare_exchange_weak(seen, now);) {
  }
}

}  // namespace

TEST(to_thread_threads, many_at_once_all_come_back) {
  gyre::run([]() -> gyre::task<> {
    std::vector<gyre::task<int>> all;
    auto square = [](int i) -> gyre::task<int> {
      auto function = [i] { return i * i; };
      co_return co_await gyre::to_thread(function);
    };
    for (int i = 0; i < 500; ++i) all.push_back(square(i));
    const auto results = co_await gyre::gather(std::move(all));
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
    auto calls = start_calls(80, [] { EXPECT_EQ(opens_and_resolves(), 1); });  // more than there are threads
    co_await end_of(std::move(calls));
  });
}

TEST(to_thread_threads, jobs_that_never_end_do_not_delay_files_and_names) {
  gyre::run([]() -> gyre::task<> {
    std::counting_semaphore<200> gate(0);
    auto blocked = start_calls(100, [&] { gate.acquire(); });
    co_await gyre::yield();
    auto file = co_await gyre::fs::file::open("/dev/null");
    co_await file.close();
    const auto found = co_await gyre::resolve("localhost", 80);
    EXPECT_FALSE(found.empty());
    for (const auto& each : blocked) EXPECT_FALSE(each.done());
    gate.release(100);
    co_await end_of(std::move(blocked));
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
    auto inner = [&] { note_most(most, pool.threads()); };
    auto outer = [&] { gyre::run([&]() -> gyre::task<> { co_await gyre::to_thread(pool, inner); }); };
    auto calls = start_calls(200, outer, &pool);
    co_await end_of(std::move(calls));
  });
  EXPECT_LE(most, 8U);
}

TEST(to_thread_threads, sixty_four_calls_run_at_a_time_and_further_ones_wait) {
  gyre::run([]() -> gyre::task<> {
    std::latch all_run(64);
    auto calls = start_calls(64, [&] { all_run.arrive_and_wait(); });
    co_await end_of(std::move(calls));
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

TEST(end_thread_pools_death_threads, called_on_a_thread_of_a_pool_stops_the_program) {
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
      note_most(most, ++running);
      std::this_thread::yield();
      --running;
    };
    auto calls = start_calls(100, function, &pool);
    co_await end_of(std::move(calls));
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

TEST(thread_pool, refuses_to_have_no_thread) { EXPECT_THROW(gyre::thread_pool(0), std::invalid_argument); }
