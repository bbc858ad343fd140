// gyre/sync/shared_mutex.hpp: many readers, or one writer.
#pragma once

#include <gyre/sync/wait_queue.hpp>

#include <cstddef>

namespace gyre {

class shared_mutex;

/// lock() and lock_shared(): waits until the mutex is this task's, alone or with other readers.
class GYRE_API [[nodiscard("co_await it")]] shared_mutex_lock_op : public queued_operation<shared_mutex_lock_op> {
 public:
  shared_mutex_lock_op(shared_mutex& wanted, bool shared) noexcept : mutex_(&wanted), shared_(shared) {}
  bool try_now() noexcept;
  wait_queue& waits_in() noexcept;
  std::expected<void, std::error_code> take_result();
  void await_resume();

 private:
  friend class shared_mutex;
  shared_mutex* mutex_;
  bool shared_;
};

/// Lets readers in together and writers alone, in the order in which they came: a reader that comes behind a waiting
/// writer waits too, so that neither kind starves the other.
///
/// Thread: belongs to one loop. Lifetime: must outlive who waits for it.
class GYRE_API shared_mutex {
 public:
  /// Waits until the mutex is this task's alone.
  ///
  /// Cancel: not taken; a lock that came first wins over the cancel, and is to be unlocked.
  [[nodiscard("co_await it")]] shared_mutex_lock_op lock() noexcept { return {*this, false}; }

  /// Waits until no writer has it or waits before this task.
  ///
  /// Cancel: as lock.
  [[nodiscard("co_await it")]] shared_mutex_lock_op lock_shared() noexcept { return {*this, true}; }

  [[nodiscard]] bool try_lock() noexcept;
  [[nodiscard]] bool try_lock_shared() noexcept;
  /// Stops the program when no writer has it.
  void unlock() noexcept;
  /// Stops the program when no reader has it.
  void unlock_shared() noexcept;

  [[nodiscard]] bool is_locked() const noexcept { return written_; }
  [[nodiscard]] std::size_t readers() const noexcept { return readers_; }

 private:
  friend class shared_mutex_lock_op;
  void let_in() noexcept;

  wait_queue waiters_;
  std::size_t readers_ = 0;
  bool written_ = false;
};

}  // namespace gyre
