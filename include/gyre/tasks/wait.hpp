// gyre/tasks/wait.hpp: waiting for some of several running tasks, which go on.
#pragma once

#include <gyre/coro/async_generator.hpp>
#include <gyre/tasks/task_handle.hpp>

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace gyre {

/// When `wait` returns.
enum class wait_until {
  first_completed,  ///< one has ended, however
  first_exception,  ///< one has failed, or all have ended
  all_completed,
};

/// Positions among the handles that were waited for.
struct wait_result {
  std::vector<std::size_t> done;
  std::vector<std::size_t> pending;
};

/// Waits until enough of `tasks` have ended. Ends none of them.
class GYRE_API [[nodiscard("co_await it")]] tasks_ended_op : public operation<tasks_ended_op> {
 public:
  tasks_ended_op(std::vector<task_state*> tasks, wait_until when) noexcept : tasks_(std::move(tasks)), when_(when) {}
  bool try_now();
  void start() noexcept;
  void await_resume();

 private:
  struct joining : join_op {
    using join_op::join_op;
    tasks_ended_op* owner = nullptr;
  };
  static void one_ended(operation_base& op) noexcept;
  [[nodiscard]] bool enough() const noexcept;
  void stop() noexcept;

  std::vector<task_state*> tasks_;
  std::vector<joining> joins_;
  std::size_t waiting_ = 0;
  wait_until when_;
  bool stopping_ = false;
  bool cancelled_ = false;
};

/// Waits for running tasks, says which have ended, and lets the others go on. An exception of a task is thrown when its
/// handle is awaited. asyncio: wait.
///
/// Lifetime: the handles stay the caller's. Cancel: stops waiting; the tasks go on.
template <class T>
[[nodiscard]] task<wait_result> wait(std::span<task_handle<T>> handles, wait_until when = wait_until::all_completed) {
  std::vector<task_state*> states;
  states.reserve(handles.size());
  for (task_handle<T>& each : handles) states.push_back(&each.state());
  tasks_ended_op enough(std::move(states), when);
  co_await enough;
  wait_result result;
  for (std::size_t i = 0; i < handles.size(); ++i) (handles[i].done() ? result.done : result.pending).push_back(i);
  co_return result;
}
template <class T>
[[nodiscard]] GYRE_CORO_WRAPPER task<wait_result> wait(std::vector<task_handle<T>>& handles,
                                                       wait_until when = wait_until::all_completed) {
  return wait(std::span(handles), when);
}

/// Gives running tasks in the order in which they end:
///
///   auto order = gyre::as_completed(handles);
///   while (auto* handle = co_await order.next()) use(co_await *handle);
///
/// Lifetime: the handles stay the caller's, and where they are. Cancel: stops waiting; the tasks go on.
template <class T>
[[nodiscard]] async_generator<task_handle<T>> as_completed(std::vector<task_handle<T>>& handles) {
  std::vector<task_handle<T>*> left;
  left.reserve(handles.size());
  for (task_handle<T>& each : handles) left.push_back(&each);
  while (!left.empty()) {
    std::vector<task_state*> states;
    states.reserve(left.size());
    for (task_handle<T>* each : left) states.push_back(&each->state());
    tasks_ended_op one(std::move(states), wait_until::first_completed);
    co_await one;
    for (std::size_t i = 0; i < left.size();) {
      if (!left[i]->done()) {
        ++i;
        continue;
      }
      task_handle<T>& ended = *left[i];
      left.erase(left.begin() + static_cast<std::ptrdiff_t>(i));
      co_yield ended;
    }
  }
}

}  // namespace gyre
