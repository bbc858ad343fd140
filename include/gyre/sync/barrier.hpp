// gyre/sync/barrier.hpp: a reusable meeting point of several tasks.
#pragma once

#include <gyre/sync/sync_error.hpp>
#include <gyre/sync/wait_queue.hpp>

#include <cstddef>

namespace gyre {

class barrier;

/// The operation of wait(): waits until all parties have arrived.
class GYRE_API [[nodiscard("co_await it")]] barrier_wait_op : public queued_operation<barrier_wait_op, std::size_t> {
 public:
  explicit barrier_wait_op(barrier& awaited) noexcept : barrier_(&awaited) {}
  bool try_now() noexcept;
  wait_queue& waits_in() noexcept;
  std::size_t take_value() const noexcept { return position_; }
  static std::error_code refusal() noexcept { return sync_errc::broken; }
  [[noreturn]] static void refuse() { throw broken_barrier(); }

 private:
  friend class barrier;
  barrier* barrier_;
  std::size_t position_ = 0;
};

/// Releases the waiting tasks when as many wait as there are parties. Then it starts over.
///
/// Thread: belongs to one loop. Lifetime: must outlive the tasks that wait at it.
class GYRE_API barrier {
 public:
  /// There must be at least one party.
  explicit barrier(std::size_t parties) noexcept : parties_(parties) {
    if (parties == 0) misuse("a barrier needs at least one party");
  }

  /// Waits for the other parties. Returns a different number to each, from 0 to parties - 1, in the order of arrival.
  ///
  /// Cancel: the task counts as not arrived, and the others wait for one more. Errors: broken_barrier.
  [[nodiscard("co_await it")]] barrier_wait_op wait() noexcept { return barrier_wait_op(*this); }

  /// Breaks the barrier: all waiting and later tasks get broken_barrier until it is reset.
  void abort() noexcept;
  /// Resets the barrier to its initial state. Waiting tasks get broken_barrier.
  void reset() noexcept;

  [[nodiscard]] bool broken() const noexcept {
    owner_.check("broken");
    return broken_;
  }
  [[nodiscard]] std::size_t parties() const noexcept { return parties_; }
  /// The number of waiting tasks.
  [[nodiscard]] std::size_t waiting() const noexcept;

 private:
  friend class barrier_wait_op;
  wait_queue_of<"a barrier"> waiters_;
  std::size_t parties_;
  bool broken_ = false;
  owner_loop_of<"a barrier"> owner_;
};

}  // namespace gyre
