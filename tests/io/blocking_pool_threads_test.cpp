// tests/io/blocking_pool_threads_test.cpp: blocking work on threads of a pool.
#include <gyre/io/blocking_pool.hpp>

#include "tests/io/pool_jobs.hpp"

#include <gtest/gtest.h>

#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>

#include <atomic>
#include <deque>
#include <latch>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

namespace gyre::io {
namespace {

TEST(blocking_pool_threads, runs_a_job_elsewhere) {
  std::thread::id where;
  std::latch done(1);
  job j([&] {
    where = std::this_thread::get_id();
    done.count_down();
  });
  blocking_pool pool(1);  // last, so that it joins its threads before the objects that they use are destroyed
  pool.submit(j);
  done.wait();
  EXPECT_NE(where, std::this_thread::get_id());
}

TEST(blocking_pool_threads, one_thread_keeps_the_order_of_submission) {
  std::vector<int> order;
  std::vector<std::unique_ptr<job>> jobs;
  {
    blocking_pool pool(1);
    for (int i = 0; i < 100; ++i) {
      jobs.push_back(std::make_unique<job>([&order, i] { order.push_back(i); }));
      pool.submit(*jobs.back());
    }
  }
  ASSERT_EQ(order.size(), 100U);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(order[static_cast<std::size_t>(i)], i);
}

TEST(blocking_pool_threads, runs_as_many_at_a_time_as_allowed_and_no_more) {
  gate g;
  std::atomic<int> running{0};
  std::atomic<int> most{0};
  std::latch done(12);
  std::vector<std::unique_ptr<job>> jobs;
  blocking_pool pool(3);
  for (int i = 0; i < 12; ++i) {
    jobs.push_back(std::make_unique<job>([&] {
      const int now = ++running;
      for (int seen = most; now > seen && !most.compare_exchange_weak(seen, now);) {
      }
      g.enter();
      --running;
      done.count_down();
    }));
    pool.submit(*jobs.back());
  }
  g.wait_for(3);  // hangs unless they run at the same time
  g.open();
  done.wait();
  EXPECT_EQ(most, 3);
}

TEST(blocking_pool_threads, uses_an_idle_thread_again) {
  std::mutex mutex;
  std::set<std::thread::id> threads;
  std::deque<std::latch> done;
  std::deque<job> jobs;
  blocking_pool pool(8);
  for (int i = 0; i < 50; ++i) {
    std::latch& one = done.emplace_back(1);
    pool.submit(jobs.emplace_back([&] {
      const std::scoped_lock lock(mutex);
      threads.insert(std::this_thread::get_id());
      one.count_down();
    }));
    one.wait();
  }
  // The next job may arrive before the last thread is idle again. It never needs more threads than have been busy.
  EXPECT_LT(threads.size(), 8U);
}

TEST(blocking_pool_threads, starts_another_thread_when_one_idle_thread_is_not_enough) {
  for (int i = 0; i < 20; ++i) {
    gate g;
    std::latch first(1);
    job warm_up([&] { first.count_down(); });
    job a([&] { g.enter(); });
    job b([&] { g.enter(); });
    blocking_pool pool(2);
    pool.submit(warm_up);
    first.wait();
    if (i % 2 == 0) std::this_thread::yield();  // now the thread may be idle
    pool.submit(a);
    pool.submit(b);
    g.wait_for(2);
    g.open();
  }
}

TEST(blocking_pool_threads, finishes_what_is_queued_before_it_dies) {
  std::atomic<int> runs{0};
  std::vector<std::unique_ptr<job>> jobs;
  gate g;
  {
    blocking_pool pool(2);
    for (int i = 0; i < 20; ++i) {
      jobs.push_back(std::make_unique<job>([&] {
        g.enter();
        ++runs;
      }));
      pool.submit(*jobs.back());
    }
    g.wait_for(2);
    g.open();
  }
  EXPECT_EQ(runs, 20);
}

// Only a sanitizer reports a use of the freed job.
TEST(blocking_pool_threads, a_job_may_free_itself_and_submit_others) {
  std::latch done(1);
  blocking_pool pool(2);
  struct chained : blocking_job {
    blocking_pool* pool;
    std::latch* done;
    int left;
    chained(blocking_pool& p, std::latch& d, int n) : pool(&p), done(&d), left(n) {
      run = [](blocking_job& j) noexcept {
        const std::unique_ptr<chained> self(static_cast<chained*>(&j));
        if (self->left == 0)
          self->done->count_down();
        else
          self->pool->submit(*new chained(*self->pool, *self->done, self->left - 1));
      };
    }
  };
  pool.submit(*new chained(pool, done, 100));
  done.wait();
}

TEST(blocking_pool_threads, a_job_that_waits_can_be_withdrawn) {
  gate g;
  std::atomic<int> runs{0};
  job busy([&] { g.enter(); });
  job first([&] { ++runs; });
  job second([&] { ++runs; });
  job third([&] { ++runs; });
  {
    blocking_pool pool(1);
    pool.submit(busy);
    g.wait_for(1);
    EXPECT_FALSE(pool.withdraw(busy)) << "it has begun";
    for (job* j : {&first, &second, &third}) pool.submit(*j);
    EXPECT_TRUE(pool.withdraw(third));  // the last
    EXPECT_TRUE(pool.withdraw(first));  // the first
    EXPECT_FALSE(pool.withdraw(first)) << "it is not there any more";
    pool.submit(third);  // a withdrawn job can be submitted again
    g.open();
  }
  EXPECT_EQ(runs, 2);
}

TEST(blocking_pool_threads, withdrawing_a_job_looks_at_no_other_than_its_neighbours) {
  constexpr std::size_t page = 4096;
  void* const memory = ::mmap(nullptr, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  blocking_job& far = *new (memory) blocking_job;
  far.run = [](blocking_job&) noexcept {};
  gate g;
  job busy([&] { g.enter(); });
  std::deque<job> jobs;
  {
    blocking_pool pool(1);
    pool.submit(busy);
    g.wait_for(1);
    pool.submit(far);
    for (int i = 0; i < 100; ++i) pool.submit(jobs.emplace_back([] {}));
    ASSERT_EQ(::mprotect(memory, page, PROT_NONE), 0);  // a search of the queue from its head ends here
    for (std::size_t i = 1; i < jobs.size(); ++i) EXPECT_TRUE(blocking_pool::withdraw(jobs[i]));
    ASSERT_EQ(::mprotect(memory, page, PROT_READ | PROT_WRITE), 0);
    g.open();
  }
  ::munmap(memory, page);
}

TEST(blocking_pool_threads, withdrawn_or_run_but_never_both) {
  constexpr int count = 1'000;
  std::vector<std::atomic<int>> runs(count);
  std::vector<bool> withdrawn(count);
  std::deque<job> jobs;
  {
    blocking_pool pool(2);
    for (std::size_t i = 0; i < count; ++i) {
      pool.submit(jobs.emplace_back([&runs, i] { ++runs[i]; }));
      if (i % 3 == 0) std::this_thread::yield();
      withdrawn[i] = pool.withdraw(jobs.back());
    }
  }
  for (std::size_t i = 0; i < count; ++i) EXPECT_EQ(runs[i], withdrawn[i] ? 0 : 1);
}

TEST(blocking_pool_threads, jobs_come_from_several_threads) {
  constexpr int submitters = 4;
  constexpr int each = 250;
  std::atomic<int> runs{0};
  std::vector<std::vector<std::unique_ptr<job>>> jobs(submitters);
  {
    blocking_pool pool(3);
    std::vector<std::thread> threads;
    for (auto& mine : jobs)
      threads.emplace_back([&] {
        for (int i = 0; i < each; ++i) {
          mine.push_back(std::make_unique<job>([&] { ++runs; }));
          pool.submit(*mine.back());
        }
      });
    for (std::thread& t : threads) t.join();
  }
  EXPECT_EQ(runs, submitters * each);
}

TEST(blocking_pool_threads, blocks_signals_there_and_not_here) {
  sigset_t there;
  sigemptyset(&there);
  std::latch done(1);
  job j([&] {
    ::pthread_sigmask(SIG_SETMASK, nullptr, &there);
    done.count_down();
  });
  blocking_pool pool(1);
  pool.submit(j);
  done.wait();
  sigset_t here;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &here);
  for (const int signal : {SIGINT, SIGTERM, SIGUSR1, SIGCHLD, SIGALRM}) {
    EXPECT_EQ(sigismember(&there, signal), 1);
    EXPECT_EQ(sigismember(&here, signal), 0);
  }
}

TEST(blocking_pool_threads, the_process_has_one_for_each_kind_of_work) {
  EXPECT_NE(&blocking_pool::for_calls(), &blocking_pool::for_files());
  EXPECT_NE(&blocking_pool::for_files(), &blocking_pool::for_names());
  blocking_pool& pool = blocking_pool::for_files();
  EXPECT_EQ(&pool, &blocking_pool::for_files());
  // The threads of the pool outlive the test, and so must the objects that they use.
  static std::deque<job> jobs;
  const auto g = std::make_shared<gate>();
  const auto done = std::make_shared<std::latch>(4);
  for (int i = 0; i < 4; ++i)
    pool.submit(jobs.emplace_back([g, done] {
      g->enter();
      done->count_down();
    }));
  g->wait_for(4);  // at least four at a time
  g->open();
  done->wait();
}

}  // namespace
}  // namespace gyre::io
