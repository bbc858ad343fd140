// gyre/tasks/task_handle.hpp: a running task, seen from outside.
#pragma once

#include <gyre/coro/cancelled.hpp>
#include <gyre/coro/misuse.hpp>
#include <gyre/coro/owned.hpp>
#include <gyre/tasks/as_task.hpp>
#include <gyre/tasks/join_op.hpp>
#include <gyre/tasks/task_cancelled.hpp>

#include <string_view>
#include <utility>

namespace gyre {

/// Owns the result of a spawned task. If the handle is dropped, the task continues in the background, as after
/// detach(). Debug builds report that on standard error when the task has not ended and belongs to no group.
///
/// A default-constructed, moved-from or detached handle is empty: it can be assigned to and tested. Any other use stops
/// the program with a message.
/// Thread: belongs to the loop of the task.
template <class T = void>
class task_handle {
 public:
  using value_type = T;

  task_handle() noexcept = default;
  /// Takes over one reference to `state`.
  explicit task_handle(task_state& state) noexcept : state_(&state) {}

  struct [[nodiscard("co_await it")]] result_op : join_op {
    using join_op::join_op;
    T await_resume() {
      join_op::await_resume();
      if (scope_cancelled() && watched().was_cancelled()) throw_cancelled();  // both, often by the same cancel
      return watched().template outcome<T>();
    }
  };

  /// Waits for the task. Returns its result, or throws its exception: `task_cancelled` when it was cancelled, or
  /// `cancelled` when the waiting task is cancelled as well.
  ///
  /// A value is moved out, so it can be taken once. The second await of a task with a value stops the program; use a
  /// shared_task for several awaits. An exception is thrown to every awaiter, each time, and `void` is returned to
  /// every awaiter.
  /// Overlap: several tasks may wait; they resume in the order of arrival. The handle may be dropped meanwhile.
  /// Cancel: stops waiting; the task continues and its result stays.
  result_op operator co_await() noexcept { return result_op(state()); }
  using gyre_awaitable_tag = void;

  /// Waits for the task to end and leaves its result in place. An exception is not thrown and does not count as seen:
  /// if the result is never requested, it is reported as a background failure when the handle is destroyed.
  ///
  /// Cancel: stops waiting; the task continues.
  [[nodiscard]] join_op wait() noexcept { return join_op(state()); }

  /// Cancels the task: every await in it fails until it has ended. Use `wait` to wait for its end.
  void cancel() noexcept {
    if (state().done()) return;
    state_->check_loop("cancel");
    state_->root.cancel();
  }
  /// The number of `cancel` calls that were not reverted.
  [[nodiscard]] unsigned cancelling() const noexcept { return used_by("cancelling").root.cancel_requests(); }
  /// Reverts one `cancel` and returns the number that is left. With none left, later awaits of the task do not fail.
  /// The await that the cancel has interrupted still throws, and the task must catch that to continue. See also
  /// current_task.
  unsigned uncancel() noexcept {
    if (!state().done()) state_->check_loop("uncancel");
    state_->root.uncancel();
    return cancelling();
  }
  [[nodiscard]] bool done() const noexcept { return used_by("done").done(); }
  [[nodiscard]] std::string_view name() const noexcept { return used_by("name").name(); }

  /// Gives up the task. An exception that it throws goes to the loop's handler.
  void detach() noexcept {
    if (state_ == nullptr) return;
    state_->check_handle("detach");
    state_.release()->release();
  }

  /// Returns the result of a task that has ended, as `co_await` does. Stops the program while the task runs.
  T result() { return used_by("result").template outcome<T>(); }

  /// True when the handle has a task.
  [[nodiscard]] explicit operator bool() const noexcept { return state_ != nullptr; }
  [[nodiscard]] task_state& state() const noexcept {
    if (state_ == nullptr) [[unlikely]]
      misuse("this task_handle has no task: it is default-constructed, detached or moved from");
    return *state_;
  }

 private:
  [[nodiscard]] task_state& used_by(const char* operation) const noexcept {
    state().check_handle(operation);
    return *state_;
  }
  static void drop(task_state* dropped) noexcept {
    dropped->check_handle("destructor");
    if constexpr (checks_everything) dropped->note_dropped_handle();
    dropped->release();
  }
  owned<task_state*, drop> state_;
};

/// Awaits the task of `handle`, and cancels it when this await is cancelled. timeout, race and gather use this for
/// handles.
///
/// Cancel: cancels the task and waits until it has ended. A result that came despite the cancel wins.
template <class T>
[[nodiscard]] task<T> join_or_cancel(task_handle<T>& handle) {
  task_state& state = handle.state();
  state.add_reference();
  const task_reference kept(state);  // another task may drop the handle meanwhile
  bool cut_off = false;
  try {
    co_await join_op(state);
  } catch (const cancelled&) {
    cut_off = true;
  }
  if (cut_off) {
    if (!state.done()) state.root.cancel();
    co_await uninterrupted_join_op(state);
    if (state.was_cancelled()) throw_cancelled();
  }
  co_return state.outcome<T>();
}

/// A handle that was passed on to be awaited. Its task is cancelled when it is no longer awaited.
template <class T>
struct given_handle {
  explicit given_handle(task_handle<T>&& given) noexcept : handle(std::move(given)) {}
  given_handle(given_handle&&) noexcept = default;
  given_handle& operator=(given_handle&&) = delete;
  ~given_handle() {
    if (handle && !handle.done()) handle.cancel();
  }
  task_handle<T> handle;
};

template <class T>
task<T> run_given(given_handle<T> given) {
  co_return co_await join_or_cancel(given.handle);
}
template <class T>
GYRE_CORO_WRAPPER task<T> as_task(task_handle<T> handle) {
  return run_given(given_handle<T>(std::move(handle)));
}

}  // namespace gyre
