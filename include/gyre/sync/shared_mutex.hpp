// gyre/sync/shared_mutex.hpp: access for many readers or one writer.
#pragma once

#include <gyre/sync/must_be_awaited.hpp>
#include <gyre/sync/wait_queue.hpp>

#include <cstddef>
#include <expected>
#include <system_error>
#include <utility>

namespace gyre {

class shared_mutex;
class shared_mutex_guard;

/// The operation of lock() and lock_shared(): waits until this task owns the mutex, alone or with other readers.
class GYRE_API [[nodiscard("co_await it")]] shared_mutex_lock_op : public queued_operation<shared_mutex_lock_op> {
 public:
  shared_mutex_lock_op(shared_mutex& wanted, bool shared) noexcept : mutex_(&wanted), shared_(shared) {}
  bool try_now() noexcept;
  [[nodiscard]] bool is_free() const noexcept;
  wait_queue& waits_in() noexcept;
  void on_cancel() noexcept;
  void give_back() noexcept;

  must_be_awaited called{"a lock function of a shared_mutex"};  ///< for the check of debug builds

 protected:
  [[nodiscard]] shared_mutex_guard guard() noexcept;

 private:
  friend class shared_mutex;
  shared_mutex* mutex_;
  bool shared_;
};

/// Holds a shared_mutex, alone or with other readers, until the guard is destroyed.
class [[nodiscard("dropped at once, it unlocks at once")]] shared_mutex_guard {
 public:
  shared_mutex_guard() noexcept = default;
  /// Takes over `locked`, which must be locked already.
  shared_mutex_guard(shared_mutex& locked, bool shared) noexcept : mutex_(&locked), shared_(shared) {}
  shared_mutex_guard(shared_mutex_guard&& other) noexcept
      : mutex_(std::exchange(other.mutex_, nullptr)), shared_(other.shared_) {}
  shared_mutex_guard& operator=(shared_mutex_guard&& other) noexcept {
    shared_mutex_guard moved(std::move(other));
    std::swap(mutex_, moved.mutex_);
    std::swap(shared_, moved.shared_);
    return *this;
  }
  ~shared_mutex_guard() { unlock(); }

  /// Unlocks before the end of the guard's lifetime.
  void unlock() noexcept;

 private:
  shared_mutex* mutex_ = nullptr;
  bool shared_ = false;
};

/// The operation of scoped_lock() and scoped_lock_shared(): same as lock(), but returns a guard.
class GYRE_API [[nodiscard("co_await it")]] shared_mutex_guard_op : public shared_mutex_lock_op {
 public:
  static constexpr bool result_is_granted = true;
  using shared_mutex_lock_op::shared_mutex_lock_op;
  std::expected<shared_mutex_guard, std::error_code> take_result() {
    if (auto locked = shared_mutex_lock_op::take_result(); !locked) return std::unexpected(locked.error());
    return guard();
  }
  shared_mutex_guard await_resume() {
    shared_mutex_lock_op::await_resume();
    return guard();
  }
};

/// Admits readers together and writers alone, in the order of arrival. A reader that arrives after a waiting writer
/// waits too, so that neither kind starves the other.
///
/// Thread: belongs to one loop. Lifetime: must outlive the tasks that wait for it.
class GYRE_API shared_mutex {
 public:
  /// Waits until this task owns the mutex alone.
  ///
  /// Cancel: the mutex was not taken. A lock that came first wins over the cancel, and must be unlocked.
  [[nodiscard("co_await it")]] shared_mutex_lock_op lock() noexcept { return {*this, false}; }

  /// Waits until no writer holds the mutex or waits in front of this task.
  ///
  /// Cancel: same as lock().
  [[nodiscard("co_await it")]] shared_mutex_lock_op lock_shared() noexcept { return {*this, true}; }

  /// The same with guards: `const auto guard = co_await mutex.scoped_lock_shared();`
  ///
  /// Cancel: same as lock().
  [[nodiscard("co_await it")]] shared_mutex_guard_op scoped_lock() noexcept { return {*this, false}; }
  /// Cancel: same as lock().
  [[nodiscard("co_await it")]] shared_mutex_guard_op scoped_lock_shared() noexcept { return {*this, true}; }

  [[nodiscard]] bool try_lock() noexcept;
  [[nodiscard]] bool try_lock_shared() noexcept;
  /// True when try_lock (or try_lock_shared, if `shared`) would succeed.
  [[nodiscard]] bool is_free(bool shared) const noexcept {
    return !written_ && (shared ? waiters_.empty() : readers_ == 0);
  }
  /// Stops the program when no writer holds it.
  void unlock() noexcept;
  /// Stops the program when no reader holds it.
  void unlock_shared() noexcept;

  [[nodiscard]] bool is_locked() const noexcept {
    owner_.check("is_locked");
    return written_;
  }
  [[nodiscard]] std::size_t readers() const noexcept {
    owner_.check("readers");
    return readers_;
  }

 private:
  friend class shared_mutex_lock_op;
  void let_in() noexcept;

  wait_queue_of<"a shared_mutex"> waiters_;
  std::size_t readers_ = 0;
  bool written_ = false;
  owner_loop_of<"a shared_mutex"> owner_;
};

inline void shared_mutex_guard::unlock() noexcept {
  if (mutex_ == nullptr) return;
  shared_mutex& owned = *std::exchange(mutex_, nullptr);
  shared_ ? owned.unlock_shared() : owned.unlock();
}
inline void shared_mutex_lock_op::give_back() noexcept { (void)guard(); }
inline shared_mutex_guard shared_mutex_lock_op::guard() noexcept { return {*mutex_, shared_}; }

}  // namespace gyre
