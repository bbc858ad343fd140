// gyre/sync/event.hpp: something that has happened, or not yet.
#pragma once

#include <gyre/sync/wait_queue.hpp>

namespace gyre {

class event;

/// wait(): until the event is set.
class [[nodiscard("co_await it"), gnu::warn_unused]] event_wait_op : public queued_operation<event_wait_op> {
 public:
  explicit event_wait_op(event& awaited) noexcept : event_(&awaited) {}
  bool try_now() noexcept;
  wait_queue& waits_in() noexcept;

 private:
  event* event_;
};

/// A flag that tasks wait for.
///
/// Thread: belongs to one loop; from another thread: `loop.post([&] { happened.set(); })`.
class event {
 public:
  /// Waits until it is set; does not wait when it is. Who waits when it is set goes on, also when it is cleared at once.
  ///
  /// Cancel: stops waiting.
  [[nodiscard("co_await it")]] event_wait_op wait() noexcept { return event_wait_op(*this); }

  /// Lets all who wait go on, and who comes later not wait.
  void set() noexcept {
    set_ = true;
    waiters_.grant_all();
  }
  void clear() noexcept { set_ = false; }
  [[nodiscard]] bool is_set() const noexcept { return set_; }

 private:
  friend class event_wait_op;
  wait_queue_of<"an event"> waiters_;
  bool set_ = false;
};

inline bool event_wait_op::try_now() noexcept { return event_->is_set(); }
inline wait_queue& event_wait_op::waits_in() noexcept { return event_->waiters_; }

}  // namespace gyre
