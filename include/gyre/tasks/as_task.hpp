// gyre/tasks/as_task.hpp: wraps any awaitable in a task, and replaces void results where a value is needed.
#pragma once

#include <gyre/coro/owned.hpp>
#include <gyre/coro/reference_to.hpp>
#include <gyre/loop/granted.hpp>
#include <gyre/tasks/task_state.hpp>

#include <concepts>
#include <utility>

namespace gyre {

/// The result of an awaitable without a result, where a value is needed.
struct void_result {
  friend bool operator==(void_result, void_result) noexcept = default;
};

template <class T>
struct wrap_void_in {
  using type = T;
};
template <>
struct wrap_void_in<void> {
  using type = void_result;
};
/// T, or `void_result` for void.
template <class T>
using wrap_void = typename wrap_void_in<T>::type;
/// The result of a task<T> where std::optional or a container holds it: `void_result` for void, and reference_to<U> for
/// U&.
template <class T>
using held_result = wrap_void<storable<T>>;

template <class A>
decltype(auto) awaiter_of(A&& awaitable) {
  if constexpr (requires { std::forward<A>(awaitable).operator co_await(); })
    return std::forward<A>(awaitable).operator co_await();
  else
    return std::forward<A>(awaitable);
}

/// The type of the result of `co_await a`.
template <class A>
using await_result = decltype(awaiter_of(std::declval<A>()).await_resume());

/// An awaitable that is passed by value and awaited once.
template <class A>
concept awaitable_value =
    std::move_constructible<A> && gyre_awaitable<A> && requires { sizeof(wrap_void<await_result<A>>); };

template <class T>
GYRE_CORO_WRAPPER task<T> as_task(task<T> already) noexcept {
  return already;
}
template <awaitable_value A>
task<await_result<A>> as_task(A awaitable) {
  co_return co_await std::move(awaitable);
}

template <can_give_back Op>
task<granted<Op>> as_untaken_task(Op op) {
  await_untaken<Op> untaken{op};
  co_return co_await untaken;  // refers to the parameter, which lives as long as the result
}
/// An operand of a race or a gather, which may drop results. Whatever a dropped operation was granted is given back.
/// Cancel: same as the operand.
template <class T>
GYRE_CORO_WRAPPER task<T> as_operand(task<T> already) noexcept {
  return already;
}
template <awaitable_value A>
GYRE_CORO_WRAPPER auto as_operand(A awaitable) {
  static_assert(
      can_give_back<A> || !result_owns_grant<A> || requires { requires A::result_may_be_lost; },
      "a race or a gather may drop the result: an operation that owns what it was granted needs give_back()");
  if constexpr (can_give_back<A>)
    return as_untaken_task(std::move(awaitable));
  else
    return as_task(std::move(awaitable));
}

/// The result of an operand task, after its end.
template <class T>
struct operand_result_of {
  using type = T;
  static T take(task_state& ended) { return ended.take<T>(); }
};
template <class Op>
struct operand_result_of<granted<Op>> {
  using type = decltype(std::declval<Op&>().await_resume());
  static type take(task_state& ended) {
    granted<Op> held = ended.take<granted<Op>>();
    return held.take();
  }
};
template <class T>
using operand_result = typename operand_result_of<T>::type;

/// The same, but `void_result` for void.
template <class T>
wrap_void<operand_result<T>> take_wrapped(task_state& ended) {
  if constexpr (std::is_void_v<operand_result<T>>) {
    operand_result_of<T>::take(ended);
    return {};
  } else {
    return operand_result_of<T>::take(ended);
  }
}

/// Owns one reference to a task.
using task_reference = owned<task_state*, &task_state::release>;

}  // namespace gyre
