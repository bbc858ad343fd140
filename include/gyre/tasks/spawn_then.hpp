// gyre/tasks/spawn_then.hpp: a task for code that lives by callbacks. The reverse is from_callback.
#pragma once

#include <gyre/coro/cancelled.hpp>
#include <gyre/tasks/spawn.hpp>

#include <exception>
#include <expected>
#include <optional>
#include <source_location>
#include <type_traits>
#include <utility>

namespace gyre {

/// Tells once how a task has ended; when it is destroyed before, that the task was cancelled. It tells nothing when it is
/// destroyed before it was armed: the task could not be started.
template <class T, class Done>
class outcome_teller {
 public:
  using outcome = std::expected<T, std::exception_ptr>;

  /// `place` is told where it lives until it is armed: in the frame of the task, in the end.
  outcome_teller(Done done, std::source_location where, outcome_teller*& place)
      : done_(std::in_place, std::move(done)), where_(where), place_(&place) {
    place = this;
  }
  outcome_teller(outcome_teller&& other) noexcept(std::is_nothrow_move_constructible_v<Done>)
      : done_(std::move(other.done_)), where_(other.where_), place_(other.place_) {
    other.done_.reset();
    if (place_ != nullptr) *place_ = this;
  }
  outcome_teller& operator=(outcome_teller&&) = delete;
  ~outcome_teller() {
    if (done_ && place_ == nullptr) tell(std::unexpected(std::make_exception_ptr(cancelled())));
  }

  void arm() noexcept { place_ = nullptr; }

  /// Once. What `done` throws is reported.
  void tell(outcome how) noexcept {
    try {
      std::optional<Done> done = std::exchange(done_, std::nullopt);
      (*done)(std::move(how));
    } catch (...) {
      event_loop::report({std::current_exception(), "spawn_then", where_});
    }
  }

 private:
  std::optional<Done> done_;
  std::source_location where_;
  outcome_teller** place_;  // null: armed
};

/// Runs a task in the background and calls `done(outcome)` on the loop when
/// it has ended, with std::expected<T, std::exception_ptr>; a cancel by the end of the loop is an exception too, also when
/// the task has not begun by then.
///
/// Thread: that of the loop. `done` must not throw; what it throws is reported to the loop's exception handler.
/// Errors: std::bad_alloc; the task was not started then, and `done` is not called.
template <class T, class Done>
void spawn_then(task<T> work, Done done, std::source_location where = std::source_location::current()) {
  static_assert(
      requires(std::expected<T, std::exception_ptr> outcome) { done(std::move(outcome)); },
      "spawn_then calls done(std::expected<T, std::exception_ptr>)");
  constexpr auto run = [](task<T> body, outcome_teller<T, Done> teller) -> task<> {
    std::expected<T, std::exception_ptr> outcome = std::unexpected(std::exception_ptr());
    try {
      if constexpr (std::is_void_v<T>) {
        co_await std::move(body);
        outcome.emplace();
      } else {
        outcome.emplace(co_await std::move(body));
      }
    } catch (...) {
      outcome = std::unexpected(std::current_exception());  // told below
    }
    teller.tell(std::move(outcome));
  };
  outcome_teller<T, Done>* teller = nullptr;
  task<> telling = run(std::move(work), outcome_teller<T, Done>(std::move(done), where, teller));
  spawn(std::move(telling), {}, where).detach();
  teller->arm();  // it has not begun: it is not eager
}
/// The same for `f()`: a lambda and its captures live as long as the task.
template <class F, class Done>
void spawn_then(F f, Done done, std::source_location where = std::source_location::current()) {
  static_assert(task_function<F>, "spawn_then takes a task, or a function without parameters that returns one");
  if constexpr (task_function<F>) spawn_then(call_in_frame(std::move(f)), std::move(done), where);
}

}  // namespace gyre
