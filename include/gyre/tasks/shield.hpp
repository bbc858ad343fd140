// gyre/tasks/shield.hpp: protects code from a cancel from outside.
#pragma once

#include <gyre/coro/cancel_scope.hpp>
#include <gyre/tasks/as_task.hpp>
#include <gyre/tasks/spawn.hpp>

#include <type_traits>
#include <utility>

namespace gyre {

/// A task that may be awaited in a cancelled scope and is not cancelled with it.
template <class T>
class [[nodiscard("co_await it")]] shielded_task {
 public:
  static constexpr bool ignores_cancel = true;
  explicit shielded_task(task<T>&& inner) noexcept : inner_(std::move(inner)) {}
  auto operator co_await() && noexcept { return std::move(inner_).operator co_await(); }

 private:
  task<T> inner_;
};

template <class A>
task<await_result<A>> run_shielded(A awaitable) {
  cancel_scope scope(shielding::shielded);
  scope.open(co_await this_task_context{});
  co_return co_await std::move(awaitable);
}

/// Lets clean-up finish: neither an earlier cancel nor one that comes meanwhile reaches the awaitable. asyncio: `await
/// shield(aw)`, except that the caller waits for it too.
///
/// Cancel: delivered after it has ended: the next await of the caller fails. Limit its time with `timeout` inside.
template <awaitable_value A>
[[nodiscard]] GYRE_CORO_WRAPPER shielded_task<await_result<A>> shield(A awaitable) {
  return shielded_task<await_result<A>>(run_shielded(std::move(awaitable)));
}
template <class F>
  requires(!gyre_awaitable<F>)
[[nodiscard]] GYRE_CORO_WRAPPER auto shield(F&& function) {
  static_assert(task_function<std::decay_t<F>>,
                "shield takes a task, an operation, or a function without parameters that returns a task");
  static_assert(!may_be_destroyed_twice<F>,
                "g++ 12 would destroy the captures of this lambda twice: name it first, and pass it without std::move");
  if constexpr (task_function<std::decay_t<F>>)
    return shield(call_in_frame(std::decay_t<F>(std::forward<F>(function))));
}

}  // namespace gyre
