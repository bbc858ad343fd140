// src/io/blocking_pool.cpp: a queue of jobs, and threads that come and go with the work.
#include <gyre/io/blocking_pool.hpp>

#include <sched.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

namespace gyre::io {

struct blocking_pool::state {
  std::mutex mutex;
  std::condition_variable work;
  std::condition_variable ended;
  blocking_job* first = nullptr;
  blocking_job* last = nullptr;
  std::size_t max_threads = 1;
  std::size_t threads = 0;
  std::size_t idle = 0;
  std::size_t looking = 0;              // threads that will find what is queued without being woken
  std::atomic<std::size_t> queued = 0;  // written with the lock held
  bool closing = false;

  blocking_job* pop() noexcept {
    blocking_job* const job = first;
    if (job != nullptr) {
      first = job->next;
      if (first == nullptr) last = nullptr;
      --queued;
    }
    return job;
  }

  // Who has waited for a job often has the next one at once: to look for it for a moment costs less than to sleep and be
  // woken. A thread that was disappointed gives that up, and tries it again now and then.
  class eagerness {
   public:
    [[nodiscard]] bool looks() noexcept {
      constexpr unsigned most_misses = 3;
      constexpr unsigned try_again = 64;
      if (!more_than_one_core()) return false;
      if (misses_ < most_misses) return true;
      ++misses_;
      return misses_ % try_again == 0;
    }
    void found(bool something) noexcept { misses_ = something ? 0 : misses_ + 1; }

   private:
    static bool more_than_one_core() noexcept {
      static const bool several = std::thread::hardware_concurrency() > 1;
      return several;
    }
    unsigned misses_ = 0;
  };

  // Without the lock. True: there is something, unless another thread is quicker.
  [[nodiscard]] bool look_for_job() const noexcept {
    using clock = std::chrono::steady_clock;
    constexpr auto moment = std::chrono::microseconds(20);
    for (const auto end = clock::now() + moment; clock::now() < end;)
      for (int i = 0; i < 8; ++i) {
        if (queued.load(std::memory_order_relaxed) > 0) return true;
        pause_processor();
      }
    return false;
  }
  static void pause_processor() noexcept {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }

  void run_jobs() noexcept {
    constexpr auto patience = std::chrono::seconds(10);
    eagerness eager;
    std::unique_lock lock(mutex);
    for (;;) {
      if (blocking_job* const job = pop()) {
        lock.unlock();
        job->run(*job);
        lock.lock();
        continue;
      }
      if (closing) break;
      if (looking == 0 && eager.looks()) {
        ++looking;
        lock.unlock();
        eager.found(look_for_job());
        lock.lock();
        --looking;
        if (first != nullptr) continue;
      }
      ++idle;
      const bool woken = work.wait_for(lock, patience, [this] { return first != nullptr || closing; });
      --idle;
      if (!woken) break;
    }
    --threads;
    ended.notify_all();
  }

  // Called with the lock held. False: the system has no thread to give.
  bool start_thread() noexcept {
    // Signals are for the threads that run loops.
    sigset_t all;
    sigset_t before;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    bool started = true;
    try {
      std::thread([this] { run_jobs(); }).detach();
      ++threads;
    } catch (const std::exception&) {  // no thread, or no memory for one
      started = false;
    }
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return started;
  }
};

blocking_pool::blocking_pool(std::size_t max_threads) : state_(new state) {
  state_->max_threads = std::max<std::size_t>(1, max_threads);
}

blocking_pool::~blocking_pool() {
  {
    std::unique_lock lock(state_->mutex);
    state_->closing = true;
    state_->work.notify_all();
    state_->ended.wait(lock, [this] { return state_->threads == 0; });
  }
  delete state_;
}

void blocking_pool::submit(blocking_job& job) noexcept {
  std::unique_lock lock(state_->mutex);
  job.next = nullptr;
  (state_->first == nullptr ? state_->first : state_->last->next) = &job;
  state_->last = &job;
  if (++state_->queued <= state_->looking) return;
  if (state_->queued - state_->looking <= state_->idle) {
    lock.unlock();  // before, or the thread that wakes up would wait for this one
    state_->work.notify_one();
    return;
  }
  if (state_->threads >= state_->max_threads || state_->start_thread() || state_->threads > 0) return;
  blocking_job* const own = state_->pop();
  lock.unlock();
  own->run(*own);
}

bool blocking_pool::withdraw(blocking_job& job) noexcept {
  const std::scoped_lock lock(state_->mutex);
  blocking_job* before = nullptr;
  for (blocking_job* each = state_->first; each != nullptr; before = each, each = each->next) {
    if (each != &job) continue;
    (before == nullptr ? state_->first : before->next) = job.next;
    if (state_->last == &job) state_->last = before;
    --state_->queued;
    return true;
  }
  return false;
}

blocking_pool& blocking_pool::process_wide() {
  // Never destroyed: a lookup may still run when the process ends.
  static blocking_pool* const pool = [] {
    cpu_set_t usable;
    CPU_ZERO(&usable);
    const int cores = ::sched_getaffinity(0, sizeof(usable), &usable) == 0 ? CPU_COUNT(&usable) : 1;
    return new blocking_pool(static_cast<std::size_t>(std::max(4, cores)));
  }();
  return *pool;
}

}  // namespace gyre::io
