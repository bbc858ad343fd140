// src/io/blocking_pool.cpp: submitting and withdrawing jobs, and the pools of the process.
#include <gyre/io/blocking_pool.hpp>

#include "pool_state.hpp"

#include <sched.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <mutex>

namespace gyre::io {
namespace {

// Never destroyed: a lookup may still run when the process ends.
blocking_pool& new_pool_of_process(std::size_t threads) {
  cpu_set_t usable;
  CPU_ZERO(&usable);
  const int cores = ::sched_getaffinity(0, sizeof(usable), &usable) == 0 ? CPU_COUNT(&usable) : 1;
  return *new blocking_pool(std::max(threads, static_cast<std::size_t>(cores)));
}

}  // namespace

blocking_pool::blocking_pool(std::size_t max_threads) : state_(new pool_state(std::max<std::size_t>(1, max_threads))) {}

blocking_pool::~blocking_pool() {
  if (state_->is_own_thread()) {
    std::fputs("gyre: a pool of threads was destroyed by one of its own threads, which it waits for\n", stderr);
    std::abort();
  }
  {
    std::unique_lock lock(state_->mutex);
    state_->closing = true;
    state_->work.notify_all();
    state_->ended.wait(lock, [this] { return state_->threads == 0; });
  }
  delete state_;
}

void blocking_pool::submit(blocking_job& job) noexcept { submit_awaited(job, nullptr); }

void blocking_pool::submit_awaited(blocking_job& job, std::size_t* waiting) noexcept {
  pool_state& s = *state_;
  std::unique_lock lock(s.mutex);
  if (waiting != nullptr && (*waiting)++ == 0) ++s.waiting_for_own;
  s.enqueue(job);
  if (s.queued <= s.looking) return;
  const bool idle_are_enough = s.queued - s.looking <= s.idle;
  const bool started = !idle_are_enough && s.threads < s.limit() && s.start_thread();
  // Without a thread the job would wait for ever, and so would a thread that waits for it.
  const bool must_run_here = !started && s.idle == 0 && s.threads < s.limit() && (s.threads == 0 || job.nested);
  if (must_run_here) s.dequeue(job);
  const bool wakes = s.idle > 0;
  lock.unlock();  // before notifying, so that the woken thread does not wait for the lock
  if (wakes) s.work.notify_one();
  if (must_run_here) job.run(job);
}

bool blocking_pool::withdraw(blocking_job& job) noexcept {
  // If the job has begun, its pool may no longer exist.
  pool_state* const s = std::atomic_ref(job.queued_in).load(std::memory_order_relaxed);
  if (s == nullptr) return false;
  const std::scoped_lock lock(s->mutex);
  if (job.queued_in != s) return false;
  s->dequeue(job);
  return true;
}

std::size_t* blocking_pool::waiting_counter() const noexcept {
  return state_->is_own_thread() ? pool_state::jobs_waited_for() : nullptr;
}

void blocking_pool::end_waiting(std::size_t* waiting) noexcept {
  if (waiting == nullptr) return;
  const std::scoped_lock lock(state_->mutex);
  if (--*waiting == 0) --state_->waiting_for_own;
}

std::size_t blocking_pool::max_threads() const noexcept { return state_->max_threads; }

std::size_t blocking_pool::threads() const noexcept {
  const std::scoped_lock lock(state_->mutex);
  return state_->threads;
}

void blocking_pool::remember_processors() noexcept { pool_state::remember_processors(); }

// Made before main begins. If a thread called fork while another one made a pool, the pool would stay half made in the
// child, which would wait for it for ever.
[[maybe_unused]] const blocking_pool* const made_at_start[] = {&blocking_pool::for_calls(), &blocking_pool::for_files(),
                                                               &blocking_pool::for_names()};

blocking_pool& blocking_pool::for_calls() {
  static blocking_pool& pool = new_pool_of_process(64);
  return pool;
}

blocking_pool& blocking_pool::for_files() {
  static blocking_pool& pool = new_pool_of_process(16);
  return pool;
}

blocking_pool& blocking_pool::for_names() {
  static blocking_pool& pool = new_pool_of_process(16);
  return pool;
}

}  // namespace gyre::io
