// gyre/tasks/thread_pool.hpp: the program's own threads for to_thread, and the end of those of the process.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/io/blocking_pool.hpp>

#include <cstddef>

namespace gyre {

/// A bounded set of threads for one kind of blocking work. That work then delays no other work, and its number of
/// concurrent calls is limited:
///
///   gyre::thread_pool database(4);
///   auto rows = co_await gyre::to_thread(database, [&] { return query(connection); });
///
/// A thread is started when a call finds no idle one, and ends after ten seconds without work. Calls run in the order
/// in which they were awaited; calls from a thread of the pool itself go first. A call that only waits for others of
/// its own pool does not count towards the limit, so they cannot deadlock. Signals are blocked in the threads.
/// Thread: any number of loops may share a pool.
/// Lifetime: must outlive every await of a call in it. In a child of fork(2) it is empty and starts its own threads.
class GYRE_API thread_pool {
 public:
  /// Units: at most `max_threads` at a time, at least 1. Errors: std::invalid_argument for 0; std::bad_alloc.
  explicit thread_pool(std::size_t max_threads) : jobs_(at_least_one(max_threads)) {}
  /// Waits, without running the loop, until all calls have ended, including queued ones, and joins the threads. Must
  /// not run on a thread of the pool.
  ~thread_pool() = default;
  thread_pool& operator=(thread_pool&&) = delete;

  [[nodiscard]] std::size_t max_threads() const noexcept { return jobs_.max_threads(); }
  /// The number of threads that currently run calls or wait for them.
  [[nodiscard]] std::size_t threads() const noexcept { return jobs_.threads(); }

  /// For authors of operations.
  [[nodiscard]] io::blocking_pool& jobs() noexcept { return jobs_; }

 private:
  static std::size_t at_least_one(std::size_t max_threads);

  io::blocking_pool jobs_;
};

/// Joins the threads that the process has for to_thread without a pool, for files, names and listings of directories:
/// before dlclose(3) of a plugin that contains gyre, unshare(2), or a check for leaks. The next call starts threads
/// again, so loops should have ended.
///
/// Waits, without running the calling thread's loop, until all calls have ended, including queued ones and lookups of
/// names that were cancelled, which may take the resolver's time-out.
/// Thread: any one without locks that such a call needs. On one of the threads to be joined, it stops the program with
/// a message. Errors: none.
GYRE_API void end_thread_pools() noexcept;

}  // namespace gyre
