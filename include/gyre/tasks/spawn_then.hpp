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

/// Tells once how a task has ended; when it is destroyed before, that the task was cancelled.
template <class T, class Done>
class outcome_teller {
 public:
  using outcome = std::expected<T, std::exception_ptr>;

  outcome_teller(Done done, std::source_location where) : done_(std::in_place, std::move(done)), where_(where) {}
  outcome_teller(outcome_teller&& other) noexcept(std::is_nothrow_move_constructible_v<Done>)
      : done_(std::exchange(other.done_, std::nullopt)), where_(other.where_) {}
  outcome_teller& operator=(outcome_teller&&) = delete;
  ~outcome_teller() {
    if (done_) tell(std::unexpected(std::make_exception_ptr(cancelled())));
  }

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
};

/// Runs a task in the background and calls `done(outcome)` on the loop when
/// it has ended, with std::expected<T, std::exception_ptr>; a cancel by the end of the loop is an exception too, also when
/// the task has not begun by then.
///
/// Thread: that of the loop. `done` must not throw; what it throws is reported to the loop's exception handler.
template <class T, class Done>
void spawn_then(task<T> work, Done done, std::source_location where = std::source_location::current()) {
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
  spawn(run(std::move(work), outcome_teller<T, Done>(std::move(done), where)), {}, where).detach();
}

}  // namespace gyre
