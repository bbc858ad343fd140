// gyre/io/blocking_pool.hpp: threads for calls that can only block (name resolution, files without io_uring).
#pragma once

#include <gyre/attributes.hpp>

#include <cstddef>

namespace gyre::io {

/// A unit of blocking work, owned by whoever submits it.
struct blocking_job {
  blocking_job* next = nullptr;
  void (*run)(blocking_job&) noexcept = nullptr;  ///< called on a pool thread; the job may be freed inside it
};

/// A bounded set of threads that run jobs in the order of their submission.
///
/// Threads are started when work comes and end after a while without any, so a program that never blocks has
/// none. Signals are blocked in them. Thread: any, for all members.
class GYRE_API blocking_pool {
 public:
  /// Units: at most `max_threads` (≥ 1) at a time; further jobs wait in a queue.
  explicit blocking_pool(std::size_t max_threads);
  /// Waits for running jobs, and runs those that are still queued, before it returns.
  ~blocking_pool();
  blocking_pool(const blocking_pool&) = delete;
  blocking_pool& operator=(const blocking_pool&) = delete;

  /// Queues a job, which stays valid until `run` has been called for it. When no thread at all can be started
  /// the job runs on the calling thread: slow, but nothing is lost.
  void submit(blocking_job& job) noexcept;

  /// Takes a job out of the queue that no thread has begun. True: it will never run. O(queue length).
  bool withdraw(blocking_job& job) noexcept;

  /// The pool that the whole process shares: as many threads as there are usable cores, at least 4.
  /// It lives until the process ends.
  static blocking_pool& process_wide();

 private:
  struct state;
  state* state_;
};

}  // namespace gyre::io
