// gyre/tasks/spawn.hpp: starts a task that runs concurrently with the spawning one.
#pragma once

#include <gyre/tasks/task_handle.hpp>

#include <source_location>
#include <type_traits>
#include <utility>

namespace gyre {

/// A callable that returns a task.
template <class F, class... Args>
concept task_function = requires(F f, Args... args) { typename decltype(f(std::move(args)...))::promise_type; };

/// Keeps a callable and its arguments alive while the task that they create runs.
template <class F, class... Args>
  requires task_function<F, Args...>
auto call_in_frame(F function, Args... args) -> decltype(function(std::move(args)...)) {
  co_return co_await function(std::move(args)...);
}

/// Starts a task on this loop, as a child of the loop: it runs until it ends or the loop shuts down. It starts at the
/// caller's next suspension point; if it is cancelled before that, it never runs. Prefer a task_group, which ties tasks
/// to a region of the code.
template <class T>
[[nodiscard("a dropped handle lets the task run on in the background: say so with detach()")]] task_handle<T> spawn(
    task<T> started GYRE_LIFETIMEBOUND, const spawn_options& options = {},
    std::source_location where = std::source_location::current()) {
  event_loop& loop = loop_for("spawn");
  task_state& state = task_state::create(std::move(started), loop, loop.root_scope(), nullptr, options, where);
  return task_handle<T>(state);
}

/// The same for `f()`: a lambda and its captures live as long as the task.
template <class F>
[[nodiscard("a dropped handle lets the task run on in the background: say so with detach()")]] auto spawn(
    F function, const spawn_options& options = {}, std::source_location where = std::source_location::current()) {
  static_assert(
      task_function<F>,
      "spawn takes a task, or a function without parameters that returns one; as_task makes a task of an operation");
  if constexpr (task_function<F>) return spawn(call_in_frame(std::move(function)), options, where);
}

}  // namespace gyre
