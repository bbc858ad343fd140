// gyre/tasks/race.hpp: runs several awaitables concurrently and returns the first result.
#pragma once

#include <gyre/coro/await_place.hpp>
#include <gyre/tasks/as_task.hpp>
#include <gyre/tasks/gather.hpp>

#include <array>
#include <cstddef>
#include <optional>
#include <system_error>
#include <type_traits>
#include <variant>
#include <vector>

namespace gyre {

/// The winner and its result.
template <class T>
struct race_result {
  std::size_t index;  ///< position among the arguments
  T value;            ///< a variant when the types of the arguments differ; it holds a reference_to<U> for a task<U&>
};
template <>
struct race_result<void> {
  std::size_t index;
};

/// The children of one race: the first to end cancels the others.
class GYRE_API racing : public child_tasks {
 public:
  explicit racing(task_context& task) noexcept : child_tasks(task, &ended) {}

  /// To be called when all have ended: closes the scope. Throws `cancelled` when a cancel left the race without a
  /// winner.
  task_state& finish();

 private:
  static void ended(child_tasks& children, task_state& child) noexcept;
  task_state* winner_ = nullptr;
};

template <class First, class... Rest>
struct race_value {
  using type = std::conditional_t<(std::is_same_v<First, Rest> && ...), First,
                                  std::variant<held_result<First>, held_result<Rest>...>>;
};

template <class Result, std::size_t I, class T>
void take_if_winner(std::optional<Result>& out, task_state& winner, task_state& child) {
  if (&winner != &child) return;
  if constexpr (!requires(Result r) { r.value; }) {
    operand_result_of<T>::take(child);
    out.emplace(I);
  } else if constexpr (std::is_same_v<decltype(Result::value), operand_result<T>>) {
    out.emplace(I, operand_result_of<T>::take(child));
  } else {
    out.emplace(I, decltype(Result::value)(std::in_place_index<I>, take_wrapped<T>(child)));
  }
}

/// Runs all awaitables concurrently. Returns the result of the first one that ends, or throws its exception. The others
/// are cancelled, and have really stopped when this returns. A value that one of them had ready by then is dropped; an
/// exception goes to the loop's handler. Locks, permits and items of operations that are direct arguments
/// (`race(queue.get(), stop.wait())`) are given back. An item that a task has taken is lost with the task's value.
/// Cancel: reaches all of them; throws when all have ended, unless one had already won.
template <class... As>
  requires(sizeof...(As) > 0)
GYRE_CORO_WRAPPER [[nodiscard]] auto race(As... awaitables) {
  static_assert((awaitable_value<As> && ...),
                "race takes tasks and operations; call a function to get its task: race(f(), g())");
  return race_tasks(std::index_sequence_for<As...>(), as_operand(std::move(awaitables))...);
}

template <std::size_t... I, class... Ts>
task<race_result<typename race_value<operand_result<Ts>...>::type>> race_tasks(std::index_sequence<I...>,
                                                                               task<Ts>... tasks) {
  using result = race_result<typename race_value<operand_result<Ts>...>::type>;
  const std::source_location where = co_await started_at();
  racing children(co_await this_task_context{});
  std::array<task_reference, sizeof...(Ts)> started;
  children.launch([&] {
    task_reference* next = started.data();
    ((*next++ = task_reference(children.start(std::move(tasks), {}, where))), ...);
  });
  co_await children.all_ended();
  task_state& winner = children.finish();
  std::optional<result> won;
  (take_if_winner<result, I, Ts>(won, winner, *started[I]), ...);
  co_return std::move(*won);  // NOLINT(bugprone-unchecked-optional-access): one of them has won
}

template <class T>
task<race_result<T>> race_tasks(std::vector<task<T>> tasks) {
  const std::source_location where = co_await started_at();
  if (tasks.empty())
    throw std::system_error(std::make_error_code(std::errc::invalid_argument), "race: there is no task to wait for");
  racing children(co_await this_task_context{});
  std::vector<task_reference> started;
  started.reserve(tasks.size());
  children.launch([&] {
    for (task<T>& each : tasks) started.emplace_back(children.start(std::move(each), {}, where));
  });
  co_await children.all_ended();
  task_state& winner = children.finish();
  std::size_t index = 0;
  while (&*started[index] != &winner) ++index;
  if constexpr (std::is_void_v<T>) {
    winner.take<T>();
    co_return race_result<T>{index};
  } else {
    co_return race_result<T>{index, winner.take<T>()};
  }
}

/// The same for any number of tasks of one type. Errors: std::errc::invalid_argument when there is none.
template <class T>
GYRE_CORO_WRAPPER task<race_result<T>> race(std::vector<task<T>>&& tasks) {
  return race_tasks(std::move(tasks));
}
/// Rejects a named vector.
template <class T>
auto race(const std::vector<task<T>>& /*named*/) {
  static_assert(misused<T>, "race takes the tasks over: race(std::move(tasks))");
}

}  // namespace gyre
