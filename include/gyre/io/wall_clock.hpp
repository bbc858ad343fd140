// gyre/io/wall_clock.hpp: the time of day.
#pragma once

#include <gyre/io/kernel.hpp>

#include <cstdint>
#include <ctime>

namespace gyre::io {

/// Time since 1970. Advances in the ticks of file systems, every few milliseconds, and is cheap to read.
[[nodiscard]] inline timespec wall_clock() noexcept {
  timespec now{};
  kernel::here().clock_gettime(CLOCK_REALTIME_COARSE, &now);
  return now;
}

/// The same in nanoseconds.
[[nodiscard]] inline std::int64_t wall_clock_ns() noexcept {
  const timespec now = wall_clock();
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

}  // namespace gyre::io
