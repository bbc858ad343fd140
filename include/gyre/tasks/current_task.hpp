// gyre/tasks/current_task.hpp: a running task, seen from inside.
#pragma once

#include <gyre/tasks/task_state.hpp>

#include <string_view>

namespace gyre {

/// The task that runs this code. Cheap to copy.
///
/// Lifetime: until the task ends; do not hand it to others. Thread: belongs to the loop of the task.
class this_task {
 public:
  explicit this_task(task_state& state) noexcept : state_(&state) {}

  /// Empty when it was spawned without a name.
  [[nodiscard]] std::string_view name() const noexcept { return state_->name(); }
  /// Cancels the task that runs: its next await fails.
  void cancel() noexcept { state_->root.cancel(); }
  /// How many cancels of this task, by its handle or by `cancel`, were not taken back.
  [[nodiscard]] unsigned cancelling() const noexcept { return state_->root.cancel_requests(); }
  /// Takes one of them back and gives how many are left: a task that has caught `cancelled` and goes on calls this.
  /// asyncio: `current_task().uncancel()`.
  unsigned uncancel() noexcept {
    state_->root.uncancel();
    return cancelling();
  }

 private:
  task_state* state_;
};

/// What `co_await current_task()` awaits.
struct [[nodiscard("co_await it")]] current_task_op : this_task_context {
  [[nodiscard]] this_task await_resume() const noexcept { return this_task(static_cast<task_state&>(*context)); }
};

/// `gyre::this_task self = co_await gyre::current_task();` Never suspends. Cancel: never fails. asyncio: current_task.
[[nodiscard]] inline current_task_op current_task() noexcept { return {}; }

}  // namespace gyre
