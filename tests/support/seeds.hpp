// tests/support/seeds.hpp: runs a randomized test for many seeds, and reports the seed that failed.
#pragma once

#include "tests/support/time_limit.hpp"

#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <random>

namespace gyre_test {

/// A source of choices that depends only on the seed.
class choices {
 public:
  explicit choices(unsigned seed) : engine_(seed) {}

  /// From 0 to `count` - 1.
  [[nodiscard]] std::size_t below(std::size_t count) { return static_cast<std::size_t>(engine_() % count); }
  [[nodiscard]] std::size_t between(std::size_t low, std::size_t high) { return low + below(high - low + 1); }
  /// True in one of `times` calls on average.
  [[nodiscard]] bool one_in(std::size_t times) { return below(times) == 0; }
  /// A size that is mostly small, and sometimes near `most`.
  [[nodiscard]] std::size_t size_up_to(std::size_t most) {
    const std::size_t limits[] = {4, 40, 400, most};
    return between(1, std::min(most, limits[below(4)]));
  }

 private:
  std::mt19937_64 engine_;
};

/// Ends the program and names the seed if that has not ended after 30 seconds, because a lost cancel hangs forever.
class seed_alarm {
 public:
  explicit seed_alarm(unsigned seed) {
    std::snprintf(message_, sizeof(message_), "seed %u hangs\n", seed);
    std::signal(SIGALRM, [](int) {
      (void)!::write(STDERR_FILENO, message_, std::strlen(message_));
      ::_exit(1);
    });
    ::alarm(30);
  }
  seed_alarm(const seed_alarm&) = delete;
  seed_alarm& operator=(const seed_alarm&) = delete;
  ~seed_alarm() { ::alarm(0); }

 private:
  static inline char message_[40];
};

inline unsigned number_from_environment(const char* name, unsigned otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr ? otherwise : static_cast<unsigned>(std::strtoul(text, nullptr, 10));
}

/// Runs `scenario(seed)` for GYRE_SEEDS seeds (defaults to `usual`) from GYRE_FIRST_SEED (defaults to 1) on. Continues
/// with more until GYRE_SEED_SECONDS (defaults to 0) have passed. Stops at the first seed that fails or throws.
template <class Scenario>
void for_each_seed(unsigned usual, Scenario scenario) {
  const unsigned first = number_from_environment("GYRE_FIRST_SEED", 1);
  const unsigned count = number_from_environment("GYRE_SEEDS", usual);
  const auto until =
      std::chrono::steady_clock::now() + std::chrono::seconds(number_from_environment("GYRE_SEED_SECONDS", 0));
  for (unsigned seed = first; seed - first < count || std::chrono::steady_clock::now() < until; ++seed) {
    const seed_alarm alarm(seed);
    restart_time_limit();
    try {
      scenario(seed);
    } catch (const std::exception& failure) {
      ADD_FAILURE() << failure.what();
    }
    if (!testing::Test::HasFailure()) continue;
    ADD_FAILURE() << "that was GYRE_FIRST_SEED=" << seed;
    return;
  }
}

}  // namespace gyre_test
