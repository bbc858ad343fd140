// gyre/coro/call_stack.hpp: the chain of awaiting coroutines, and the place of each await.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/coro/context.hpp>

#include <cstddef>
#include <cstdio>
#include <source_location>

namespace gyre {

/// The chain of awaiting coroutines at one moment, innermost first: function, file and line of each await.
class GYRE_API call_stack_trace {
 public:
  /// Errors: std::bad_alloc.
  explicit call_stack_trace(const frame_base* innermost);
  call_stack_trace(call_stack_trace&& other) noexcept;
  call_stack_trace& operator=(call_stack_trace&& other) noexcept;
  ~call_stack_trace();

  [[nodiscard]] const std::source_location* begin() const noexcept { return entries_; }
  [[nodiscard]] const std::source_location* end() const noexcept { return entries_ + size_; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] const std::source_location& operator[](std::size_t i) const noexcept { return entries_[i]; }

 private:
  std::source_location* entries_ = nullptr;
  std::size_t size_ = 0;
};

struct [[nodiscard("co_await it")]] call_stack_op {
  static constexpr bool ignores_cancel = true;
  const frame_base* frame = nullptr;

  static constexpr bool await_ready() noexcept { return false; }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> caller) noexcept {
    frame = &static_cast<frame_base&>(caller.promise());
    return false;
  }
  [[nodiscard]] call_stack_trace await_resume() const { return call_stack_trace(frame); }
};

/// `co_await call_stack()` returns the stack of the running task.
///
/// Cancel: never fails, also in a cancelled scope. Errors: std::bad_alloc.
[[nodiscard]] inline call_stack_op call_stack() noexcept { return {}; }

/// Returns the stack of a suspended task. Empty for a task that is running, has not run yet, or has ended.
[[nodiscard]] inline call_stack_trace call_stack_of(const task_context& task) {
  return call_stack_trace(task.innermost);
}

/// Prints one line per coroutine: `[0] factorial  program.cpp:12`. short_function_name shortens the names.
/// Paths are printed as the compiler received them. -fmacro-prefix-map=SOURCE_ROOT/= makes them relative to the source
/// root.
GYRE_API void print_call_stack(const call_stack_trace& stack, std::FILE* out = stderr);

}  // namespace gyre
