// gyre/tasks/as_result.hpp: the exception of an awaitable as a value.
#pragma once

#include <gyre/coro/cancelled.hpp>
#include <gyre/coro/misuse.hpp>
#include <gyre/tasks/as_task.hpp>

#include <exception>
#include <expected>
#include <type_traits>
#include <utility>

namespace gyre {

/// `co_await as_result(fetch())` gives std::expected<T, std::exception_ptr>: what a supervisor wants, and clean-up, which
/// C++ does not let await in a catch block. `gather(as_result(a), as_result(b))` lets all finish whatever fails.
///
/// Cancel: as the awaitable; `cancelled` is thrown on and is no result.
template <awaitable_value A>
[[nodiscard]] task<std::expected<await_result<A>, std::exception_ptr>> as_result(A awaitable) {
  try {
    if constexpr (std::is_void_v<await_result<A>>) {
      co_await std::move(awaitable);
      co_return std::expected<void, std::exception_ptr>();
    } else {
      co_return co_await std::move(awaitable);
    }
  } catch (const cancelled&) {
    throw;
  } catch (...) {  // it is the result
    co_return std::unexpected(std::current_exception());
  }
}
/// Refuses everything else.
template <class F>
  requires(!gyre_awaitable<F>)
auto as_result(F&& /*function*/) {
  static_assert(misused<F>, "as_result takes a task or an operation; call a function to get its task: as_result(f())");
}

}  // namespace gyre
