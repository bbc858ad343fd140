// gyre/sync/shared_line.hpp: the line of tasks and threads that wait for other threads. For authors of operations.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/io/node_list.hpp>
#include <gyre/loop/operation.hpp>

#include <system_error>

namespace gyre {

class shared_line;
class sleeping_thread;

/// A waiter: a task of some loop, or a thread. Guarded by the lock of the object for which it waits.
struct shared_waiter {
  shared_waiter* previous = nullptr;
  shared_waiter* next = nullptr;
  shared_line* stands_in = nullptr;
  void (*wake)(shared_waiter&) noexcept = nullptr;  ///< any thread; the waiter may be gone when it returns
  sleeping_thread* thread = nullptr;                ///< set when a thread waits, not a task
  bool refused = false;                             ///< it continues without a result: closed
};

/// First-in, first-out line of waiters.
class GYRE_API shared_line : private node_list<shared_waiter> {
 public:
  using node_list::empty;
  using node_list::first;
  void push_back(shared_waiter& waiter) noexcept {
    link_last(waiter);
    waiter.stands_in = this;
  }
  void remove(shared_waiter& waiter) noexcept {
    unlink(waiter);
    waiter.stands_in = nullptr;
  }
  /// Removes and wakes the first waiter. There must be one.
  void wake_first() noexcept;
  /// Removes all waiters and wakes them with an error.
  void refuse_all() noexcept;
};

/// A lock that is held for a few instructions. Defined out of line, so that the headers do not include what it needs.
class GYRE_API shared_lock {
 public:
  shared_lock();
  ~shared_lock();
  shared_lock& operator=(shared_lock&&) = delete;
  void lock() noexcept;
  void unlock() noexcept;

 private:
  struct state;
  state* state_;
};

/// Holds a shared_lock until the end of the block, even when an exception ends it.
class shared_lock_guard {
 public:
  explicit shared_lock_guard(shared_lock& wanted GYRE_LIFETIMEBOUND) noexcept : lock_(wanted) { lock_.lock(); }
  ~shared_lock_guard() { lock_.unlock(); }
  shared_lock_guard& operator=(shared_lock_guard&&) = delete;

 private:
  shared_lock& lock_;
};

/// A thread without a loop that waits in a line.
class GYRE_API sleeping_thread {
 public:
  /// Errors: std::logic_error, which names `operation`, on the thread of a loop; std::bad_alloc.
  sleeping_thread(shared_waiter& waiter, const char* operation);
  ~sleeping_thread();
  sleeping_thread& operator=(sleeping_thread&&) = delete;
  /// Sleeps until the waiter is woken. `lock` is that of the line, and the caller must not hold it.
  void sleep(shared_lock& lock) noexcept;

 private:
  struct state;
  state* state_;
};

/// Base of operations that wait in a shared_line. `Slot`, a shared_waiter, holds the value that is handed over. The
/// task is woken through the inbox of its loop.
///
/// Derived provides `bool attempt()`, which is called with the lock held, `shared_line& waits_in()` and `shared_lock&
/// lock()`.
template <class Derived, class Slot>
class shared_operation : public operation<Derived>, public Slot {
 public:
  bool try_now() {
    const shared_lock_guard locked(self().lock());
    return self().attempt();
  }
  void start() {
    const shared_lock_guard locked(self().lock());
    if (self().attempt()) return this->finish_soon();  // it succeeded in between
    loop_ = &event_loop::current();
    loop_->expect_post();
    io::completion::complete = call_member<&shared_operation::on_arrival>;
    Slot::wake = call_member<&shared_operation::on_wake>;
    self().waits_in().push_back(*this);
  }
  void on_cancel() noexcept {
    shared_lock& lock = self().lock();
    lock.lock();
    const bool waits = Slot::stands_in != nullptr;
    if (waits) Slot::stands_in->remove(*this);
    lock.unlock();
    if (!waits) return;  // served: success wins over cancel
    event_loop::current().expected_post_arrived();
    withdrawn_ = true;
    this->finish_soon();
  }

 protected:
  /// The error of an await that ended early or was refused; 0 after success.
  [[nodiscard]] std::error_code outcome(std::error_code refusal) const {
    if (withdrawn_) return this->cancel_error();
    return Slot::refused ? refusal : std::error_code();
  }

 public:
  [[nodiscard]] bool fully_succeeded() const noexcept { return !withdrawn_ && !Slot::refused; }

 private:
  Derived& self() noexcept { return static_cast<Derived&>(*this); }
  // On the thread of the one that wakes.
  void on_wake() noexcept { loop_->post(static_cast<io::completion&>(*this)); }
  void on_arrival() noexcept {
    event_loop::current().expected_post_arrived();
    this->proceed(*this);
  }

  event_loop* loop_ = nullptr;
  bool withdrawn_ = false;
};

}  // namespace gyre
