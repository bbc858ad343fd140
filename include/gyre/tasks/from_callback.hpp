// gyre/tasks/from_callback.hpp: awaits a callback. The reverse is spawn_then.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/coro/cancelled.hpp>
#include <gyre/coro/frame_pool.hpp>
#include <gyre/coro/held_value.hpp>
#include <gyre/coro/misuse.hpp>
#include <gyre/coro/owned.hpp>
#include <gyre/loop/operation.hpp>
#include <gyre/tasks/as_task.hpp>
#include <gyre/tasks/spawn.hpp>

#include <exception>
#include <expected>
#include <optional>
#include <source_location>
#include <system_error>
#include <type_traits>
#include <utility>

namespace gyre {

/// No call can come any more: all copies of the callback were destroyed without a call.
class GYRE_API callback_dropped : public std::exception {
 public:
  [[nodiscard]] const char* what() const noexcept override;
};

/// awaited_callback::fail() was given no error: an error_code of 0, or a null exception_ptr.
class GYRE_API callback_failed_without_error : public std::exception {
 public:
  [[nodiscard]] const char* what() const noexcept override;
};

/// The state that the awaiting task and the copies of its callback share. Freed by the last of them. Thread: any may
/// call back.
template <class T>
struct callback_state : io::completion {
  enum : int { waiting, called, abandoned };

  std::optional<held_value<held_result<T>>> value;
  std::error_code error;
  std::exception_ptr failure;
  bool dropped = false;
  operation_base* waiter = nullptr;
  event_loop* loop = nullptr;
  int phase = waiting;
  int copies = 0;  // of the callback; together they hold one reference
  int references = 1;

  [[nodiscard]] bool is_waiting() const noexcept { return __atomic_load_n(&phase, __ATOMIC_ACQUIRE) == waiting; }
  /// Returns true for one caller only: the first to call back, or the one that stops waiting.
  bool leave_waiting(int to) noexcept {
    int expected = waiting;
    return __atomic_compare_exchange_n(&phase, &expected, to, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
  }
  void on_complete() noexcept {
    event_loop::current().expected_post_arrived();
    waiter->proceed(*waiter);
  }
  void add_reference() noexcept { __atomic_fetch_add(&references, 1, __ATOMIC_RELAXED); }
  void release() noexcept {
    if (__atomic_fetch_sub(&references, 1, __ATOMIC_ACQ_REL) == 1) delete this;
  }
};

/// The function object that is passed to the code that calls back. Copies are the same callback; only the first call
/// counts. Thread: any. The call may come at once, inside the function that received the callback.
template <class T>
class awaited_callback {
 public:
  /// Makes the first callback of a state. To be called once per state.
  explicit awaited_callback(callback_state<T>& state) noexcept : state_(&state) {
    state.copies = 1;
    state.add_reference();
  }
  awaited_callback(const awaited_callback& other) noexcept : state_(other.state_) {
    __atomic_fetch_add(&state_->copies, 1, __ATOMIC_RELAXED);
  }
  awaited_callback(awaited_callback&& other) noexcept : state_(std::exchange(other.state_, nullptr)) {}
  awaited_callback& operator=(awaited_callback other) noexcept {
    std::swap(state_, other.state_);
    return *this;
  }
  ~awaited_callback() {
    if (state_ == nullptr || __atomic_fetch_sub(&state_->copies, 1, __ATOMIC_ACQ_REL) > 1) return;
    deliver([](callback_state<T>& s) { s.dropped = true; });
    state_->release();
  }

  /// Passes the value: one argument, converted as by `return`, or several for its constructor. No effect when a result
  /// was passed before, or when the await has ended. The await throws an exception of the value's constructor.
  template <class... Args>
    requires((sizeof...(Args) > 0 || std::is_void_v<T>) && std::is_constructible_v<held_value<held_result<T>>, Args...>)
  void operator()(Args&&... value) const {
    deliver([&](callback_state<T>& s) { s.value.emplace(std::forward<Args>(value)...); });
  }
  /// Passes an error, which the await throws as std::system_error (as_expected returns it). The await throws
  /// callback_failed_without_error when `error` is 0.
  void fail(std::error_code error) const {
    if (!error) return fail(std::exception_ptr());
    deliver([&](callback_state<T>& s) { s.error = error; });
  }
  /// Passes an exception, which the await throws. A null pointer results in callback_failed_without_error.
  void fail(std::exception_ptr failure) const {
    if (!failure) failure = std::make_exception_ptr(callback_failed_without_error());
    deliver([&](callback_state<T>& s) { s.failure = std::move(failure); });
  }

