// gyre/tasks/first_n.hpp: the first few successes of many tasks.
#pragma once

#include <gyre/coro/await_place.hpp>
#include <gyre/tasks/as_task.hpp>
#include <gyre/tasks/task_group.hpp>

#include <cstddef>
#include <source_location>
#include <system_error>
#include <utility>
#include <vector>

namespace gyre {

/// One of the tasks that succeeded. `value` is a reference for a task<U&>.
template <class T>
struct first_n_result {
  std::size_t index;  ///< position among the tasks
  T value;
};

/// The children of one `first_n`: the n-th success cancels the others, and so does the failure that makes n impossible.
class GYRE_API choosing : public child_tasks {
 public:
  choosing(task_context& task, std::size_t wanted, std::size_t total) noexcept
      : child_tasks(task, &ended), wanted_(wanted), may_fail_(total - wanted) {}
  /// To be called when all have ended: closes the scope. Throws the failures when too few have succeeded, or
  /// `cancelled`.
  void finish();
  [[nodiscard]] bool chose(const task_state& child) const noexcept { return !child.failure(); }

 private:
  static void ended(child_tasks& children, task_state& child) noexcept;
  exception_collector failures_;
  std::size_t wanted_;
  std::size_t may_fail_;
  std::size_t succeeded_ = 0;
};

/// Runs all tasks concurrently and returns the results of the first `count` that succeed, in the order of the tasks.
/// The others are cancelled and have really stopped when this returns. A success that comes at the same moment is
/// returned too.
///
/// Cancel: reaches all of them; throws when all have ended. Errors: std::errc::invalid_argument when there are fewer
/// tasks than `count`; the failures when fewer than `count` can still succeed (several: an exception_group).
template <class T>
[[nodiscard]] task<std::vector<first_n_result<wrap_void<T>>>> first_n(std::size_t count, std::vector<task<T>> tasks) {
  if (count > tasks.size())
    throw std::system_error(std::make_error_code(std::errc::invalid_argument), "first_n: more wanted than there are");
  std::vector<first_n_result<wrap_void<T>>> results;
  if (count == 0) co_return results;
  const std::source_location where = co_await started_at();
  choosing children(co_await this_task_context{}, count, tasks.size());
  std::vector<task_reference> started;
  started.reserve(tasks.size());
  children.launch([&] {
    for (task<T>& each : tasks) started.emplace_back(children.start(std::move(each), {}, where));
  });
  co_await children.all_ended();
  children.finish();
  for (std::size_t i = 0; i < started.size(); ++i)
    if (children.chose(*started[i])) results.push_back({i, take_wrapped<T>(*started[i])});
  co_return results;
}

}  // namespace gyre
