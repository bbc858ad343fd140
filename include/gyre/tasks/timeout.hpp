// gyre/tasks/timeout.hpp: a time limit for any piece of code.
#pragma once

#include <gyre/coro/await_place.hpp>
#include <gyre/coro/cancel_scope.hpp>
#include <gyre/coro/cancelled.hpp>
#include <gyre/io/io_error.hpp>
#include <gyre/loop/as_expected.hpp>
#include <gyre/loop/deadline.hpp>
#include <gyre/loop/sleep.hpp>
#include <gyre/tasks/as_task.hpp>
#include <gyre/tasks/spawn.hpp>

#include <chrono>
#include <type_traits>
#include <utility>

namespace gyre {

/// The scope of a running time-out, passed to a body that moves its deadline.
class timeout_scope : private timer {
 public:
  /// `began` is the start of the measured time, for the error message.
  timeout_scope(task_context& task, io::monotonic_time until,
                io::monotonic_time began = event_loop::current().now()) noexcept
      : began_(began) {
    fire = call_member<&timeout_scope::on_time>;
    scope_.open(task);
    scope_.set_limited();
    arm(until);
  }
  timeout_scope& operator=(timeout_scope&&) = delete;
  ~timeout_scope() { event_loop::current().timers().disarm(*this); }

  /// Moves the deadline to `duration` from now; no effect once it has expired.
  template <class Rep, class Period>
  void reschedule(std::chrono::duration<Rep, Period> duration) noexcept {
    arm(deadline_after(duration));
  }
  void reschedule_at(time_point when) noexcept { arm(deadline_at(when)); }

  /// The end of the time limit, past or future; time_point::max() when there is no limit. asyncio: Timeout.when.
  [[nodiscard]] time_point deadline() const noexcept {
    if (timer::deadline == io::wait_forever) return time_point::max();
    return time_point(std::chrono::nanoseconds(timer::deadline));
  }
  /// True when the time limit has passed: the code inside has been cancelled.
  [[nodiscard]] bool expired() const noexcept { return expired_; }

  /// Called while `cancelled` propagates: true when only this time-out has caused it.
  [[nodiscard]] bool absorbs_cancel() const noexcept { return expired_ && scope_.absorbs_cancel(); }

  /// After expiry: throws timed_out, with the limit and the await that was cancelled.
  [[noreturn]] void throw_timed_out() const {
    throw timed_out(std::chrono::nanoseconds(timer::deadline - began_), "timeout", waiting_at_);
  }

 private:
  void on_time() noexcept {
    expired_ = true;
    waiting_at_ = place_of_wait(scope_.task()->innermost);
    scope_.cancel();
  }
  void arm(io::monotonic_time until) noexcept {
    if constexpr (checks_everything) expect_scope_on_own_loop(scope_, "reschedule", "a timeout_scope");
    if (expired_) return;
    timer_wheel& timers = event_loop::current().timers();
    timers.disarm(*this);
    timer::deadline = until;
    if (until != io::wait_forever) timers.arm(*this);
  }

