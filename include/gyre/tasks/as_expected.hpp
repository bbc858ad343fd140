// gyre/tasks/as_expected.hpp: returns the error of a task as a value instead of an exception.
#pragma once

#include <gyre/loop/as_expected.hpp>
#include <gyre/tasks/as_task.hpp>
#include <gyre/tasks/task_handle.hpp>

#include <expected>
#include <system_error>
#include <type_traits>
#include <utility>

namespace gyre {

/// Awaits `awaitable`, and returns the code of a std::system_error that it throws.
/// Cancel: same as the awaitable. Errors: all other exceptions of the awaitable.
template <class A>
task<std::expected<storable<await_result<A>>, std::error_code>> run_expected(A awaitable) {
  try {
    if constexpr (std::is_void_v<await_result<A>>) {
      co_await std::forward<A>(awaitable);
      co_return std::expected<void, std::error_code>();
    } else {
      co_return co_await std::forward<A>(awaitable);
    }
  } catch (const std::system_error& error) {
    co_return std::unexpected(error.code());
  }
}

/// `co_await as_expected(timeout(2s, fetch()))` returns std::expected<T, std::error_code>, as for an operation; with a
/// reference_to<U> for a task<U&>. The code of an io_error, a timed_out or another std::system_error becomes the value.
/// A code cannot express other exceptions, so they are thrown; as_result turns them into values too.
///
/// Cancel: same as the awaitable; `cancelled` is thrown and never becomes a value.
template <awaitable_value A>
  requires(!fallible_operation<A>)
[[nodiscard]] GYRE_CORO_WRAPPER task<std::expected<storable<await_result<A>>, std::error_code>> as_expected(
    A awaitable) {
  return run_expected<A>(std::move(awaitable));
}
/// The same for a running task, which continues when the caller is cancelled.
///
/// Lifetime: the handle must outlive the await. Cancel: stops waiting.
template <class T>
[[nodiscard]] GYRE_CORO_WRAPPER task<std::expected<storable<T>, std::error_code>> as_expected(task_handle<T>& handle) {
  return run_expected<task_handle<T>&>(handle);
}
/// Rejects everything else.
template <class F>
  requires(!gyre_awaitable<F>)
auto as_expected(F&& /*function*/) {
  static_assert(misused<F>,
                "as_expected takes a task or an operation; call a function to get its task: as_expected(f())");
}

}  // namespace gyre
