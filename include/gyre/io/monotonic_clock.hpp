// gyre/io/monotonic_clock.hpp: the clock of deadlines. For authors of operations.
#pragma once

#include <gyre/io/kernel.hpp>

#include <cstdint>
#include <ctime>

namespace gyre::io {

/// CLOCK_MONOTONIC in nanoseconds. Thread: any; signal handlers.
[[nodiscard]] inline std::int64_t monotonic_now(const kernel& of = kernel::here()) noexcept {
  timespec now{};
  of.clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

}  // namespace gyre::io
