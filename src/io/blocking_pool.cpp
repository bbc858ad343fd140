// src/io/blocking_pool.cpp: submitting and withdrawing jobs.
#include <gyre/io/blocking_pool.hpp>
#include <gyre/io/kernel.hpp>
#include <gyre/io/printable.hpp>

#include "pool_state.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <mutex>

namespace gyre::io {
namespace {

void join_from_outside(pool_state& pool, const char* what) noexcept {
  if (pool.is_own_thread()) {
    print_diagnostic({"gyre: a pool of threads was ", what, " by one of its own threads, which it waits for"});
    std::abort();
  }
  pool.join();
}

}  // namespace

blocking_pool::blocking_pool(std::size_t max_threads) : state_(new pool_state(std::max<std::size_t>(1, max_threads))) {}

blocking_pool::~blocking_pool() {
  join_from_outside(*state_, "destroyed");
  delete state_;
}

void blocking_pool::join() noexcept { join_from_outside(*state_, "joined"); }

void blocking_pool::submit(blocking_job& job) noexcept { submit_awaited(job, nullptr); }

void blocking_pool::submit_awaited(blocking_job& job, std::size_t* waiting) noexcept {
  job.calls = &kernel::here();
  job.calls->submit_job(*this, job, waiting);
}

bool blocking_pool::withdraw(blocking_job& job) noexcept { return kernel::here().withdraw_job(job); }

void submit_to_threads(blocking_pool& pool, blocking_job& job, std::size_t* waiting) noexcept {
  pool_state& s = *pool.state_;
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

bool withdraw_from_threads(blocking_job& job) noexcept {
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

}  // namespace gyre::io
