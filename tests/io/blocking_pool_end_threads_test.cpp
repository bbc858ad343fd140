// tests/io/blocking_pool_end_threads_test.cpp: the end of the threads of a pool.
#include <gyre/io/blocking_pool.hpp>

#include "tests/io/pool_jobs.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <latch>
#include <thread>
#include <vector>

namespace gyre::io {
namespace {

// Counts threads that have ended, destructors of their thread-local objects included.
std::atomic<int> ended{0};
struct counts_its_end {
  std::thread::id self = std::this_thread::get_id();
  ~counts_its_end() {
    for (int i = 0; i < 1'000; ++i) std::this_thread::yield();  // a pool that only looks at its queue does not wait
    ++ended;
  }
};
std::thread::id counted_thread() {
  static thread_local const counts_its_end here;
  return here.self;
}

TEST(blocking_pool_threads, a_pool_that_is_destroyed_joins_its_threads) {
  ended = 0;
  gate g;
  std::deque<job> jobs;
  {
    blocking_pool pool(3);
    for (int i = 0; i < 3; ++i)
      pool.submit(jobs.emplace_back([&] {
        counted_thread();
        g.enter();
      }));
    g.wait_for(3);
    g.open();
  }
  EXPECT_EQ(ended, 3);
}

TEST(blocking_pool_threads, a_pool_that_was_joined_has_no_thread_and_starts_one_for_the_next_job) {
  ended = 0;
  gate g;
  std::deque<job> jobs;
  std::atomic<int> runs{0};
  blocking_pool pool(2);
  for (int i = 0; i < 10; ++i)
    pool.submit(jobs.emplace_back([&] {
      counted_thread();
      g.enter();
      ++runs;
    }));
  g.wait_for(2);
  std::thread opens([&] { g.open(); });  // while this thread may be in join() already
  pool.join();
  opens.join();
  EXPECT_EQ(runs, 10) << "it waits for the queued jobs";
  EXPECT_EQ(ended, 2);
  EXPECT_EQ(pool.threads(), 0U);
  pool.join();  // nothing to join
  std::latch done(1);
  job later([&] {
    counted_thread();
    done.count_down();
  });
  pool.submit(later);
  done.wait();
  EXPECT_EQ(pool.threads(), 1U);
  pool.join();
  EXPECT_EQ(ended, 3);
}

TEST(blocking_pool_threads, several_threads_may_join_a_pool_while_others_use_it) {
  std::atomic<int> runs{0};
  std::vector<std::deque<job>> jobs(4);
  blocking_pool pool(3);
  std::vector<std::thread> threads;
  for (auto& mine : jobs)
    threads.emplace_back([&] {
      for (int i = 0; i < 100; ++i) {
        pool.submit(mine.emplace_back([&] { ++runs; }));
        if (i % 10 == 0) pool.join();
      }
    });
  for (std::thread& t : threads) t.join();
  pool.join();
  EXPECT_EQ(runs, 400);
  EXPECT_EQ(pool.threads(), 0U);
}

TEST(blocking_pool_threads, joining_the_lasting_pools_ends_the_threads_of_each) {
  ended = 0;
  static std::deque<job> jobs;
  static blocking_pool& another = blocking_pool::make_lasting(2);
  blocking_pool* const pools[] = {&blocking_pool::for_calls(), &blocking_pool::for_files(), &blocking_pool::for_names(),
                                  &another};
  for (int round = 1; round <= 2; ++round) {
    for (blocking_pool* each : pools) each->submit(jobs.emplace_back([] { counted_thread(); }));
    blocking_pool::join_lasting();
    for (const blocking_pool* each : pools) EXPECT_EQ(each->threads(), 0U);
    EXPECT_EQ(ended, 4 * round);
  }
}

TEST(blocking_pool_death_threads, a_thread_that_joins_its_own_pool_stops_the_program) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto joins_its_own = [] {
    blocking_pool pool(1);
    job j([&] { pool.join(); });
    pool.submit(j);
    pool.join();
  };
  EXPECT_DEATH(joins_its_own(), "joined by one of its own threads");
}

}  // namespace
}  // namespace gyre::io
