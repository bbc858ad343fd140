// gyre/tasks/gather.hpp: runs several awaitables concurrently and returns all their results.
#pragma once

#include <gyre/coro/await_place.hpp>
#include <gyre/coro/misuse.hpp>
#include <gyre/tasks/as_task.hpp>
#include <gyre/tasks/task_group.hpp>

#include <array>
#include <cstddef>
#include <source_location>
#include <type_traits>
#include <utility>
#include <vector>

namespace gyre {

/// One result of a gather; `void_result` for a task<void>, and a reference for a task<U&>.
template <std::size_t I, class T>
struct gather_element {
  T value;
};

/// The results of `gather(a, b, …)`, in the order of the arguments: `results.get<0>()`, `results.get<1>()` and so on.
/// Deliberately not a tuple: newer g++ leak the bindings of one in the expression of an await.
template <class Indices, class... Ts>
struct gather_result_base;

template <std::size_t... I, class... Ts>
struct gather_result_base<std::index_sequence<I...>, Ts...> : gather_element<I, Ts>... {
  template <std::size_t N>
  [[nodiscard]] auto& get() noexcept {
    return element<N>(*this).value;
  }
  template <std::size_t N>
  [[nodiscard]] auto& get() const noexcept {
    return element<N>(*this).value;  // const, unless it is a reference
  }

 private:
  template <std::size_t N, class T>
  static gather_element<N, T>& element(gather_element<N, T>& e) noexcept {
    return e;
  }
  template <std::size_t N, class T>
  static const gather_element<N, T>& element(const gather_element<N, T>& e) noexcept {
    return e;
  }
};

template <class... Ts>
struct gather_result : gather_result_base<std::index_sequence_for<Ts...>, Ts...> {};

}  // namespace gyre

/// Rejects `auto [a, b] = co_await gather(…)`.
template <class... Ts>
struct std::tuple_size<gyre::gather_result<Ts...>> {
  static_assert(gyre::misused<gyre::gather_result<Ts...>>,
                "the results of a gather are not bound to names: auto all = co_await gather(a, b); then use "
                "all.get<0>() and all.get<1>()");
  static constexpr std::size_t value = sizeof...(Ts);
};

namespace gyre {

/// The children of one gather: the first failure cancels the others.
class GYRE_API gathering : public child_tasks {
 public:
  explicit gathering(task_context& task) noexcept : child_tasks(task, &ended) {}
  /// To be called when all have ended: closes the scope and throws the failures, or `cancelled`.
  void finish();
  /// Records that not all children were started because of a cancel.
  void note_cancel() noexcept { cancelled_ = true; }
  /// Records a failure of the code that starts the children; it counts as a failed child.
  void note_failure(const std::exception_ptr& failure) noexcept {
    collect(failures_, failure);
    scope().cancel();
  }

 private:
  static void ended(child_tasks& children, task_state& child) noexcept;
  exception_collector failures_;
  bool cancelled_ = false;
};

template <class T>
wrap_void<operand_result<T>> take_result_of(task_state& child) {
  return take_wrapped<T>(child);
}

/// Runs all awaitables concurrently, each in its own task, and waits for all of them.
///
/// Takes tasks and other gyre awaitables. The first failure cancels the others. When all have stopped it is thrown,
/// together with other failures as an exception_group. Results that were ready by then are dropped. Locks, permits and
/// items of operations that are direct arguments are given back.
/// Cancel: reaches all of them; throws when all have ended.
template <class... As>
  requires(sizeof...(As) > 0)
GYRE_CORO_WRAPPER [[nodiscard]] auto gather(As... awaitables) {
  static_assert((awaitable_value<As> && ...),
                "gather takes tasks and operations; call a function to get its task: gather(f(), g())");
  return gather_tasks(as_operand(std::move(awaitables))...);
}

template <class... Ts>
task<gather_result<wrap_void<operand_result<Ts>>...>> gather_tasks(task<Ts>... tasks) {
  const std::source_location where = co_await started_at();
  gathering children(co_await this_task_context{});
  std::array<task_reference, sizeof...(Ts)> started;
  children.launch([&] {
    task_reference* next = started.data();
    ((*next++ = task_reference(children.start(std::move(tasks), {}, where))), ...);
  });
  co_await children.all_ended();
  children.finish();
  std::size_t i = 0;
  co_return gather_result<wrap_void<operand_result<Ts>>...>{{{take_result_of<Ts>(*started[i++])}...}};
}

struct gather_options {
  /// The number of tasks that run at the same time, at least 1. The next one starts when one has ended.
  std::size_t max_concurrent = static_cast<std::size_t>(-1);
};

template <class T>
task<std::vector<held_result<T>>> gather_tasks(std::vector<task<T>> tasks, gather_options options) {
  if (options.max_concurrent == 0) misuse("gather with max_concurrent 0 would never begin; let at least one run");
  const std::source_location where = co_await started_at();
  gathering children(co_await this_task_context{});
  std::vector<task_reference> started;
  started.reserve(tasks.size());
  try {
    for (task<T>& each : tasks) {
      if (children.scope().cancelled()) throw_cancelled();
      if (children.running() >= options.max_concurrent) co_await children.fewer_than(options.max_concurrent);
      children.launch([&] { started.emplace_back(children.start(std::move(each), {}, where)); });
    }
  } catch (const cancelled&) {  // a child has failed, or all were cancelled: the rest is not started
    children.note_cancel();
  }
  co_await children.all_ended();
  children.finish();
  std::vector<held_result<T>> results;
  results.reserve(started.size());
  for (const task_reference& each : started) results.push_back(take_result_of<T>(*each));
  co_return results;
}

/// The same for any number of tasks of one type. Returns the results in the order of the tasks, with a reference_to<U>
/// for a task<U&>.
template <class T>
GYRE_CORO_WRAPPER task<std::vector<held_result<T>>> gather(std::vector<task<T>>&& tasks, gather_options options = {}) {
  return gather_tasks(std::move(tasks), options);
}
/// Rejects a named vector.
template <class T>
auto gather(const std::vector<task<T>>& /*named*/, gather_options = {}) {
  static_assert(misused<T>, "gather takes the tasks over: gather(std::move(tasks))");
}

}  // namespace gyre
