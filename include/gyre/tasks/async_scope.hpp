// gyre/tasks/async_scope.hpp: background tasks that belong to an object.
#pragma once

#include <gyre/coro/misuse.hpp>
#include <gyre/tasks/task_group.hpp>

#include <cstddef>
#include <source_location>
#include <utility>

namespace gyre {

/// Owns background tasks: make it a member of an object whose tasks must end before the object is destroyed. Each task
/// fails alone: its exception goes to the loop's handler. Where the tasks belong to a region of code, use a task_group.
///
/// Thread: belongs to one loop. Lifetime: await `join` before it is destroyed; the program is stopped otherwise.
class GYRE_API async_scope : private child_tasks {
 public:
  /// Belongs to the loop of this thread.
  async_scope() : child_tasks(loop_for("async_scope").root_scope(), &ended) {}
  ~async_scope() {
    if (running() > 0) [[unlikely]]
      misuse("an async_scope was destroyed while its tasks run: co_await scope.join() first");
  }

  /// Starts a task. It runs from the caller's next suspension point on.
  template <class T>
  void spawn(task<T> child, const spawn_options& options = {},
             std::source_location where = std::source_location::current()) {
    start(std::move(child), options, where).release();
  }
  /// The same for `f()`: a lambda and its captures live as long as the task.
  template <class F>
  void spawn(F function, const spawn_options& options = {},
             std::source_location where = std::source_location::current()) {
    static_assert(
        task_function<F>,
        "spawn takes a task, or a function without parameters that returns one; as_task makes a task of an operation");
    if constexpr (task_function<F>) spawn(call_in_frame(std::move(function)), options, where);
  }

  /// Cancels all tasks, including later ones. Await `join` then.
  void cancel() noexcept {
    check_loop("cancel");
    scope().cancel();
  }

  /// Waits until no task is left; more may be spawned afterwards. Stops the program in one of the tasks, which would
  /// wait for itself.
  ///
  /// Cancel: not ended by a cancel, so that it can be awaited while a task is being cancelled; cancel the scope as
  /// well.
  [[nodiscard]] children_ended_op join() noexcept { return all_ended(); }

  /// The number of tasks that have not ended.
  [[nodiscard]] std::size_t size() const noexcept {
    check_loop("size");
    return running();
  }

 private:
  static void ended(child_tasks& children, task_state& child) noexcept;
};

}  // namespace gyre
