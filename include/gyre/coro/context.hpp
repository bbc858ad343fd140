// gyre/coro/context.hpp: what every coroutine frame records, and the task that frames belong to.
// For authors of awaitables; users see it only through call stacks and cancel scopes.
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

/// The operation in which a task is suspended: how a cancelled scope ends it early.
///
/// `cancel` must not resume the task: it asks, and the operation completes through its loop as usual.
struct cancellable {
  void (*cancel)(cancellable&) noexcept = nullptr;
};

struct frame_base;
struct task_context;

/// How a task is called, and where it was spawned. The name is empty when it has none.
struct task_description {
  const char* name;
  std::size_t name_length;
  std::source_location spawned_at;
  std::uint64_t number;  ///< among the tasks of its loop, of which a later one may have the same address
};

/// What the layers below know of a way to run tasks.
struct task_kind {
  /// Called when the outermost coroutine has ended (it is suspended for the last time, not destroyed).
  void (*ended)(task_context&) noexcept;
  task_description (*describe)(const task_context&) noexcept;
};

/// One logical thread of coroutines: a chain of frames of which only the innermost can run.
///
/// Thread: belongs to one loop.
struct task_context {
  cancel_scope* scope = nullptr;    ///< innermost scope that is open in this task
  cancellable* leaf = nullptr;      ///< what it is suspended in; null while it runs or waits for others to end
  frame_base* innermost = nullptr;  ///< the frame that is suspended in it; null while it runs and when it has ended
  task_local_binding* locals = nullptr;  ///< values bound by task_local

  const task_kind* kind = nullptr;  ///< null for a context that runs no coroutine
  std::uint32_t open = 0;           ///< how many scopes and bindings of this task are open
  bool cancel_pending = false;      ///< the innermost scope is cancelled: the flag that every await tests
};

/// The part of a promise that does not depend on its result. Must be the first base of a promise whose
/// alignment is at most that of std::max_align_t: a handle is made from its address.
struct frame_base {
  frame_base* caller = nullptr;     ///< the coroutine that awaits this one; null for a task's outermost
  task_context* context = nullptr;  ///< set when it is awaited or spawned
  std::source_location where;       ///< the await that it is (or was last) suspended in
  std::exception_ptr failure;       ///< what left the coroutine instead of a result

  [[nodiscard]] std::coroutine_handle<> handle() noexcept {
    return std::coroutine_handle<frame_base>::from_promise(*this);
  }
};

/// Throws gyre::cancelled. Out of line, so that a test for it costs an await three instructions.
[[noreturn]] GYRE_API void throw_cancelled();

/// Who may be awaited although the scope is cancelled: an awaitable that says `ignores_cancel = true`
/// (shielded clean-up, waiting for children).
template <class Awaitable>
concept ignores_cancel = requires { requires std::remove_reference_t<Awaitable>::ignores_cancel; };

/// Gives the running task's context: `task_context& context = co_await this_task_context{};`
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