 private:
  template <class Store>
  void deliver(Store store) const {
    callback_state<T>& state = *state_;
    if (!state.leave_waiting(callback_state<T>::called)) return;
    try {
      store(state);
    } catch (...) {
      state.failure = std::current_exception();  // thrown where it is awaited
    }
    state.loop->post(static_cast<io::completion&>(state));
  }
  callback_state<T>* state_;
};

struct no_cancel_hook {};

/// The operation of from_callback(): starts something and waits until it calls back.
template <class T, class Initiate, class OnCancel>
class [[nodiscard("co_await it")]] from_callback_op : public operation<from_callback_op<T, Initiate, OnCancel>> {
 public:
  from_callback_op(Initiate&& initiate, OnCancel&& on_cancel)
      : initiate_(std::move(initiate)), on_cancel_(std::move(on_cancel)), state_(new callback_state<T>) {}

  bool try_now() noexcept { return false; }
  void start() noexcept {
    state_->waiter = this;
    state_->loop = &event_loop::current();
    state_->loop->expect_post();
    state_->complete = call_member<&callback_state<T>::on_complete>;
    const awaited_callback<T> done(*state_);
    try {
      initiate_(done);
    } catch (...) {
      done.fail(std::current_exception());  // thrown where it is awaited
    }
  }
  void on_cancel() noexcept {
    if constexpr (std::is_same_v<OnCancel, no_cancel_hook>) {
      if (withdrawn_ || !state_->leave_waiting(callback_state<T>::abandoned)) return;
      event_loop::current().expected_post_arrived();
      withdrawn_ = true;
      this->finish_soon();
    } else if (state_->is_waiting()) {
      ask_to_end();
    }
  }

  std::expected<storable<T>, std::error_code> take_result() {
    const bool failed = state_->error || (asked_ && state_->dropped);
    if (withdrawn_ || (failed && (asked_ || this->scope_cancelled()))) return std::unexpected(this->cancel_error());
    if (state_->failure) std::rethrow_exception(state_->failure);
    if (state_->dropped) throw callback_dropped();
    if (state_->error) return std::unexpected(state_->error);
    if constexpr (std::is_void_v<T>)
      return {};
    else
      return std::move(state_->value->value);  // NOLINT(bugprone-unchecked-optional-access): it has succeeded
  }
  [[noreturn]] void fail(std::error_code reason) const { throw std::system_error(reason, "from_callback"); }

 private:
  void ask_to_end() noexcept {
    asked_ = true;
    try {
      on_cancel_();
    } catch (...) {  // a cancel does not throw, and the await keeps waiting
      const frame_base* const awaiting = this->waiter;
      event_loop::report({std::current_exception(), "on_cancel of from_callback",
                          awaiting != nullptr ? awaiting->where : std::source_location::current()});
    }
  }

  Initiate initiate_;
  OnCancel on_cancel_;
  owned<callback_state<T>*, &callback_state<T>::release> state_;
  bool withdrawn_ = false;
  bool asked_ = false;
};

/// Calls `initiate(done)`, which starts something and keeps `done`, a copyable function object. The task continues when
/// `done` has been called:
///
///   int n = co_await gyre::from_callback<int>([&](auto done) { client.request(url, done); });
///
/// `done(value)`, `done.fail(error_code)` and `done.fail(exception_ptr)` may come at once, later, and from any thread.
/// When every copy is destroyed without a call, the await throws callback_dropped. An exception of `initiate` is
/// thrown.
/// Cancel: stops waiting. A later call is ignored, so objects to which it writes must not live in this task. With
/// `on_cancel`, a cancel calls that (once or more, but not after a call of `done`), and the await waits for the
/// resulting call. An error code, or a dropped callback, then throws `cancelled`; a value wins over the cancel, and an
/// exception is thrown unchanged. An exception of `on_cancel` goes to the loop's exception handler.
/// Thread: that of the loop, also for `on_cancel`. A library that calls back from its own thread may do so at the same
/// time as `on_cancel` is called. Free the objects that `on_cancel` uses only after the await has returned.
template <class T, class Initiate, class OnCancel = no_cancel_hook>
[[nodiscard("co_await it")]] from_callback_op<T, std::decay_t<Initiate>, std::decay_t<OnCancel>> from_callback(
    Initiate&& initiate, OnCancel&& on_cancel = {}) {
  static_assert(
      requires(std::decay_t<Initiate>& f, const awaited_callback<T>& done) { f(done); },
      "from_callback calls its function with the callback: from_callback<T>([&](auto done) { ... })");
  static_assert(!may_be_destroyed_twice<Initiate> && !may_be_destroyed_twice<OnCancel>,
                "g++ 12 would destroy the captures of this lambda twice: name it first, and pass it without std::move");
  return {std::decay_t<Initiate>(std::forward<Initiate>(initiate)),
          std::decay_t<OnCancel>(std::forward<OnCancel>(on_cancel))};
}

}  // namespace gyre
