// gyre/tasks/wait.hpp: waits for some of several running tasks, which continue to run.
#pragma once

#include <gyre/coro/async_generator.hpp>
#include <gyre/coro/misuse.hpp>
#include <gyre/tasks/task_handle.hpp>

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace gyre {

/// The condition on which `wait` returns.
enum class wait_until {
  first_completed,  ///< one task has ended, failed or been cancelled
  first_exception,  ///< one task has failed, or all have ended; a cancelled task has not failed
  all_completed,
};

/// Positions among the handles passed to `wait`.
struct wait_result {
  std::vector<std::size_t> done;
  std::vector<std::size_t> pending;
};

/// Waits until enough of `tasks` have ended. Cancels none of them. Cancel: stops waiting; the tasks continue.
class GYRE_API [[nodiscard("co_await it")]] tasks_ended_op : public operation<tasks_ended_op> {
 public:
  tasks_ended_op(std::vector<task_state*> tasks, wait_until when) noexcept : tasks_(std::move(tasks)), when_(when) {}
  bool try_now();
  void start() noexcept;
  void on_cancel() noexcept;
  void await_resume();

 private:
  struct watcher : task_watcher {
    watcher(task_state& task, tasks_ended_op& op) noexcept : task_watcher(task, &one_ended), owner(&op) {}
    tasks_ended_op* owner;
  };
  static void one_ended(task_watcher& ended) noexcept;
  [[nodiscard]] bool is_enough(const task_state& ended) const noexcept;
  void stop() noexcept;

  std::vector<task_state*> tasks_;
  std::vector<watcher> watchers_;
  std::size_t running_ = 0;
  wait_until when_;
  bool stopped_ = false;
  bool cancelled_ = false;
};

/// Waits for running tasks, reports which have ended, and leaves the others running. An exception of a task is thrown
/// when its handle is awaited. asyncio: wait.
///
/// Lifetime: the caller keeps the handles. Cancel: stops waiting; the tasks continue.
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
/// Rejects tasks.
template <class T>
auto wait(const std::vector<task<T>>& /*tasks*/, wait_until = wait_until::all_completed) {
  static_assert(misused<T>, "wait takes handles of running tasks: spawn each task and keep its handle");
}

/// Watches tasks and returns them in the order in which they end. For as_completed.
///
/// Lifetime: must not move. Thread: belongs to one loop.
class GYRE_API ending_order {
 public:
  /// Errors: std::bad_alloc.
  explicit ending_order(const std::vector<task_state*>& tasks);
  ending_order& operator=(ending_order&&) = delete;
  ~ending_order() = default;

  /// Waits until a task has ended that was not returned yet, and returns its position. There must be such a task.
  /// Cancel: stops waiting; nothing is lost.
  class GYRE_API [[nodiscard("co_await it")]] next_op : public operation<next_op> {
   public:
    explicit next_op(ending_order& order) noexcept : order_(&order) {}
    bool try_now() noexcept { return order_->given_ < order_->ended_.size(); }
    void start() noexcept;
    void on_cancel() noexcept;
    std::size_t await_resume();

   private:
    friend class ending_order;
    ending_order* order_;
  };
  [[nodiscard]] next_op next() noexcept { return next_op(*this); }
  [[nodiscard]] bool all_given() const noexcept { return given_ == watchers_.size(); }

 private:
  struct watcher : task_watcher {
    watcher(task_state& task, ending_order& order, std::size_t at) noexcept
        : task_watcher(task, &one_ended), owner(&order), position(at) {}
    ending_order* owner;
    std::size_t position;
  };
  static void one_ended(task_watcher& ended) noexcept;

  std::vector<watcher> watchers_;
  std::vector<std::size_t> ended_;  // positions, in the order of the ends; reserved for all from the beginning
  std::size_t given_ = 0;
  next_op* waiting_ = nullptr;
};

/// Returns tasks in the order in which they end, including those that end while the caller is busy with another one:
///
///   auto order = gyre::as_completed(handles);
///   while (auto* handle = co_await order.next()) use(co_await *handle);
///
/// Lifetime: the caller keeps the handles, and must not move them. Cancel: stops waiting; the tasks continue.
template <class T>
[[nodiscard]] async_generator<task_handle<T>> as_completed(std::vector<task_handle<T>>& handles) {
  std::vector<task_state*> states;
  states.reserve(handles.size());
  for (task_handle<T>& each : handles) states.push_back(&each.state());
  ending_order order(states);
  while (!order.all_given()) {
    const std::size_t position = co_await order.next();
    co_yield handles[position];
  }
}
/// Rejects tasks.
template <class T>
auto as_completed(const std::vector<task<T>>& /*tasks*/) {
  static_assert(misused<T>, "as_completed takes handles of running tasks: spawn each task and keep its handle");
}

}  // namespace gyre
