// tests/growth/growth.hpp: compares the steps for an input with those for four times that input.
#pragma once

#include "tests/growth/steps.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace gyre_test {

inline std::string repeated(std::string_view text, std::size_t count) {
  std::string all;
  for (std::size_t i = 0; i < count; ++i) all += text;
  return all;
}

/// Texts that differ: "a0;", "a1;" …
inline std::string numbered(std::string_view before, std::string_view after, std::size_t count) {
  std::string all;
  for (std::size_t i = 0; i < count; ++i) all.append(before).append(std::to_string(i)).append(after);
  return all;
}

/// `steps(n)` returns the steps for an input of the size n.
template <class F>
void expect_linear(const char* what, F steps, std::size_t size = 1000) {
  const std::uint64_t once = steps(size);
  const std::uint64_t four_times = steps(4 * size);
  EXPECT_GT(once, 0U) << what << ": the work is not counted";
  EXPECT_LE(four_times, 5 * once) << what << ": " << once << " steps for " << size << ", " << four_times << " for "
                                  << 4 * size;
}

/// The same for work on the input that `make(n)` returns.
template <class Make, class Work>
void expect_linear_work(const char* what, Make make, Work work, std::size_t size = 1000) {
  expect_linear(
      what,
      [&](std::size_t n) {
        const auto input = make(n);
        return steps_of([&] { work(input); });
      },
      size);
}

}  // namespace gyre_test
