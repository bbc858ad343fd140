// tests/support/failing_allocations.hpp: an operator new that fails on demand. Include it in one file of a program.
#pragma once

#include <cstdlib>
#include <new>

namespace gyre_test {

/// The number of allocations of this thread that succeed before one fails. If negative, none fails.
inline thread_local int allocations_left = -1;

/// While it exists, one allocation of this thread fails: the one after `successes` others.
class fail_one_allocation {
 public:
  explicit fail_one_allocation(int successes = 0) noexcept { allocations_left = successes; }
  fail_one_allocation(const fail_one_allocation&) = delete;
  ~fail_one_allocation() { allocations_left = -1; }
  /// True when it has already failed.
  [[nodiscard]] static bool failed() noexcept { return allocations_left < 0; }
};

inline void count_allocation() {
  if (allocations_left == 0) {
    allocations_left = -1;
    throw std::bad_alloc();
  }
  if (allocations_left > 0) --allocations_left;
}

}  // namespace gyre_test

[[gnu::noinline]] void* operator new(std::size_t size) {
  gyre_test::count_allocation();
  if (void* const memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t size, std::align_val_t alignment) {
  gyre_test::count_allocation();
  const auto unit = static_cast<std::size_t>(alignment);
  if (void* const memory = std::aligned_alloc(unit, (size + unit - 1) / unit * unit)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
