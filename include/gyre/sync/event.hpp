// gyre/sync/event.hpp: a flag that tasks can wait for.
#pragma once

#include <gyre/sync/wait_queue.hpp>

namespace gyre {

class event;

/// The operation of wait(): waits until the event is set.
class [[nodiscard("co_await it"), gnu::warn_unused]] event_wait_op : public queued_operation<event_wait_op> {
 public:
  explicit event_wait_op(event& awaited) noexcept : event_(&awaited) {}
  bool try_now() noexcept;
  wait_queue& waits_in() noexcept;

 private:
  event* event_;
};

/// A flag that tasks can wait for.
///
/// Thread: belongs to one loop; from another thread: `loop.post([&] { happened.set(); })`.
class event {
 public:
  /// Waits until it is set. Returns at once when it is set already. Setting it wakes all waiting tasks, even if it is
  /// cleared at once.
  ///
  /// Cancel: stops waiting.
  [[nodiscard("co_await it")]] event_wait_op wait() noexcept { return event_wait_op(*this); }

  /// Wakes all waiting tasks. Until it is cleared, later tasks do not wait.
  void set() noexcept {
    owner_.check("set");
    set_ = true;
    waiters_.grant_all();
  }
  void clear() noexcept {
    owner_.check("clear");
    set_ = false;
  }
  [[nodiscard]] bool is_set() const noexcept {
    owner_.check("is_set");
    return set_;
  }

 private:
  friend class event_wait_op;
  wait_queue_of<"an event"> waiters_;
  bool set_ = false;
  owner_loop_of<"an event"> owner_;
};

inline bool event_wait_op::try_now() noexcept {
  event_->owner_.check("wait");
  return event_->set_;
}
inline wait_queue& event_wait_op::waits_in() noexcept { return event_->waiters_; }

}  // namespace gyre
