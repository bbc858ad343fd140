// gyre/sync/semaphore.hpp: limits the number of tasks that do something at the same time.
#pragma once

#include <gyre/coro/owned.hpp>
#include <gyre/sync/must_be_awaited.hpp>
#include <gyre/sync/wait_queue.hpp>

#include <cstddef>
#include <limits>
#include <utility>

namespace gyre {

class counting_semaphore;
class semaphore_acquire_op;
class semaphore_permit_op;

/// Gives its permit back when it is destroyed.
class [[nodiscard("dropped at once, it gives the permit back at once")]] semaphore_permit {
 public:
  semaphore_permit() noexcept = default;
  /// Takes over one permit of `owner`.
  explicit semaphore_permit(counting_semaphore& owner) noexcept : owner_(&owner) {}

  /// Gives the permit back before the end of the object's lifetime.
  void release() noexcept { owner_.reset(); }
  [[nodiscard]] explicit operator bool() const noexcept { return owner_ != nullptr; }

 private:
  static void give_back(counting_semaphore* owner) noexcept;
  owned<counting_semaphore*, &give_back> owner_;
};

/// A number of permits that tasks take and give back. Waiting tasks are served in the order of arrival.
///
/// Thread: belongs to one loop. Lifetime: must outlive the tasks that wait for it.
class GYRE_API counting_semaphore {
 public:
  explicit counting_semaphore(std::size_t permits) noexcept : available_(permits) {}

  /// Waits for a permit. Give it back with `release`.
  ///
  /// Cancel: no permit was taken. A permit that came first wins over the cancel, and must be released.
  [[nodiscard("co_await it")]] semaphore_acquire_op acquire() noexcept;

  /// Waits the same way and returns the permit as an object: `auto permit = co_await slots.scoped_acquire();`
  ///
  /// Cancel: same as acquire().
  [[nodiscard("co_await it")]] semaphore_permit_op scoped_acquire() noexcept;

  /// Returns true when a permit was free; it is then this task's.
  [[nodiscard]] bool try_acquire() noexcept {
    owner_.check("try_acquire");
    if (available_ == 0) return false;
    --available_;
    return true;
  }

  /// Adds `count` permits, returned or new ones. The tasks that have waited longest get them. Stops the program when
  /// there would be more of them than std::size_t can count.
  void release(std::size_t count = 1) noexcept {
    owner_.check("release");
    if (waiters_.empty() && count <= std::numeric_limits<std::size_t>::max() - available_) [[likely]]
      available_ += count;
    else
      hand_on(count);
  }

  /// The number of free permits. No task waits while there are some.
  [[nodiscard]] std::size_t available() const noexcept {
    owner_.check("available");
    return available_;
  }

 private:
  template <class Derived, class T>
  friend class semaphore_wait_op;
  void hand_on(std::size_t count) noexcept;
  wait_queue_of<"a counting_semaphore"> waiters_;
  std::size_t available_;
  owner_loop_of<"a counting_semaphore"> owner_;
};

/// A semaphore that never has more permits than its initial number.
class GYRE_API bounded_semaphore : public counting_semaphore {
 public:
  explicit bounded_semaphore(std::size_t permits) noexcept : counting_semaphore(permits), bound_(permits) {}

  /// Same as counting_semaphore::release. Errors: std::logic_error, and nothing changes, when more permits would be
  /// free than there are.
  void release(std::size_t count = 1);

 private:
  std::size_t bound_;
};

inline void semaphore_permit::give_back(counting_semaphore* owner) noexcept { owner->release(); }

/// The common part of acquire() and scoped_acquire().
template <class Derived, class T = void>
class semaphore_wait_op : public queued_operation<Derived, T> {
 public:
  explicit semaphore_wait_op(counting_semaphore& wanted) noexcept : semaphore_(&wanted) {}
  bool try_now() noexcept {
    semaphore_->owner_.check("acquire");
    return semaphore_->try_acquire();
  }
  [[nodiscard]] bool is_free() const noexcept { return semaphore_->available_ > 0; }
  wait_queue& waits_in() noexcept { return semaphore_->waiters_; }
  void give_back() noexcept { semaphore_->release(); }

 protected:
  counting_semaphore* semaphore_;
};

/// The operation of acquire(): waits for a permit.
class [[nodiscard("co_await it"), gnu::warn_unused]] semaphore_acquire_op
    : public semaphore_wait_op<semaphore_acquire_op> {
 public:
  using semaphore_wait_op::semaphore_wait_op;
  must_be_awaited called{"acquire() of a semaphore"};  ///< for the check of debug builds
};

/// The operation of scoped_acquire(): the same, but returns an object that gives the permit back.
class [[nodiscard("co_await it"), gnu::warn_unused]] semaphore_permit_op
    : public semaphore_wait_op<semaphore_permit_op, semaphore_permit> {
 public:
  static constexpr bool result_is_granted = true;
  using semaphore_wait_op::semaphore_wait_op;
  semaphore_permit take_value() noexcept { return semaphore_permit(*semaphore_); }
  must_be_awaited called{"scoped_acquire() of a semaphore"};  ///< for the check of debug builds
};

inline semaphore_acquire_op counting_semaphore::acquire() noexcept { return semaphore_acquire_op(*this); }
inline semaphore_permit_op counting_semaphore::scoped_acquire() noexcept { return semaphore_permit_op(*this); }

}  // namespace gyre
