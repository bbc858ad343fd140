// gyre/sync/mutex.hpp: exclusive access for one task at a time.
#pragma once

#include <gyre/sync/must_be_awaited.hpp>
#include <gyre/sync/wait_queue.hpp>

#include <cstdint>
#include <utility>

namespace gyre {

class mutex;
class mutex_lock_op;
class mutex_guard_op;

/// Holds a mutex until the guard is destroyed.
class [[nodiscard("dropped at once, it unlocks at once")]] mutex_guard {
 public:
  mutex_guard() noexcept = default;
  /// Takes over `locked`, which must be locked already.
  explicit mutex_guard(mutex& locked) noexcept : mutex_(&locked) {}
  mutex_guard(mutex_guard&& other) noexcept;
  mutex_guard& operator=(mutex_guard&& other) noexcept {
    mutex_guard moved(std::move(other));
    std::swap(mutex_, moved.mutex_);
    return *this;
  }
  ~mutex_guard() { unlock(); }

  /// Unlocks before the end of the guard's lifetime.
  void unlock() noexcept;
  [[nodiscard]] explicit operator bool() const noexcept { return mutex_ != nullptr; }

 private:
  mutex* mutex_ = nullptr;
};

/// Admits one task at a time, in the order of arrival. Required where a code region that contains an await must not be
/// entered twice. Code without an await needs no mutex, because tasks of a loop do not run at the same time.
///
/// A task that waits without a time limit for a mutex that it holds itself would wait for ever. Debug builds stop the
/// program when the task holds a guard that was not moved. On virtual time every build reports it.
/// A lock must be awaited: `std::lock_guard<gyre::mutex>` and `auto guard = mutex.scoped_lock();` compile and lock
/// nothing. Debug builds stop the program there.
/// Thread: belongs to one loop. Lifetime: must outlive the tasks that wait for it.
class GYRE_API mutex {
 public:
  /// Waits until this task owns the mutex. Unlock it with `unlock`.
  ///
  /// Cancel: the mutex was not taken. A lock that came first wins over the cancel, and must be unlocked.
  [[nodiscard("co_await it")]] mutex_lock_op lock() noexcept;

  /// Waits the same way and returns a guard: `auto guard = co_await mutex.scoped_lock();`
  ///
  /// Cancel: same as lock().
  [[nodiscard("co_await it")]] mutex_guard_op scoped_lock() noexcept;

  /// Returns true when the mutex was free; it is then this task's.
  [[nodiscard]] bool try_lock() noexcept {
    owner_.check("try_lock");
    if (locked_) return false;
    locked_ = true;
    return true;
  }

  /// Hands the mutex to the task that has waited longest. Stops the program when it is not locked.
  void unlock() noexcept;
  [[nodiscard]] bool is_locked() const noexcept {
    owner_.check("is_locked");
    return locked_;
  }

 private:
  template <class Derived, class T>
  friend class mutex_wait_op;
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
  std::uint64_t holder_ = 0;  // for the check: the number of the task whose guard holds it; 0 means unknown
  bool locked_ = false;
  owner_loop_of<"a mutex"> owner_;
};

inline void mutex::unlock() noexcept {
  owner_.check("unlock");
  if (!locked_) [[unlikely]]
    stop_not_locked();
  holder_ = 0;  // always: the library may be a release build when the program is not
  // Passes it to the next waiter at once, so that a task that comes in between does not get ahead.
  if (wait_node* const next = waiters_.first(); next != nullptr)
    waiters_.grant(*next);
  else
    locked_ = false;
}
inline mutex_guard::mutex_guard(mutex_guard&& other) noexcept : mutex_(std::exchange(other.mutex_, nullptr)) {
  if (mutex_ != nullptr) mutex_->set_holder(0);
}
inline void mutex_guard::unlock() noexcept {
  if (mutex_ != nullptr) std::exchange(mutex_, nullptr)->unlock();
}

/// The common part of lock() and scoped_lock().
template <class Derived, class T = void>
class mutex_wait_op : public queued_operation<Derived, T> {
 public:
  explicit mutex_wait_op(mutex& wanted) noexcept : mutex_(&wanted) {}
  bool try_now() noexcept {
    mutex_->owner_.check("lock");
    return mutex_->try_lock();
  }
  [[nodiscard]] bool is_free() const noexcept { return !mutex_->locked_; }
  wait_queue& waits_in() noexcept { return mutex_->waiters_; }
  void give_back() noexcept { mutex_->unlock(); }
  void start() noexcept {
    mutex_->check_waiter(*this);
    queued_operation<Derived, T>::start();
  }

 protected:
  mutex* mutex_;
};

/// The operation of lock(): waits until this task owns the mutex.
class [[nodiscard("co_await it"), gnu::warn_unused]] mutex_lock_op : public mutex_wait_op<mutex_lock_op> {
 public:
  using mutex_wait_op::mutex_wait_op;
  must_be_awaited called{"lock() of a mutex"};  ///< for the check of debug builds
};

/// The operation of scoped_lock(): the same, but returns a guard.
class [[nodiscard("co_await it"), gnu::warn_unused]] mutex_guard_op
    : public mutex_wait_op<mutex_guard_op, mutex_guard> {
 public:
  static constexpr bool result_is_granted = true;
  using mutex_wait_op::mutex_wait_op;
  mutex_guard take_value() noexcept { return mutex_guard(*mutex_); }
  mutex_guard await_resume() {
    if constexpr (checks_everything)
      if (fully_succeeded()) mutex_->set_holder(mutex::number_of(event_loop::current().running_task()));
    return queued_operation::await_resume();
  }

  must_be_awaited called{"scoped_lock() of a mutex"};  ///< for the check of debug builds
};

inline mutex_lock_op mutex::lock() noexcept { return mutex_lock_op(*this); }
inline mutex_guard_op mutex::scoped_lock() noexcept { return mutex_guard_op(*this); }

}  // namespace gyre
