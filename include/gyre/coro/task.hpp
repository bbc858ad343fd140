// gyre/coro/task.hpp: a coroutine that starts when it is awaited and returns one result.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/coro/context.hpp>
#include <gyre/coro/frame_pool.hpp>
#include <gyre/coro/misuse.hpp>
#include <gyre/coro/nested_frames.hpp>
#include <gyre/coro/owned.hpp>
#include <gyre/coro/task_result.hpp>

#include <coroutine>
#include <cstddef>
#include <exception>
#include <source_location>
#include <type_traits>
#include <utility>

namespace gyre {

template <class T = void>
class task;

/// Awaitables that a task may await. A gyre awaitable resumes its awaiter on the awaiter's own loop. A foreign
/// awaitable does not guarantee that; use it through a callback adapter.
template <class A>
concept gyre_awaitable = requires { typename std::remove_reference_t<A>::gyre_awaitable_tag; } || ignores_cancel<A>;

/// A named object that an await would consume. co_await requires std::move.
template <class A>
concept consumed_by_await = std::is_lvalue_reference_v<A> && !requires(A a) { a.operator co_await(); } &&
                            requires(A a) { std::move(a).operator co_await(); };

/// The promise of every gyre task: frame memory, cancellation at awaits, control transfer at the end.
struct task_promise_base : frame_base, pooled {
  /// At its end a coroutine transfers control to its awaiter. The outermost coroutine notifies its task.
  struct final_awaiter {
    static constexpr bool await_ready() noexcept { return false; }
    template <class Promise>
    std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> self) noexcept {
      frame_base& frame = self.promise();
      if (frame.caller != nullptr) [[likely]]
        return frame.caller->handle();
      frame.context->kind->ended(*frame.context);
      return std::noop_coroutine();
    }
    void await_resume() noexcept {}
  };

  static constexpr std::suspend_always initial_suspend() noexcept { return {}; }
  static constexpr final_awaiter final_suspend() noexcept { return {}; }
  void unhandled_exception() noexcept { failure = std::current_exception(); }

  template <class Awaitable>
  Awaitable&& await_transform(Awaitable&& awaitable GYRE_LIFETIMEBOUND,
                              std::source_location here = std::source_location::current()) {
    static_assert(gyre_awaitable<Awaitable>,
                  "this is not a gyre awaitable: it might resume the task on a thread that is not its loop's; "
                  "wrap it with from_callback");
    where = here;
    if constexpr (!ignores_cancel<Awaitable>)
      if (context->cancel_pending) [[unlikely]]
        throw_cancelled();
    return std::forward<Awaitable>(awaitable);
  }
  template <consumed_by_await Awaitable>
  std::remove_reference_t<Awaitable>&& await_transform(Awaitable&& named, std::source_location = {}) {
    static_assert(misused<Awaitable>, "a task is awaited once, and consumed by that: use std::move(t)");
    return std::move(named);
  }
};

/// A coroutine that runs when it is awaited. Its frame, with its arguments, is destroyed at the end of the expression
/// that awaits it, or together with a task that was never awaited. The task is empty once it is awaited.
///
/// T may be void, an lvalue reference, move-only, or without a default constructor. An exception that leaves the body
/// is thrown at the await. Awaiting and returning are jumps, not calls: a loop of a million awaits, or a chain of
/// awaits 100,000 deep, needs no stack. Neither does the end of a chain of tasks each of which has the next as an
/// argument.
///
/// Thread:   runs on the loop of its awaiter or spawner, from beginning to end.
/// Lifetime: arguments passed by reference must outlive the task. The captures of a lambda live in the lambda, so the
/// lambda must outlive the task. spawn, scope, timeout and shield keep a lambda that is passed to them.
/// Cancel:   inside a cancelled scope it is not started. Once it has started, each of its own awaits fails.
template <class T>
class [[nodiscard("a task does nothing until it is awaited or spawned"), gnu::warn_unused]] GYRE_CORO_TYPE task {
  static_assert(!std::is_const_v<T>, "a task<const T> could not give its value away: use task<T>");
  static_assert(!std::is_rvalue_reference_v<T>, "a task<T&&> would refer to what has ended: use task<T>");

 public:
  struct promise_type : task_promise_base, task_result<T> {
    task get_return_object() noexcept { return task(std::coroutine_handle<promise_type>::from_promise(*this)); }
    /// Moves the value out, or throws the exception. To be called once.
    T take() {
      if (this->failure) [[unlikely]]
        std::rethrow_exception(std::move(this->failure));
      return this->take_value();
    }
  };
  using value_type = T;
  using gyre_awaitable_tag = void;

  task(const task&) GYRE_DELETED("a task is consumed by the function that takes it: pass std::move(t)");
  task(task&&) noexcept = default;
  task& operator=(task&&) noexcept = default;

  /// Owns the coroutine, so that the frame ends with the await, however long the task object lives. Otherwise a chain
  /// of tasks that are arguments of each other would end at once, one inside the other.
  struct awaiter {
    std::coroutine_handle<promise_type> coroutine;

    explicit awaiter(std::coroutine_handle<promise_type> begun) noexcept : coroutine(begun) {}
    awaiter& operator=(awaiter&&) = delete;
    ~awaiter() {
      // Forgets the coroutine, as owned does: compilers have destroyed temporaries of an await twice.
      if (const auto ended = std::exchange(coroutine, nullptr)) ended.destroy();
    }
    static constexpr bool await_ready() noexcept { return false; }
    template <class Promise>
    std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> caller) noexcept {
      frame_base& frame = caller.promise();
      promise_type& promise = coroutine.promise();
      promise.caller = &frame;
      promise.context = frame.context;
      return coroutine;
    }
    T await_resume() { return coroutine.promise().take(); }
  };

  /// Runs the coroutine to its end and returns its result. Stops the program when the task is empty (moved from, or
  /// awaited before).
  awaiter operator co_await() && noexcept {
    if (!coroutine_) [[unlikely]]
      misuse(
          "an empty task was awaited: it was moved from, spawned or awaited before, and runs once; make a shared_task "
          "for several awaits");
    return awaiter(coroutine_.release());
  }

  /// For code that runs tasks (spawn): gives access to the frame. release() passes its ownership to the caller, which
  /// destroys it.
  [[nodiscard]] frame_base& frame() const noexcept {
    if (!coroutine_) [[unlikely]]
      misuse("an empty task was started: it was moved from, awaited or spawned before");
    return coroutine_.get().promise();
  }
  [[nodiscard]] std::coroutine_handle<promise_type> release() && noexcept { return coroutine_.release(); }
  /// False when the task is empty: moved from, awaited or spawned.
  explicit operator bool() const noexcept { return static_cast<bool>(coroutine_); }

 private:
  explicit task(std::coroutine_handle<promise_type> coroutine) noexcept : coroutine_(coroutine) {}

  static void drop(std::coroutine_handle<promise_type> never_awaited) noexcept {
    destroy_nested(never_awaited.promise());
  }

  owned<std::coroutine_handle<promise_type>, &drop> coroutine_;
};

}  // namespace gyre
