// gyre/sync/condition_variable.hpp: waits for a change under a mutex.
#pragma once

#include <gyre/coro/misuse.hpp>
#include <gyre/coro/task.hpp>
#include <gyre/io/node_list.hpp>
#include <gyre/sync/mutex.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace gyre {

class condition_variable;

/// A waiter that was notified and has not resumed yet, in the list of its condition_variable.
struct notified_waiter {
  notified_waiter* previous = nullptr;
  notified_waiter* next = nullptr;
  condition_variable* condition = nullptr;  ///< null when it is in no list, or its condition_variable was destroyed
};

/// The operation of wait(): unlocks, waits to be notified, locks again.
class GYRE_API [[nodiscard("co_await it")]] condition_wait_op : public operation<condition_wait_op>, private wait_node {
 public:
  explicit condition_wait_op(condition_variable& awaited) noexcept : condition_(&awaited) {}
  bool try_now() noexcept { return false; }
  void start() noexcept;
  void on_cancel() noexcept;
  void await_resume();

 private:
  friend class condition_variable;
  void on_grant() noexcept { finish_soon(); }
  void lock_again() noexcept;

  condition_variable* condition_;  // may have been destroyed after it has notified this
  mutex* mutex_ = nullptr;
  std::uint64_t holder_ = 0;  // holder of the mutex, before and after
  notified_waiter notified_;
  bool was_notified_ = false;
  bool given_up_ = false;
};

/// A condition for which tasks wait while they hold a mutex. The task that makes it true notifies.
///
/// Thread: belongs to one loop. Lifetime: must outlive the tasks that wait to be notified. It may be destroyed once all
/// were notified. The mutex must outlive the tasks.
class GYRE_API condition_variable {
 public:
  explicit condition_variable(mutex& guarding GYRE_LIFETIMEBOUND) noexcept : mutex_(&guarding) {}
  condition_variable& operator=(condition_variable&&) = delete;
  ~condition_variable();

  /// Unlocks the mutex, waits until it is notified, and locks the mutex again. The condition may have become false in
  /// between: check it again, or use the overload with a predicate. Stops the program when the mutex is not locked.
  ///
  /// Cancel: stops waiting, locks the mutex again (which may take a while), then throws: the mutex is always locked
  /// afterwards. A waiter that was notified before the cancel passes the notification on to the next waiter.
  [[nodiscard("co_await it")]] condition_wait_op wait() noexcept { return condition_wait_op(*this); }

  /// Waits until `condition()` is true. Returns at once when it is true already.
  ///
  /// Lifetime: `condition` is kept until then. Cancel: same as wait().
  template <class Condition>
    requires requires(std::decay_t<Condition>& c) { static_cast<bool>(c()); }
  [[nodiscard]] GYRE_CORO_WRAPPER task<> wait(Condition&& condition) {
    static_assert(
        !may_be_destroyed_twice<Condition>,
        "g++ 12 would destroy the captures of this lambda twice: name it first, and pass it without std::move");
    return wait_until_true(std::decay_t<Condition>(std::forward<Condition>(condition)));
  }

  /// Wakes the `count` tasks that have waited longest. They continue one after the other as they get the mutex.
  void notify(std::size_t count = 1) noexcept;
  void notify_all() noexcept { notify(static_cast<std::size_t>(-1)); }

 private:
  template <class Condition>
  task<> wait_until_true(Condition condition) {
    while (!condition()) co_await wait();
  }

  friend class condition_wait_op;
  mutex* mutex_;
  wait_queue_of<"a condition_variable"> waiters_;
  node_list<notified_waiter> notified_;
  owner_loop_of<"a condition_variable"> owner_;
};

inline void condition_wait_op::await_resume() {
  if (notified_.condition != nullptr) notified_.condition->notified_.unlink(notified_);
  mutex_->set_holder(holder_);
  if (given_up_) throw_cancelled();
}

}  // namespace gyre
