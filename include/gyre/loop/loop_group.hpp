// gyre/loop/loop_group.hpp: the loops of one runtime, and how they end together.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/loop/event_loop.hpp>

#include <cstddef>

namespace gyre {

/// The loops of one runtime, in the order in which they were added. Loops are added, and all of them end together.
///
/// A loop whose tasks have ended keeps serving the others until the tasks of all loops have ended and no message is on
/// its way. So a task may use every loop of its group for as long as it runs, also while it cleans up.
///
/// Thread: any. Lifetime: must outlive its loops.
class GYRE_API loop_group {
 public:
  static constexpr std::size_t max_loops = 1024;

  /// `grow(argument, size)` starts further loops; see grow(). Errors: std::bad_alloc.
  loop_group(void (*grow)(void* argument, std::size_t size), void* argument);
  loop_group& operator=(loop_group&&) = delete;
  ~loop_group();

  [[nodiscard]] std::size_t size() const noexcept;
  /// Stops the program when there is no loop with this index.
  [[nodiscard]] event_loop& operator[](std::size_t index) const noexcept;

  /// Adds a loop. Thread: that of `loop`. Errors: std::length_error for more than max_loops; std::logic_error when the
  /// group has begun to end.
  void add(event_loop& loop);

  /// Starts loops until there are `size`, and returns when they run. No-op when there are as many. Blocks the calling
  /// thread meanwhile. Errors: same as runtime().
  void grow(std::size_t size);

  /// For a thread that only serves a loop: runs it until the group is asked to end.
  void serve(event_loop& loop);
  /// Makes `serve` return on every loop. Each thread must then shut its loop down. Idempotent.
  void request_end() noexcept;
  /// True after request_end().
  [[nodiscard]] bool is_ending() const noexcept;

 private:
  friend class event_loop;
  /// Called by a loop that has nothing left to do in `stage`. Returns true when that is so on every loop. Otherwise the
  /// loop must call wait_for_others().
  [[nodiscard]] bool is_over(const event_loop& loop, event_loop::end_stage stage) noexcept;
  /// Sleeps until a message has arrived or the stage is over. Returns true in the second case.
  [[nodiscard]] bool wait_for_others(event_loop& loop, event_loop::end_stage stage) noexcept;

  struct member;
  struct state;
  void (*grow_)(void* argument, std::size_t size);
  void* argument_;
  state* state_;
};

}  // namespace gyre
