// gyre/loop/deadline.hpp: converts std::chrono durations to points of the loop's clock.
#pragma once

#include <gyre/loop/event_loop.hpp>

#include <chrono>

namespace gyre {

/// A point of the loop's clock: CLOCK_MONOTONIC, or virtual time. Same epoch as std::chrono::steady_clock.
using time_point = std::chrono::steady_clock::time_point;

/// The current time of this thread's loop.
[[nodiscard]] inline time_point now() noexcept {
  return time_point(std::chrono::nanoseconds(event_loop::current().now()));
}

[[nodiscard]] inline io::monotonic_time deadline_at(time_point when) noexcept {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(when.time_since_epoch()).count();
}

/// Converts a duration to the loop's unit. Fractions of a nanosecond are rounded up. A duration that is too long
/// becomes std::chrono::nanoseconds::max(). A negative one or not-a-number becomes zero.
template <class Rep, class Period>
[[nodiscard]] std::chrono::nanoseconds whole_nanoseconds(std::chrono::duration<Rep, Period> duration) noexcept {
  constexpr double centuries = 9.0e9;
  const double seconds = std::chrono::duration_cast<std::chrono::duration<double>>(duration).count();
  if (!(seconds > 0)) return std::chrono::nanoseconds::zero();
  if (seconds > centuries) return std::chrono::nanoseconds::max();
  return std::chrono::ceil<std::chrono::nanoseconds>(duration);
}

/// The point of the loop's clock `duration` from now, or io::wait_forever when that cannot be represented.
template <class Rep, class Period>
[[nodiscard]] io::monotonic_time deadline_after(std::chrono::duration<Rep, Period> duration) noexcept {
  const io::monotonic_time now = event_loop::current().now();
  const io::monotonic_time length = whole_nanoseconds(duration).count();
  return length < io::wait_forever - now ? now + length : io::wait_forever;
}

}  // namespace gyre
