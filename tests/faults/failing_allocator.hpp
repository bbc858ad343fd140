// tests/faults/failing_allocator.hpp: an operator new that fails on demand and counts live allocations.
#pragma once

#include <cstddef>

namespace gyre_test::allocations {

/// Makes the n-th allocation from now on fail (1 is the next one), on any thread, and the `further` allocations after
/// it. Later ones succeed.
void fail_nth(long n, long further = 0) noexcept;
/// Stops failing. Returns true when an allocation has failed since fail_nth.
bool stop_failing() noexcept;
/// The number of allocations that have not been freed.
[[nodiscard]] long live() noexcept;

/// Records where allocations are made; `print_recorded` prints those that are still live.
void record(bool on) noexcept;
void print_recorded() noexcept;
/// Prints the stack of the last allocation that failed.
void print_failure() noexcept;

}  // namespace gyre_test::allocations
