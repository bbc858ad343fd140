// gyre/tasks/task_handle.hpp: a running task, seen from outside.
#pragma once

#include <gyre/coro/misuse.hpp>
#include <gyre/tasks/task_state.hpp>

#include <exception>
#include <string_view>
#include <utility>

namespace gyre {

/// What awaiting a task throws when that task, and not the one that awaits, was cancelled.
class GYRE_API task_cancelled : public std::exception {
 public:
  [[nodiscard]] const char* what() const noexcept override;
};

/// Owns the result of a spawned task. Dropping the handle lets the task go on in the background.
///
/// A default-constructed handle is empty, as is one that was moved from or detached: it can be assigned to and tested.
/// Everything else stops the program with a sentence.
/// Thread: belongs to the loop of the task.
template <class T = void>
class task_handle {
 public:
  using value_type = T;

  task_handle() noexcept = default;
  /// Takes over one reference of `state`.
  explicit task_handle(task_state& state) noexcept : state_(&state) {}
  task_handle(task_handle&& other) noexcept : state_(std::exchange(other.state_, nullptr)) {}
  task_handle& operator=(task_handle&& other) noexcept {
    task_handle moved(std::move(other));
    std::swap(state_, moved.state_);
    return *this;
  }
  ~task_handle() { detach(); }

  struct [[nodiscard("co_await it")]] result_op : join_op {
    explicit result_op(task_state& task) noexcept : join_op(task), state(&task) {}
    T await_resume() {
      join_op::await_resume();
      return take(*state);
    }
    task_state* state;
  };

  /// Waits for the task and gives its result, or throws its exception (`task_cancelled` when it was cancelled).
  /// The result can be taken once.
  ///
  /// Cancel: stops waiting; the task goes on and its result stays.
  result_op operator co_await() noexcept { return result_op(state()); }
  using gyre_awaitable_tag = void;

  /// Waits for the task to end and leaves its result in place; an exception is not thrown.
  ///
  /// Cancel: stops waiting; the task goes on.
  [[nodiscard]] join_op wait() noexcept { return join_op(state()); }

  /// Cancels the task: every await in it fails until it has ended. Wait for that with `wait`.
  void cancel() noexcept {
    if (!state().done()) state_->root.cancel();
  }
  /// It has been cancelled, and that was not taken back.
  [[nodiscard]] bool cancelling() const noexcept { return state().root.cancel_called(); }
  /// Takes `cancel` back: later awaits do not fail. The await that the cancel has interrupted still throws, and the task
  /// must catch that to go on; asyncio's rule for who absorbs a cancel.
  void uncancel() noexcept { state().root.uncancel(); }
  [[nodiscard]] bool done() const noexcept { return state().done(); }
  [[nodiscard]] std::string_view name() const noexcept { return state().name(); }

  /// Lets go of the task. An exception that it throws goes to the loop's handler.
  void detach() noexcept {
    if (state_ != nullptr) std::exchange(state_, nullptr)->release();
  }

  /// Of a task that is done: its result, as `co_await` gives it.
  T result() { return take(state()); }

  /// The handle has a task.
  [[nodiscard]] explicit operator bool() const noexcept { return state_ != nullptr; }
  [[nodiscard]] task_state& state() const noexcept {
    if (state_ == nullptr) [[unlikely]]
      misuse("this task_handle has no task: it is default-constructed, detached or moved from");
    return *state_;
  }

 private:
  static T take(task_state& state) {
    state.mark_observed();
    if (state.was_cancelled()) throw task_cancelled();
    return state.template promise<T>().take();
  }

  task_state* state_ = nullptr;
};

}  // namespace gyre
