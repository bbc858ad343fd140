// gyre/io/monotonic_clock.hpp: the clock of deadlines. For authors of operations.
#pragma once

#include <cstdint>
#include <ctime>

namespace gyre::io {

/// CLOCK_MONOTONIC in nanoseconds. Thread: any; signal handlers.
[[nodiscard]] inline std::int64_t monotonic_now() noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

}  // namespace gyre::io