  cancel_scope scope_;
  io::monotonic_time began_;
  std::source_location waiting_at_;
  bool expired_ = false;
};

/// The end of a time-out: a duration that starts at the await, or a point of time.
struct duration_limit {
  std::chrono::nanoseconds length;
  /// A limit of 0 has passed before anything that was made earlier, such as sleep(0s), but not before a result that is
  /// there at once.
  [[nodiscard]] io::monotonic_time deadline() const noexcept { return length.count() > 0 ? deadline_after(length) : 0; }
  [[nodiscard]] io::monotonic_time began(io::monotonic_time until) const noexcept {
    return until == io::wait_forever ? event_loop::current().now() : until - length.count();
  }
};
struct time_point_limit {
  time_point when;
  [[nodiscard]] io::monotonic_time deadline() const noexcept { return deadline_at(when); }
  [[nodiscard]] static io::monotonic_time began(io::monotonic_time until) noexcept {
    const io::monotonic_time now = event_loop::current().now();
    return now < until ? now : until;
  }
};

/// asyncio's rule for wait_for: with a limit of zero or less, the awaitable is not even started.
struct wait_for_limit : duration_limit {};

template <class Limit, class F>
auto run_in_timeout(Limit limit, F function) -> task<await_result<decltype(function(std::declval<timeout_scope&>()))>> {
  if constexpr (std::is_same_v<Limit, wait_for_limit>)
    if (limit.length <= std::chrono::nanoseconds::zero()) throw timed_out(limit.length, "timeout");
  const io::monotonic_time until = limit.deadline();
  timeout_scope scope(co_await this_task_context{}, until, limit.began(until));
  try {
    co_return co_await function(scope);
  } catch (const cancelled&) {
    if (!scope.absorbs_cancel()) throw;
  }
  scope.throw_timed_out();
}

template <class A>
struct await_it {
  A awaitable;
  GYRE_CORO_WRAPPER task<await_result<A>> operator()(timeout_scope&) { return as_task(std::move(awaitable)); }
};
template <class T>
struct await_handle {
  task_handle<T>* handle;
  GYRE_CORO_WRAPPER task<T> operator()(timeout_scope&) { return join_or_cancel(*handle); }
};
template <class T>
struct await_given_handle {
  given_handle<T> given;
  GYRE_CORO_WRAPPER task<T> operator()(timeout_scope&) { return run_given(std::move(given)); }
};
template <class F>
struct call_it {
  F function;
  GYRE_CORO_WRAPPER auto operator()(timeout_scope&) { return function(); }
};

/// Runs `subject`: an awaitable, a function without parameters, or a function of timeout_scope&.
template <class Limit, class A, class Subject = std::decay_t<A>>
GYRE_CORO_WRAPPER auto run_limited(Limit limit, A&& subject) {
  if constexpr (awaitable_value<Subject>) {
    return run_in_timeout(limit, await_it<Subject>{std::forward<A>(subject)});
  } else {
    static_assert(
        task_function<Subject> || requires(Subject& f, timeout_scope& scope) {
          typename decltype(f(scope))::promise_type;
        }, "timeout takes an awaitable, or a function that returns a task and takes nothing or a timeout_scope&");
    static_assert(
        !may_be_destroyed_twice<A>,
        "g++ 12 would destroy the captures of this lambda twice: name it first, and pass it without std::move");
    if constexpr (task_function<Subject>)
      return run_in_timeout(limit, call_it<Subject>{std::forward<A>(subject)});
    else
      return run_in_timeout(limit, Subject(std::forward<A>(subject)));
  }
}

/// Cancels the task of the handle at the deadline. The task runs already, so it gets a turn whatever the limit.
/// Cancel: cancels the task and waits for its end.
template <class Limit, class T>
GYRE_CORO_WRAPPER task<T> run_limited(Limit limit, task_handle<T>& running) {
  return run_in_timeout(limit, await_handle<T>{&running});
}
template <class Limit, class T>
GYRE_CORO_WRAPPER task<T> run_limited(Limit limit, task_handle<T>&& given) {
  return run_in_timeout(limit, await_given_handle<T>{given_handle<T>(std::move(given))});
}

template <class A>
concept not_an_operation = !fallible_operation<std::remove_cvref_t<A>>;

/// Cancels the awaitable when `limit` has passed, waits until it has stopped, and throws `timed_out`.
///
/// Takes any awaitable, or a callable (kept until the end) that returns a task and may take a timeout_scope& to move
/// the deadline. Only this time-out throws timed_out: a cancel from outside stays `cancelled`. A result that came
/// despite the time-out wins.
///
/// A task_handle may be passed directly, `timeout(2s, handle)`, or moved. At the time-out, or when the caller is
/// cancelled, its task is cancelled and awaited. `timeout(2s, handle.wait())` only stops waiting, and the task
/// continues.
/// Cancel: reaches the awaitable. Errors: timed_out, and the exceptions of the awaitable.
template <class Rep, class Period, not_an_operation A>
[[nodiscard]] GYRE_CORO_WRAPPER auto timeout(std::chrono::duration<Rep, Period> limit, A&& subject) {
  return run_limited(duration_limit{whole_nanoseconds(limit)}, std::forward<A>(subject));
}

/// The same with the limit last, as in a chain or in asyncio's wait_for.
template <not_an_operation A, class Rep, class Period>
[[nodiscard]] GYRE_CORO_WRAPPER auto timeout(A&& subject, std::chrono::duration<Rep, Period> limit) {
  return run_limited(duration_limit{whole_nanoseconds(limit)}, std::forward<A>(subject));
}
/// The same, except that nothing is started when `limit` is zero or less: it throws timed_out at once. The task of a
/// handle, which runs already, is then cancelled; if it already has a result, that wins. So does the result of a future
/// or shared_task that is done. asyncio: wait_for.
template <class A, class Rep, class Period>
[[nodiscard]] GYRE_CORO_WRAPPER auto wait_for(A&& subject, std::chrono::duration<Rep, Period> limit) {
  if constexpr (requires { bool(subject.done()); })
    if (subject.done()) return run_limited(duration_limit{whole_nanoseconds(limit)}, std::forward<A>(subject));
  return run_limited(wait_for_limit{{whole_nanoseconds(limit)}}, std::forward<A>(subject));
}
template <class T, class Rep, class Period>
[[nodiscard]] GYRE_CORO_WRAPPER task<T> wait_for(task_handle<T>&& handle, std::chrono::duration<Rep, Period> limit) {
  return run_limited(duration_limit{whole_nanoseconds(limit)}, std::move(handle));
}
template <class T, class Rep, class Period>
[[nodiscard]] GYRE_CORO_WRAPPER task<T> wait_for(task_handle<T>& handle, std::chrono::duration<Rep, Period> limit) {
  return run_limited(duration_limit{whole_nanoseconds(limit)}, handle);
}

/// The same with a point of time.
template <class A>
[[nodiscard]] GYRE_CORO_WRAPPER auto timeout_at(time_point when, A&& subject) {
  return run_limited(time_point_limit{when}, std::forward<A>(subject));
}

}  // namespace gyre
