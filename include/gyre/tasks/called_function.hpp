// gyre/tasks/called_function.hpp: a function that another thread calls for a task that waits, and its result.
// For authors of operations.
#pragma once

#include <gyre/loop/task_local.hpp>
#include <gyre/tasks/as_task.hpp>

#include <exception>
#include <optional>
#include <type_traits>
#include <utility>

namespace gyre {

/// The common part of to_thread() and via(), which differ in who calls the function.
template <class F>
class called_function {
 public:
  using result_type = std::invoke_result_t<F&>;

  explicit called_function(F&& function) noexcept(std::is_nothrow_move_constructible_v<F>)
      : function_(std::move(function)) {}
  /// Only before the call.
  called_function(called_function&& other) noexcept(std::is_nothrow_move_constructible_v<F>)
      : function_(std::move(other.function_)) {}

  /// The function will see the task_local values of the current task, which keeps them while it waits.
  void begin() noexcept { locals_ = task_local_binding::visible(); }
  /// Calls the function, on any thread.
  void call() noexcept {
    const lent_bindings lent(locals_);
    try {
      if constexpr (std::is_void_v<result_type>)
        function_();
      else
        result_.emplace(function_());
    } catch (...) {
      failure_ = std::current_exception();
    }
  }
  /// Follows the call, on the thread of the task. Errors: the exception of the function.
  result_type take() {
    if (failure_) std::rethrow_exception(std::move(failure_));
    if constexpr (!std::is_void_v<result_type>)
      return *std::move(result_);  // NOLINT(bugprone-unchecked-optional-access): no failure
  }

 private:
  F function_;
  std::optional<held_result<result_type>> result_;
  std::exception_ptr failure_;
  task_local_binding* locals_ = nullptr;
};

}  // namespace gyre
