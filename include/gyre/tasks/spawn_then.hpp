// gyre/tasks/spawn_then.hpp: starts a task and passes its result to a callback. The reverse is from_callback.
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

/// Reports once how a task has ended. If it is destroyed before that, it reports that the task was cancelled. It
/// reports nothing when it is destroyed before it was armed, because the task could not be started.
template <class T, class Done>
class outcome_teller {
 public:
  using outcome = std::expected<storable<T>, std::exception_ptr>;

  /// `place` is updated with its address until it is armed; in the end it lives in the frame of the task.
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

  /// To be called once. An exception of `done` is reported.
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

/// Runs a task in the background and calls `done(outcome)` on the loop when it has ended, with std::expected<T,
/// std::exception_ptr>, for a task<U&> with a reference_to<U>. A cancel by the end of the loop is an exception too,
/// even when the task has not started by then.
///
/// Thread: that of the loop. `done` must not throw; an exception of it is reported to the loop's exception handler.
/// Errors: std::bad_alloc; then the task was not started, and `done` is not called.
template <class T, class Done>
void spawn_then(task<T> work, Done done, std::source_location where = std::source_location::current()) {
  static_assert(
      requires(std::expected<storable<T>, std::exception_ptr> outcome) { done(std::move(outcome)); },
      "spawn_then calls done(std::expected<T, std::exception_ptr>)");
  constexpr auto run = [](task<T> body, outcome_teller<T, Done> teller) -> task<> {
    std::expected<storable<T>, std::exception_ptr> outcome = std::unexpected(std::exception_ptr());
    try {
      if constexpr (std::is_void_v<T>) {
        co_await std::move(body);
        outcome.emplace();
      } else {
        outcome.emplace(co_await std::move(body));
      }
    } catch (...) {
      outcome = std::unexpected(std::current_exception());  // reported below
    }
    teller.tell(std::move(outcome));
  };
  outcome_teller<T, Done>* teller = nullptr;
  task<> telling = run(std::move(work), outcome_teller<T, Done>(std::move(done), where, teller));
  spawn(std::move(telling), {}, where).detach();
  teller->arm();  // it has not started: it is not eager
}
/// The same for `f()`: a lambda and its captures live as long as the task.
template <class F, class Done>
void spawn_then(F f, Done done, std::source_location where = std::source_location::current()) {
  static_assert(task_function<F>, "spawn_then takes a task, or a function without parameters that returns one");
  if constexpr (task_function<F>) spawn_then(call_in_frame(std::move(f)), std::move(done), where);
}

}  // namespace gyre
