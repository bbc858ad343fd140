// gyre/sync/future.hpp: a value that is provided later, once.
#pragma once

#include <gyre/coro/frame_pool.hpp>
#include <gyre/coro/held_value.hpp>
#include <gyre/coro/misuse.hpp>
#include <gyre/coro/owned.hpp>
#include <gyre/sync/sync_error.hpp>
#include <gyre/sync/wait_queue.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

namespace gyre {

template <class T>
class promise;
template <class T>
class future;

/// The state that a promise and its futures share: the result and the waiting tasks. Freed by the last of them.
template <class T>
class promise_state : public pooled {
 public:
  using stored = std::conditional_t<std::is_void_v<T>, std::monostate, T>;

  [[nodiscard]] bool done() const noexcept { return value_ || failure_; }
  template <class... Args>
  bool give(Args&&... value) {
    if (done()) return false;
    value_.emplace(std::forward<Args>(value)...);
    waiters_.grant_all();
    return true;
  }
  bool give_failure(std::exception_ptr failure) noexcept {
    if (done()) return false;
    failure_ = std::move(failure);
    waiters_.grant_all();
    return true;
  }
  [[nodiscard]] stored& value() {
    if (failure_) std::rethrow_exception(failure_);
    return value_->value;
  }
  [[nodiscard]] wait_queue& waiters() noexcept { return waiters_; }
  /// In debug builds, stops the program when this belongs to another loop.
  void check_loop(const char* operation, const char* object) const noexcept { owner_.check(operation, object); }

  void add_reference() noexcept { ++references_; }
  void release() noexcept {
    if (--references_ == 0) delete this;
  }

 private:
  std::optional<held_value<stored>> value_;
  std::exception_ptr failure_;
  wait_queue_of<"a promise"> waiters_;
  std::uint32_t references_ = 1;
  owner_loop owner_;
};

/// Waits for the result of a promise. Owns a reference to it, because the last future may be destroyed before the task
/// resumes.
template <class T>
class [[nodiscard("co_await it"), gnu::warn_unused]] future_wait_op : public queued_operation<future_wait_op<T>> {
 public:
  explicit future_wait_op(promise_state<T>& awaited) noexcept : state_(awaited) { awaited.add_reference(); }
  bool try_now() noexcept {
    state_->check_loop("co_await", "a future");
    return state_->done();
  }
  wait_queue& waits_in() noexcept { return state_->waiters(); }
  std::add_lvalue_reference_t<const T> await_resume() {
    queued_operation<future_wait_op>::await_resume();
    if constexpr (std::is_void_v<T>)
      (void)state_->value();
    else
      return state_->value();
  }

 private:
  owned<promise_state<T>*, &promise_state<T>::release> state_;
};

/// The receiving half. Any number of tasks may await it; each gets a reference to the value (`auto v = co_await f`
/// copies it), or the exception. Copies share the value. asyncio: Future.
///
/// Thread: belongs to one loop (from_callback brings in results of other threads).
template <class T>
class future {
 public:
  using value_type = T;
  using gyre_awaitable_tag = void;

  future(const future& other) noexcept : state_(other.state_) {
    if (state_ == nullptr) return;
    state_->check_loop("copy", "a future");
    state_->add_reference();
  }
  future(future&& other) noexcept : state_(std::exchange(other.state_, nullptr)) {}
  future& operator=(future other) noexcept {
    std::swap(state_, other.state_);
    return *this;
  }
  ~future() {
    auto* const ended = std::exchange(state_, nullptr);
    if (ended == nullptr) return;
    ended->check_loop("destructor", "a future");
    ended->release();
  }

  /// Waits for the value.
  ///
  /// Lifetime: the reference is valid while a future exists. Cancel: stops waiting; a later value stays available.
  /// Errors: the exception that the promise was given; sender_dropped when the promise was destroyed without a result.
  future_wait_op<T> operator co_await() const noexcept { return future_wait_op<T>(state()); }

  [[nodiscard]] bool done() const noexcept { return used_by("done").done(); }
  /// Returns the value, or throws the exception, of a future that is done. Stops the program when it is not done.
  [[nodiscard]] decltype(auto) result() const {
    if (!used_by("result").done()) [[unlikely]]
      misuse("result() of a future that has no value yet; co_await it, or ask done() first");
    if constexpr (std::is_void_v<T>)
      (void)state_->value();
    else
      return static_cast<const T&>(state_->value());
  }

 private:
  friend class promise<T>;
  [[nodiscard]] promise_state<T>& state() const noexcept {
    if (state_ == nullptr) [[unlikely]]
      misuse("a future that was moved from was used: use the object that it was moved to, or a copy");
    return *state_;
  }
  [[nodiscard]] promise_state<T>& used_by(const char* operation) const noexcept {
    state().check_loop(operation, "a future");
    return *state_;
  }
  explicit future(promise_state<T>& state) noexcept : state_(&state) { state.add_reference(); }
  promise_state<T>* state_;
};

/// The sending half. If it is destroyed without a result, the futures get sender_dropped.
///
/// Thread: belongs to one loop.
template <class T>
class promise {
 public:
  promise() : state_(new promise_state<T>) {}

  [[nodiscard]] future<T> get_future() const noexcept { return future<T>(used_by("get_future")); }

  /// Passes the value, which is converted as by `return`, to all waiting tasks. Returns false, and changes nothing,
  /// when a result was given before.
  template <class U = T>
  bool set_value(U&& value)
    requires(!std::is_void_v<T> && std::is_convertible_v<U, T>)
  {
    return used_by("set_value").give(std::forward<U>(value));
  }
  bool set_value()
    requires std::is_void_v<T>
  {
    return used_by("set_value").give();
  }
  /// Passes an exception to all waiting tasks. Returns false, and changes nothing, when a result was given before. A
  /// null pointer stops the program.
  bool set_exception(std::exception_ptr failure) noexcept {
    if (failure == nullptr) [[unlikely]]
      misuse("set_exception of a promise with a null exception_ptr: give it an exception, or set_value");
    return used_by("set_exception").give_failure(std::move(failure));
  }
  [[nodiscard]] bool done() const noexcept { return used_by("done").done(); }

 private:
  [[nodiscard]] promise_state<T>& used_by(const char* operation) const noexcept {
    if (state_ == nullptr) [[unlikely]]
      misuse("a promise that was moved from was used: use the object that it was moved to");
    state_->check_loop(operation, "a promise");
    return *state_;
  }
  static void drop(promise_state<T>* state) noexcept {
    state->check_loop("destructor", "a promise");
    if (!state->done()) state->give_failure(std::make_exception_ptr(sender_dropped()));
    state->release();
  }
  owned<promise_state<T>*, &drop> state_;
};

}  // namespace gyre
