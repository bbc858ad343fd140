// gyre/io/blocking_pool.hpp: threads for calls that have no non-blocking form (name resolution, files without
// io_uring).
#pragma once

#include <gyre/attributes.hpp>

#include <cstddef>

namespace gyre::io {

class pool_state;
struct kernel;

/// A unit of blocking work, owned by its submitter.
struct blocking_job {
  void (*run)(blocking_job&) noexcept = nullptr;  ///< called on a pool thread; the job may be freed inside it

  // Kept by the pool.
  const kernel* calls = nullptr;  ///< kernel::here() while the job runs: that of its submitter
  blocking_job* next = nullptr;
  blocking_job* previous = nullptr;
  pool_state* queued_in = nullptr;  ///< null once a thread has started it
  bool nested = false;              ///< submitted by a thread of the same pool
};

/// A bounded set of threads that run jobs in the order of their submission.
///
/// Threads are started when jobs arrive and end after a while without any, so a program that never blocks has none.
/// While a pool has threads, dlclose(3) does not unload the plugin that contains this code.
/// Signals are blocked in them. A job that was submitted from a thread of the same pool goes before all others. After
/// fork(2) the child's pool is empty and starts its own threads; the parent's jobs do not run there.
/// Thread: any, for all members.
class GYRE_API blocking_pool {
 public:
  /// Units: at most `max_threads` (≥ 1) at a time; further jobs wait in a queue. Errors: std::bad_alloc.
  explicit blocking_pool(std::size_t max_threads);
  /// Like join().
  ~blocking_pool();
  blocking_pool& operator=(blocking_pool&&) = delete;

  /// Queues a job, which must stay valid until `run` has been called for it. When no thread at all can be started, the
  /// job runs on the calling thread: slow, but nothing is lost.
  void submit(blocking_job& job) noexcept;

  /// Removes a job that no thread has started from the queue. Returns true when the job will never run. Takes constant
  /// time.
  static bool withdraw(blocking_job& job) noexcept;

  /// For a thread that will wait for the job; `waiting` is the result of waiting_counter on that thread. For a thread
  /// of the pool, one additional thread is allowed until end_waiting is called, on any thread. So jobs that wait for
  /// jobs do not deadlock.
  void submit_awaited(blocking_job& job, std::size_t* waiting) noexcept;
  void end_waiting(std::size_t* waiting) noexcept;
  /// Null on threads outside the pool, which occupy none of its threads.
  [[nodiscard]] std::size_t* waiting_counter() const noexcept;

  /// Waits for all jobs, including the queued ones, and joins the threads. The next job starts a thread again. Must not
  /// run on a thread of the pool, nor while a lock is held for which a job waits.
  void join() noexcept;

  [[nodiscard]] std::size_t max_threads() const noexcept;
  /// The number of threads that currently run jobs or wait for them.
  [[nodiscard]] std::size_t threads() const noexcept;

  /// From now on, threads of all pools may run wherever the calling thread may run now, even when a thread that is
  /// bound to one processor starts them.
  static void remember_processors() noexcept;

  // The pools of the process. Each kind of work has its own threads, so that none delays another. The pools are never
  // destroyed, because a lookup may still run when the process ends. Units: threads, or one per usable core if that is
  // more.

  /// gyre::to_thread: at most 64.
  static blocking_pool& for_calls();
  /// File operations that no ring performs: at most 16.
  static blocking_pool& for_files();
  /// Name resolution: at most 16.
  static blocking_pool& for_names();
  /// Another pool that is never destroyed. Call it once per kind of work. Errors: std::bad_alloc.
  static blocking_pool& make_lasting(std::size_t max_threads);
  /// Joins all pools that are never destroyed, one after the other; see gyre::end_thread_pools.
  static void join_lasting() noexcept;

 private:
  friend class lasting_pools;
  friend void submit_to_threads(blocking_pool& pool, blocking_job& job, std::size_t* waiting) noexcept;

  pool_state* state_;
};

}  // namespace gyre::io
