// gyre/tasks/as_result.hpp: returns the exception of an awaitable as a value.
#pragma once

#include <gyre/coro/cancelled.hpp>
#include <gyre/coro/misuse.hpp>
#include <gyre/tasks/as_task.hpp>

#include <exception>
#include <expected>
#include <type_traits>
#include <utility>

namespace gyre {

/// `co_await as_result(fetch())` returns std::expected<T, std::exception_ptr>, with a reference_to<U> for a task<U&>.
/// For supervisors, and for clean-up, because C++ allows no await in a catch block. `gather(as_result(a),
/// as_result(b))` lets all of them finish even if some fail.
///
/// Cancel: same as the awaitable; `cancelled` is rethrown and never becomes a result.
template <awaitable_value A>
[[nodiscard]] task<std::expected<storable<await_result<A>>, std::exception_ptr>> as_result(A awaitable) {
  try {
    if constexpr (std::is_void_v<await_result<A>>) {
      co_await std::move(awaitable);
      co_return std::expected<void, std::exception_ptr>();
    } else {
      co_return co_await std::move(awaitable);
    }
  } catch (const cancelled&) {
    throw;
  } catch (...) {  // the exception is the result
    co_return std::unexpected(std::current_exception());
  }
}
/// Rejects everything else.
template <class F>
  requires(!gyre_awaitable<F>)
auto as_result(F&& /*function*/) {
  static_assert(misused<F>, "as_result takes a task or an operation; call a function to get its task: as_result(f())");
}

}  // namespace gyre
