// gyre/tasks/current_task.hpp: a running task, seen from inside.
#pragma once

#include <gyre/tasks/task_state.hpp>

#include <string_view>

namespace gyre {

/// The task that runs this code. Cheap to copy.
///
/// Lifetime: until the task ends; do not pass it to other tasks. Thread: belongs to the loop of the task.
class this_task {
 public:
  explicit this_task(task_state& state) noexcept : state_(&state) {}

  /// Empty when it was spawned without a name.
  [[nodiscard]] std::string_view name() const noexcept { return state_->name(); }
  /// Cancels the running task: its next await fails.
  void cancel() noexcept {
    state_->check_loop("cancel", "a this_task");
    state_->root.cancel();
  }
  /// The number of cancels of this task, by its handle or by `cancel`, that were not reverted.
  [[nodiscard]] unsigned cancelling() const noexcept { return state_->root.cancel_requests(); }
  /// Reverts one of them and returns the number that is left. A task that has caught `cancelled` and continues calls
  /// this. asyncio: `current_task().uncancel()`.
  unsigned uncancel() noexcept {
    state_->check_loop("uncancel", "a this_task");
    state_->root.uncancel();
    return cancelling();
  }

 private:
  task_state* state_;
};

/// The awaitable of `co_await current_task()`.
struct [[nodiscard("co_await it")]] current_task_op : this_task_context {
  [[nodiscard]] this_task await_resume() const noexcept { return this_task(static_cast<task_state&>(*context)); }
};

/// `gyre::this_task self = co_await gyre::current_task();` Never suspends. Cancel: never fails. asyncio: current_task.
[[nodiscard]] inline current_task_op current_task() noexcept { return {}; }

}  // namespace gyre
