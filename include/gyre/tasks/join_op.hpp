// gyre/tasks/join_op.hpp: waits for one task to end. For authors of operations.
#pragma once

#include <gyre/tasks/task_state.hpp>

namespace gyre {

/// Waits for a task to end. Cancel: stops waiting; the task continues.
class GYRE_API [[nodiscard("co_await it")]] join_op : public operation<join_op>, protected task_watcher {
 public:
  explicit join_op(task_state& task) noexcept : task_watcher(task, &task_ended) {}
  bool try_now() noexcept { return keep_if_ended(); }
  void start() noexcept {
    if (waiter->context == &watched()) [[unlikely]]
      stop_awaiting_itself();
    watch("co_await");
  }
  void on_cancel() noexcept;
  void await_resume() const {
    if (!watched().done()) throw_cancelled();
  }

 private:
  friend struct task_state;
  [[noreturn]] static void stop_awaiting_itself() noexcept;
  static void task_ended(task_watcher& watcher) noexcept { static_cast<join_op&>(watcher).finish_soon(); }
};

/// The same, not interrupted by a cancel: for a task that was cancelled and will end soon.
class GYRE_API [[nodiscard("co_await it")]] uninterrupted_join_op : public operation<uninterrupted_join_op>,
                                                                    protected task_watcher {
 public:
  static constexpr bool ignores_cancel = true;
  explicit uninterrupted_join_op(task_state& task) noexcept : task_watcher(task, &task_ended) {}
  bool try_now() noexcept { return keep_if_ended(); }
  void start() noexcept { watch(); }
  void on_cancel() noexcept {}
  void await_resume() const noexcept {}

 private:
  static void task_ended(task_watcher& watcher) noexcept { static_cast<uninterrupted_join_op&>(watcher).finish_soon(); }
};

}  // namespace gyre
