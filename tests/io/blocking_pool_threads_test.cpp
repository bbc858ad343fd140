// tests/io/blocking_pool_threads_test.cpp: blocking work on threads of a pool.
#include <gyre/io/blocking_pool.hpp>

#include <gtest/gtest.h>

#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>

#include <atomic>
#include <deque>
#include <functional>
#include <latch>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

namespace gyre::io {
namespace {

struct job : blocking_job {
  std::function<void()> work;

  explicit job(std::function<void()> f) : work(std::move(f)) {
    run = [](blocking_job& j) noexcept { static_cast<job&>(j).work(); };
  }
};

/// Blocks the threads that enter it until it is opened.
class gate {
 public:
  void enter() {
    entered_.fetch_add(1);
    entered_.notify_all();
    open_.wait(false);
  }
  void open() {
    open_ = true;
    open_.notify_all();
  }
  void wait_for(int count) {
    for (int n = entered_; n < count; n = entered_) entered_.wait(n);
  }

 private:
  std::atomic<int> entered_{0};
  std::atomic<bool> open_{false};
};

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

// ---- the end of the threads

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
