// gyre/loop/deadline.hpp: from a std::chrono duration to a point of the loop's clock.
#pragma once

#include <gyre/loop/event_loop.hpp>

#include <chrono>

namespace gyre {

/// A point of the loop's clock: CLOCK_MONOTONIC, or virtual time. Same epoch as std::chrono::steady_clock.
using time_point = std::chrono::steady_clock::time_point;

/// The time as this thread's loop sees it.
[[nodiscard]] inline time_point now() noexcept {
  return time_point(std::chrono::nanoseconds(event_loop::current().now()));
}

[[nodiscard]] inline io::monotonic_time deadline_at(time_point when) noexcept {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(when.time_since_epoch()).count();
}

/// The time of the loop's clock `duration` from now, saturated: a duration too long to count means never, a negative
/// one or not-a-number means now. Fractions of a nanosecond are rounded up.
template <class Rep, class Period>
[[nodiscard]] io::monotonic_time deadline_after(std::chrono::duration<Rep, Period> duration) noexcept {
  using seconds = std::chrono::duration<double>;
  constexpr double centuries = 9.0e9;
  const double length = std::chrono::duration_cast<seconds>(duration).count();
  const io::monotonic_time now = event_loop::current().now();
  if (!(length > 0)) return now;
  if (length > centuries - static_cast<double>(now) * 1e-9) return io::wait_forever;
  return now + std::chrono::ceil<std::chrono::nanoseconds>(duration).count();
}

}  // namespace gyre
