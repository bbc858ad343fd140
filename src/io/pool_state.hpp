// src/io/pool_state.hpp: the queue and the threads of a pool.
#pragma once

#include <gyre/io/blocking_pool.hpp>
#include <gyre/io/node_list.hpp>

#include <pthread.h>

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <optional>

namespace gyre::io {

/// State shared by the threads of a pool. Guarded by `mutex`, except `queued`, which is read without it
/// and written with the lock held.
class pool_state {
 public:
  explicit pool_state(std::size_t limit);
  ~pool_state();
  pool_state& operator=(pool_state&&) = delete;

  /// Takes the next job out of the queue. Returns null when there is none, or when as many run as are allowed.
  [[nodiscard]] blocking_job* take_job() noexcept;
  void enqueue(blocking_job& job) noexcept;
  void dequeue(blocking_job& job) noexcept;
  /// Returns false when the system cannot create a thread.
  bool start_thread() noexcept;
  /// The number of threads allowed now. Threads that only wait for jobs of the same pool do not count.
  [[nodiscard]] std::size_t limit() const noexcept { return max_threads + waiting_for_own; }

  /// See blocking_pool.
  void join() noexcept;
  static void remember_processors() noexcept;
  /// Joins a thread that has ended, unless that would wait. The thread sanitizer reports threads that nobody joins.
  void join_without_waiting() noexcept;

  /// True if the calling thread belongs to this pool.
  [[nodiscard]] bool is_own_thread() const noexcept { return own_ == this; }
  /// The number of jobs of its own pool that the calling thread waits for. Guarded by the mutex of that pool.
  [[nodiscard]] static std::size_t* jobs_waited_for() noexcept { return &jobs_waited_for_; }

  std::mutex mutex;
  std::condition_variable work;
  std::condition_variable ended;
  std::size_t max_threads;
  std::size_t threads = 0;
  std::size_t running = 0;          // jobs
  std::size_t waiting_for_own = 0;  // of these: jobs that wait for other jobs of this pool
  std::size_t idle = 0;
  std::size_t looking = 0;              // threads that will find a queued job without being woken
  std::atomic<std::size_t> queued = 0;  // written with the lock held

 private:
  void run_jobs() noexcept;
  void work_until_idle_for_long(std::unique_lock<std::mutex>& lock) noexcept;
  [[nodiscard]] bool may_run() const noexcept {
    return running < limit() && queued.load(std::memory_order_relaxed) > 0;
  }
  [[nodiscard]] bool must_end() const noexcept { return joiners_ > 0 && queued.load(std::memory_order_relaxed) == 0; }
  [[nodiscard]] bool look_for_job() const noexcept;

  // fork(2): the child has the memory of all threads, but only the thread that called fork.
  static void register_fork_handlers() noexcept;
  static void before_fork() noexcept;
  static void after_fork_in_parent() noexcept;
  static void after_fork_in_child() noexcept;
  void begin_anew() noexcept;

  static constinit thread_local pool_state* own_;
  static constinit thread_local std::size_t jobs_waited_for_;

  class thread_end;

  node_list<blocking_job> nested_jobs_;
  node_list<blocking_job> jobs_;
  std::size_t joiners_ = 0;            // threads in join(), which wait for those of the pool
  bool joining_ = false;               // one of them is in pthread_join
  std::optional<pthread_t> unjoined_;  // the thread that has ended last; it has joined the previous one
  pool_state* next_pool_ = nullptr;    // in the list of all pools of the process
  pool_state* previous_pool_ = nullptr;
};

/// Entries of the real kernel.
void submit_to_threads(blocking_pool& pool, blocking_job& job, std::size_t* waiting) noexcept;
bool withdraw_from_threads(blocking_job& job) noexcept;

}  // namespace gyre::io
