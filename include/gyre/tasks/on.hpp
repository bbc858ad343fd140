// gyre/tasks/on.hpp: runs a function on another loop.
#pragma once

#include <gyre/coro/misuse.hpp>
#include <gyre/loop/operation.hpp>
#include <gyre/tasks/as_task.hpp>
#include <gyre/tasks/remote_call.hpp>
#include <gyre/tasks/spawn.hpp>

#include <optional>
#include <source_location>
#include <type_traits>
#include <utility>

namespace gyre {

/// The result of calling F on a loop: that of the task, when F returns a task.
template <class F>
struct remote_result {
  using type = std::invoke_result_t<F&>;
};
template <class F>
  requires task_function<F&>
struct remote_result<F> {
  using type = await_result<std::invoke_result_t<F&>>;
};

/// The operation of on(): waits for a function that runs on another loop. F may be a reference.
template <class F>
class [[nodiscard("co_await it")]] on_op : public operation<on_op<F>>, private remote_call {
 public:
  using result_type = typename remote_result<F>::type;
  static_assert(!std::is_rvalue_reference_v<result_type>, "on gives a value or an lvalue reference: return a copy");
  static_assert(
      task_function<F&> || !gyre_awaitable<wrap_void<result_type>>,
      "on does not await the operation that its function returns: let the function return as_task(operation)");

  on_op(event_loop& target, F&& function, std::source_location where)
      : remote_call(target), function_(std::forward<F>(function)), where_(where) {}
  on_op(on_op&& other) noexcept(std::is_nothrow_move_constructible_v<F>)
      : operation<on_op>(other),
        remote_call(other),
        function_(std::forward<F>(other.function_)),
        where_(other.where_) {}

  bool try_now() noexcept {
    if constexpr (task_function<F&>) {
      return false;
    } else {
      if (!is_local()) return false;
      call();
      return true;
    }
  }
  void start() noexcept {
    this->complete = call_member<&on_op::on_message>;
    if constexpr (task_function<F&>) inherit_shield();
    send(*this, call_member<&on_op::on_answer>);
  }
  void on_cancel() noexcept { request_cancel(); }
  result_type await_resume() {
    rethrow_failure();
    if constexpr (!std::is_void_v<result_type>)
      return *std::move(result_);  // NOLINT(bugprone-unchecked-optional-access): no failure
  }

 private:
  // On the target.
  void on_message() noexcept {
    if (!accept()) return answer();
    const lent_bindings lent(locals());
    if constexpr (task_function<F&>) {
      child_ended = [](task_owner& owner, task_state& task) noexcept { static_cast<on_op&>(owner).on_task_end(task); };
      try {
        runs_in(task_state::create(function_(), target(), scope_there(), this, {.name = "on"}, where_));
        return;
      } catch (...) {
        fail();
      }
    } else {
      call();
    }
    answer();
  }
  void call() noexcept {
    try {
      if constexpr (std::is_void_v<result_type>) {
        function_();
        result_.emplace();
      } else {
        result_.emplace(function_());
      }
    } catch (...) {
      fail();
    }
  }
  void on_task_end(task_state& ended) noexcept {
    if (!take_failure(ended)) {
      try {
        result_.emplace(take_wrapped<result_type>(ended));
      } catch (...) {  // the move constructor of the result
        fail();
      }
    }
    release_task();
    answer();
  }
  // At home.
  void on_answer() noexcept {
    arrived();
    this->proceed(*this);
  }

  F function_;
  std::source_location where_;
  std::optional<held_result<result_type>> result_;
};

/// Runs `function()` on the thread of `loop`, and returns its result or throws its exception:
///
///   const std::size_t sessions = co_await gyre::on(loop, [&] { return table.size(); });
///   auto page = co_await gyre::on(loop, [&]() -> gyre::task<std::string> { co_return co_await render(name); });
///
/// A plain function runs between two tasks of that loop, and must not block. A task sees the task_local values of the
/// caller. It is cancelled with the caller and when `loop` ends; a shield of the caller protects it from both when the
/// two loops belong to one runtime. A plain function for the loop of the caller runs at once. Sending the
/// function and its result allocates nothing.
///
/// Lifetime: the function object and its captures live on the caller's loop until the await has ended, so captures by
/// reference may refer to the caller's objects. The frame of the task, with its arguments, is made and destroyed on
/// `loop`. The result moves to the caller's loop: it must not belong to a loop, as a stream does, and neither may the
/// object of a reference that the caller uses. `loop` must not end before the await has; the loops of a runtime end
/// together.
/// Cancel: cancels the task on `loop`, and waits until it has ended. A function that has not begun never runs. A plain
/// function that has begun is not interrupted. A result that comes despite the cancel wins.
/// Errors: the exceptions of the function; task_cancelled when the loop belongs to another runtime that was shut down;
/// std::bad_alloc when `loop` has no memory for the task.
/// asyncio: run_coroutine_threadsafe with wrap_future. Asio: co_spawn(other, f, use_awaitable). Seastar: submit_to.
template <class F>
[[nodiscard("co_await it")]] on_op<std::decay_t<F>> on(event_loop& loop, F&& function,
                                                       std::source_location where = std::source_location::current()) {
  static_assert(requires(std::decay_t<F>& f) { f(); }, "on takes a function without parameters");
  static_assert(!may_be_destroyed_twice<F>,
                "g++ 12 would destroy the captures of this lambda twice: name it first, and pass it without std::move");
  return {loop, std::decay_t<F>(std::forward<F>(function)), where};
}

template <class F>
task<typename remote_result<F>::type> run_on(event_loop& loop, F function, std::source_location where) {
  on_op<F> call(loop, std::forward<F>(function), where);
  co_return co_await std::move(call);
}

/// Starts `function()` on the thread of `loop`, and continues without waiting. The handle belongs to this loop: await
/// or cancel it here. Everything else is as for on() and spawn(). It is sent at the caller's next suspension point.
///
///   gyre::task_handle<report> made = gyre::spawn_on(loop, [] { return make_report(); });
///
/// tokio: Handle::spawn. Asio: co_spawn, post, dispatch.
template <class F>
[[nodiscard("a dropped handle lets the task run on in the background: say so with detach()")]] auto spawn_on(
    event_loop& loop, F function, const spawn_options& options = {},
    std::source_location where = std::source_location::current()) {
  static_assert(requires(F& f) { f(); }, "spawn_on takes a function without parameters");
  return spawn(run_on(loop, std::move(function), where), options, where);
}

}  // namespace gyre
