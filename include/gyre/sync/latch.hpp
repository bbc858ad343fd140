// gyre/sync/latch.hpp: waits until a number of things have happened.
#pragma once

#include <gyre/sync/wait_queue.hpp>

#include <cstddef>

namespace gyre {

class latch;

/// The operation of wait(): waits until the count is 0.
class [[nodiscard("co_await it"), gnu::warn_unused]] latch_wait_op : public queued_operation<latch_wait_op> {
 public:
  explicit latch_wait_op(latch& awaited) noexcept : latch_(&awaited) {}
  bool try_now() noexcept;
  wait_queue& waits_in() noexcept;

 private:
  latch* latch_;
};

/// A count that goes down to 0 once. Then it wakes all waiting tasks.
///
/// Thread: belongs to one loop. Lifetime: must outlive the tasks that wait for it.
class latch {
 public:
  explicit latch(std::size_t count) noexcept : count_(count) {}

  /// Counts down. Stops the program when `by` is more than the remaining count.
  void count_down(std::size_t by = 1) noexcept {
    owner_.check("count_down");
    if (by > count_) misuse("a latch was counted down below 0: make it with a higher count");
    count_ -= by;
    if (count_ == 0) waiters_.grant_all();
  }

  /// Waits until the count is 0.
  ///
  /// Cancel: stops waiting.
  [[nodiscard("co_await it")]] latch_wait_op wait() noexcept { return latch_wait_op(*this); }

  /// Counts down and waits.
  ///
  /// Cancel: stops waiting; the count stays reduced.
  [[nodiscard("co_await it")]] latch_wait_op arrive_and_wait(std::size_t by = 1) noexcept {
    count_down(by);
    return wait();
  }

  [[nodiscard]] bool try_wait() const noexcept { return count() == 0; }
  [[nodiscard]] std::size_t count() const noexcept {
    owner_.check("count");
    return count_;
  }

 private:
  friend class latch_wait_op;
  wait_queue_of<"a latch"> waiters_;
  std::size_t count_;
  owner_loop_of<"a latch"> owner_;
};

inline bool latch_wait_op::try_now() noexcept {
  latch_->owner_.check("wait");
  return latch_->count_ == 0;
}
inline wait_queue& latch_wait_op::waits_in() noexcept { return latch_->waiters_; }

}  // namespace gyre
