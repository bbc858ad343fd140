// gyre/io/blocking_pool.hpp: threads for calls that can only block (name resolution, files without io_uring).
#pragma once

#include <gyre/attributes.hpp>

#include <cstddef>

namespace gyre::io {

class pool_state;

/// A unit of blocking work, owned by its submitter.
struct blocking_job {
  void (*run)(blocking_job&) noexcept = nullptr;  ///< called on a pool thread; the job may be freed inside it

  // Kept by the pool.
  blocking_job* next = nullptr;
  blocking_job* previous = nullptr;
  pool_state* queued_in = nullptr;  ///< null once a thread has begun it
  bool nested = false;              ///< submitted by a thread of the same pool
};

/// A bounded set of threads that run jobs in the order of their submission.
///
/// Threads are started when work comes and end after a while without any, so a program that never blocks has none. Signals
/// are blocked in them. A job that was submitted from a thread of the same pool goes before all others.
/// After fork(2) the pool of the child is empty and starts threads of its own; jobs of the parent are not run there.
/// Thread: any, for all members.
class GYRE_API blocking_pool {
 public:
  /// Units: at most `max_threads` (≥ 1) at a time; further jobs wait in a queue. Errors: std::bad_alloc.
  explicit blocking_pool(std::size_t max_threads);
  /// Waits for running jobs, and runs those that are still queued, before it returns. Not on a thread of the pool.
  ~blocking_pool();
  blocking_pool(const blocking_pool&) = delete;
  blocking_pool& operator=(const blocking_pool&) = delete;

  /// Queues a job, which stays valid until `run` has been called for it. When no thread at all can be started
  /// the job runs on the calling thread: slow, but nothing is lost.
  void submit(blocking_job& job) noexcept;

  /// Takes a job out of the queue that no thread has begun. True: it will never run. Takes constant time.
  static bool withdraw(blocking_job& job) noexcept;

  /// For a thread that is going to wait for the job: `waiting` is what waiting_counter gives there. On a thread of the pool there
  /// may be one thread more until end_waiting has been called, on any thread: jobs that wait for jobs do not wait for ever.
  void submit_awaited(blocking_job& job, std::size_t* waiting) noexcept;
  void end_waiting(std::size_t* waiting) noexcept;
  /// Null on threads of others, which take none from the pool.
  [[nodiscard]] std::size_t* waiting_counter() const noexcept;

  [[nodiscard]] std::size_t max_threads() const noexcept;
  /// Threads that run or wait for jobs now.
  [[nodiscard]] std::size_t threads() const noexcept;

  // The pools of the process: each kind of work has threads of its own, so that none delays another. They live until the
  // process ends. Units: threads, or one per usable core if that is more.

  /// gyre::to_thread: at most 64.
  static blocking_pool& for_calls();
  /// Operations on files that no ring performs: at most 16.
  static blocking_pool& for_files();
  /// Name resolution: at most 16.
  static blocking_pool& for_names();

 private:
  pool_state* state_;
};

}  // namespace gyre::io
