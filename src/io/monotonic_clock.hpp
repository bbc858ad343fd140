// src/io/monotonic_clock.hpp: the clock for the deadlines of backends.
#pragma once

#include <gyre/io/backend.hpp>

#include <ctime>

namespace gyre::io {

inline monotonic_time clock_now() noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return monotonic_time{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

}  // namespace gyre::io
