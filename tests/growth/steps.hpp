// tests/growth/steps.hpp: counts what the library does, so that work that grows faster than its input is noticed.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gyre_test {

/// The steps of the counted sources so far (see CMakeLists.txt): one for each block of instructions that runs, and one
/// for each 16 bytes that memcpy and its relatives touch. The same work has the same number of steps, on any machine.
/// Work of other sources does not count, and neither does that of malloc.
[[nodiscard]] std::uint64_t steps() noexcept;

template <class F>
[[nodiscard]] std::uint64_t steps_of(F work) {
  const std::uint64_t before = steps();
  work();
  return steps() - before;
}

}  // namespace gyre_test
