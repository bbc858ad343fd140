// gyre/coro/context.hpp: the data that every coroutine frame records, and the task to which frames belong.
// For authors of operations.
#pragma once

#include <gyre/attributes.hpp>

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <source_location>

namespace gyre {

class cancel_scope;
struct task_local_binding;

/// The operation in which a task is suspended. A cancelled scope ends it early through `cancel`.
///
/// `cancel` must not resume the task. It only requests the end; the operation completes through its loop as usual.
struct cancellable {
  void (*cancel)(cancellable&) noexcept = nullptr;
};

struct frame_base;
struct task_context;

/// The name of a task, and where it was spawned. The name is empty when the task has none.
struct task_description {
  const char* name;
  std::size_t name_length;
  std::source_location spawned_at;
  std::uint64_t number;  ///< unique in its loop; a later task may have the same address
};

/// The interface through which lower layers see a way to run tasks.
struct task_kind {
  /// Called when the outermost coroutine has ended: it is at its final suspension point and not yet destroyed.
  void (*ended)(task_context&) noexcept;
  task_description (*describe)(const task_context&) noexcept;
  /// The scope above all tasks of the loop that runs the task. Spares checks the walk up the scopes.
  const cancel_scope* (*top_scope)(const task_context&) noexcept;
};

/// One logical thread of coroutines: a chain of frames. Only the innermost frame can run.
///
/// Thread: belongs to one loop.
struct task_context {
  cancel_scope* scope = nullptr;    ///< innermost open scope of this task
  cancellable* leaf = nullptr;      ///< the operation that suspends it; null while it runs or waits for tasks to end
  frame_base* innermost = nullptr;  ///< its suspended frame; null while it runs and after it has ended
  task_local_binding* locals = nullptr;  ///< values bound by task_local

  const task_kind* kind = nullptr;  ///< null for a context that runs no coroutine
  std::uint32_t open = 0;           ///< number of open scopes and bindings of this task
  bool cancel_pending = false;      ///< the innermost scope is cancelled; tested by every await
};

/// The part of a promise that does not depend on its result. Must be the first base of a promise whose alignment is at
/// most that of std::max_align_t, because a handle is made from its address.
struct frame_base {
  frame_base* caller = nullptr;     ///< the coroutine that awaits this one; null for a task's outermost frame
  task_context* context = nullptr;  ///< set when it is awaited or spawned
  std::source_location where;       ///< its current await, or else its last one
  std::exception_ptr failure;       ///< the exception that left the coroutine

  [[nodiscard]] std::coroutine_handle<> handle() noexcept {
    return std::coroutine_handle<frame_base>::from_promise(*this);
  }
};

/// Throws gyre::cancelled. Out of line, so that the check costs an await three instructions.
[[noreturn]] GYRE_API void throw_cancelled();

/// An awaitable that may be awaited in a cancelled scope declares `ignores_cancel = true` (shielded clean-up, waiting
/// for children).
template <class Awaitable>
concept ignores_cancel = requires { requires std::remove_reference_t<Awaitable>::ignores_cancel; };

/// Returns the running task's context: `task_context& context = co_await this_task_context{};`
/// Never suspends. Cancel: never fails.
struct this_task_context {
  static constexpr bool ignores_cancel = true;
  task_context* context = nullptr;

  static constexpr bool await_ready() noexcept { return false; }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> caller) noexcept {
    context = static_cast<frame_base&>(caller.promise()).context;
    return false;
  }
  task_context& await_resume() const noexcept { return *context; }
};

}  // namespace gyre
