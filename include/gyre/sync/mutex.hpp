// gyre/sync/mutex.hpp: one task at a time.
#pragma once

#include <gyre/sync/must_be_awaited.hpp>
#include <gyre/sync/wait_queue.hpp>

#include <cstdint>
#include <utility>

namespace gyre {

class mutex;

/// Holds a mutex until it dies.
class [[nodiscard("dropped at once, it unlocks at once")]] mutex_guard {
 public:
  mutex_guard() noexcept = default;
  /// Takes over `locked`, which is locked already.
  explicit mutex_guard(mutex& locked) noexcept : mutex_(&locked) {}
  mutex_guard(mutex_guard&& other) noexcept;
  mutex_guard& operator=(mutex_guard&& other) noexcept {
    mutex_guard moved(std::move(other));
    std::swap(mutex_, moved.mutex_);
    return *this;
  }
  ~mutex_guard() { unlock(); }

  /// Gives it up before the end.
  void unlock() noexcept;
  [[nodiscard]] explicit operator bool() const noexcept { return mutex_ != nullptr; }

 private:
  mutex* mutex_ = nullptr;
};

/// lock(): waits until the mutex is this task's.
class [[nodiscard("co_await it"), gnu::warn_unused]] mutex_lock_op : public queued_operation<mutex_lock_op> {
 public:
  explicit mutex_lock_op(mutex& wanted) noexcept : mutex_(&wanted) {}
  bool try_now() noexcept;
  [[nodiscard]] bool is_free() const noexcept;
  wait_queue& waits_in() noexcept;
  void give_back() noexcept;
  void start() noexcept;

  must_be_awaited called{"lock() of a mutex"};  ///< for the check of debug builds

 private:
  mutex* mutex_;
};

/// scoped_lock(): the same, giving a guard.
class [[nodiscard("co_await it"), gnu::warn_unused]] mutex_guard_op
    : public queued_operation<mutex_guard_op, mutex_guard> {
 public:
  static constexpr bool result_is_granted = true;
  explicit mutex_guard_op(mutex& wanted) noexcept : mutex_(&wanted) {}
  bool try_now() noexcept;
  [[nodiscard]] bool is_free() const noexcept;
  wait_queue& waits_in() noexcept;
  mutex_guard take_value() noexcept { return mutex_guard(*mutex_); }
  void give_back() noexcept { (void)take_value(); }
  void start() noexcept;
  mutex_guard await_resume();

  must_be_awaited called{"scoped_lock() of a mutex"};  ///< for the check of debug builds

 private:
  mutex* mutex_;
};

/// Lets one task at a time through, in the order in which they came. Needed where a region with an await in it must not
/// be entered twice; what has no await in it needs no mutex, because tasks of a loop do not run at the same time.
///
/// A task that waits without a time limit for a mutex that it holds itself would wait for ever. Debug builds stop the
/// program when the task holds a guard that was not moved; on virtual time every build reports it.
/// A lock must be awaited: `std::lock_guard<gyre::mutex>` and `auto guard = mutex.scoped_lock();` compile and lock
/// nothing. Debug builds stop the program there.
/// Thread: belongs to one loop. Lifetime: must outlive the tasks that wait for it.
class GYRE_API mutex {
 public:
  /// Waits until the mutex is this task's; unlock it with `unlock`.
  ///
  /// Cancel: the mutex was not taken; a lock that came first wins over the cancel, and is to be unlocked.
  [[nodiscard("co_await it")]] mutex_lock_op lock() noexcept { return mutex_lock_op(*this); }

  /// Waits the same way and gives a guard: `auto guard = co_await mutex.scoped_lock();`
  ///
  /// Cancel: as lock.
  [[nodiscard("co_await it")]] mutex_guard_op scoped_lock() noexcept { return mutex_guard_op(*this); }

  /// True: it was free and is this task's now.
  [[nodiscard]] bool try_lock() noexcept {
    if (locked_) return false;
    locked_ = true;
    return true;
  }

  /// Hands it to the task that has waited longest. Stops the program when it is not locked.
  void unlock() noexcept;
  [[nodiscard]] bool is_locked() const noexcept { return locked_; }

 private:
  friend class mutex_lock_op;
  friend class mutex_guard_op;
  friend class mutex_guard;
  friend class condition_wait_op;
  [[noreturn]] static void stop_not_locked() noexcept;
  void set_holder(std::uint64_t task) noexcept {
    if constexpr (checks_everything) holder_ = task;
  }
  void check_waiter(const operation_base& op) const noexcept {
    if constexpr (checks_everything)
      if (holder_ != 0 && op.waits_for_ever() && number_of(op.waiter->context) == holder_)
        misuse("a task locks a mutex that it holds already, and would wait for ever: unlock it first");
  }
  [[nodiscard]] static std::uint64_t number_of(const task_context* task) noexcept {
    return task != nullptr && task->kind != nullptr ? task->kind->describe(*task).number : 0;
  }

  wait_queue_of<"a mutex"> waiters_;
  std::uint64_t holder_ = 0;  // for the check: the number of the task whose guard holds it; 0: not known
  bool locked_ = false;
};

inline void mutex::unlock() noexcept {
  if (!locked_) [[unlikely]]
    stop_not_locked();
  holder_ = 0;  // always: the library may be a release build where the program is not
  // To the next one at once: a task that comes in between does not get ahead.
  if (waiters_.empty() || !waiters_.grant_one()) locked_ = false;
}
inline mutex_guard::mutex_guard(mutex_guard&& other) noexcept : mutex_(std::exchange(other.mutex_, nullptr)) {
  if (mutex_ != nullptr) mutex_->set_holder(0);
}
inline void mutex_guard::unlock() noexcept {
  if (mutex_ != nullptr) std::exchange(mutex_, nullptr)->unlock();
}
inline void mutex_lock_op::start() noexcept {
  mutex_->check_waiter(*this);
  queued_operation::start();
}
inline bool mutex_lock_op::try_now() noexcept { return mutex_->try_lock(); }
inline bool mutex_lock_op::is_free() const noexcept { return !mutex_->locked_; }
inline wait_queue& mutex_lock_op::waits_in() noexcept { return mutex_->waiters_; }
inline void mutex_lock_op::give_back() noexcept { mutex_->unlock(); }
inline void mutex_guard_op::start() noexcept {
  mutex_->check_waiter(*this);
  queued_operation::start();
}
inline mutex_guard mutex_guard_op::await_resume() {
  if constexpr (checks_everything)
    if (fully_succeeded()) mutex_->set_holder(mutex::number_of(event_loop::current().running_task()));
  return queued_operation::await_resume();
}
inline bool mutex_guard_op::try_now() noexcept { return mutex_->try_lock(); }
inline bool mutex_guard_op::is_free() const noexcept { return !mutex_->locked_; }
inline wait_queue& mutex_guard_op::waits_in() noexcept { return mutex_->waiters_; }

}  // namespace gyre
