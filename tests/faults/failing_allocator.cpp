// tests/faults/failing_allocator.cpp: replaces operator new and delete of the whole test program.
#include "tests/faults/failing_allocator.hpp"

#include <execinfo.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <new>

namespace gyre_test::allocations {
namespace {

constexpr int depth = 24;
struct stack {
  void* frames[depth];
  int size = 0;
  void take() noexcept { size = ::backtrace(frames, depth); }
  void print() const noexcept { ::backtrace_symbols_fd(frames, size, STDERR_FILENO); }
};

std::atomic<long> left{0};     // allocations up to and including the last that fails; 0 means that none fails
std::atomic<long> failing{1};  // the number of these, from the end, that fail
std::atomic<bool> has_failed{false};
std::atomic<long> alive{0};
stack failure;

// The record is a hash table by address, large enough for the allocations of one scenario.
constexpr std::size_t places = 1U << 14U;
struct place {
  void* memory = nullptr;
  stack from;
};
std::atomic<bool> recording{false};
std::atomic_flag table_lock;
place* table = nullptr;

struct table_guard {
  table_guard() noexcept {
    while (table_lock.test_and_set(std::memory_order_acquire)) {
    }
  }
  table_guard(const table_guard&) = delete;
  table_guard& operator=(const table_guard&) = delete;
  ~table_guard() { table_lock.clear(std::memory_order_release); }
};

void remember(void* memory) noexcept {
  const table_guard guard;
  for (std::size_t i = 0; i < places; ++i) {
    place& at = table[(reinterpret_cast<std::uintptr_t>(memory) / 16 + i) % places];
    if (at.memory != nullptr) continue;
    at.memory = memory;
    at.from.take();
    return;
  }
}

void forget(const void* memory) noexcept {
  const table_guard guard;
  for (std::size_t i = 0; i < places; ++i) {
    place& at = table[i];
    if (at.memory == memory) {
      at.memory = nullptr;
      return;
    }
  }
}

bool is_the_one() noexcept {
  long before = left.load(std::memory_order_relaxed);
  while (before > 0)
    if (left.compare_exchange_weak(before, before - 1, std::memory_order_relaxed)) break;
  if (before == 0 || before > failing) return false;
  if (!has_failed.exchange(true)) failure.take();
  return true;
}

void* allocate(std::size_t size, std::size_t alignment) noexcept {
  if (left.load(std::memory_order_relaxed) > 0 && is_the_one()) return nullptr;
  size = std::max<std::size_t>(size, 1);
  void* const memory = alignment <= alignof(std::max_align_t)
                           ? std::malloc(size)
                           : std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
  if (memory == nullptr) return nullptr;
  alive.fetch_add(1, std::memory_order_relaxed);
  if (recording.load(std::memory_order_relaxed)) remember(memory);
  return memory;
}

void* allocate_or_throw(std::size_t size, std::size_t alignment) {
  if (void* const memory = allocate(size, alignment)) return memory;
  throw std::bad_alloc();
}

void deallocate(void* memory) noexcept {
  if (memory == nullptr) return;
  alive.fetch_sub(1, std::memory_order_relaxed);
  if (recording.load(std::memory_order_relaxed)) forget(memory);
  std::free(memory);
}

}  // namespace

void fail_nth(long n, long further) noexcept {
  stack warm;
  warm.take();
  has_failed = false;
  failing = 1 + further;
  left = n + further;
}

bool stop_failing() noexcept {
  left = 0;
  return has_failed;
}

long live() noexcept { return alive; }

void record(bool on) noexcept {
  if (table == nullptr) table = static_cast<place*>(std::calloc(places, sizeof(place)));
  if (on)
    for (std::size_t i = 0; i < places; ++i) table[i].memory = nullptr;
  recording = on;
}

void print_recorded() noexcept {
  for (std::size_t i = 0; table != nullptr && i < places; ++i) {
    if (table[i].memory == nullptr) continue;
    std::fprintf(stderr, "not freed, allocated at:\n");
    table[i].from.print();
  }
}

void print_failure() noexcept {
  std::fprintf(stderr, "the allocation that failed:\n");
  failure.print();
}

}  // namespace gyre_test::allocations

namespace {
constexpr std::size_t usual = alignof(std::max_align_t);
using gyre_test::allocations::allocate;
using gyre_test::allocations::allocate_or_throw;
using gyre_test::allocations::deallocate;
}  // namespace

void* operator new(std::size_t n) { return allocate_or_throw(n, usual); }
void* operator new[](std::size_t n) { return allocate_or_throw(n, usual); }
void* operator new(std::size_t n, std::align_val_t a) { return allocate_or_throw(n, static_cast<std::size_t>(a)); }
void* operator new[](std::size_t n, std::align_val_t a) { return allocate_or_throw(n, static_cast<std::size_t>(a)); }
void* operator new(std::size_t n, const std::nothrow_t&) noexcept { return allocate(n, usual); }
void* operator new[](std::size_t n, const std::nothrow_t&) noexcept { return allocate(n, usual); }
void* operator new(std::size_t n, std::align_val_t a, const std::nothrow_t&) noexcept {
  return allocate(n, static_cast<std::size_t>(a));
}
void* operator new[](std::size_t n, std::align_val_t a, const std::nothrow_t&) noexcept {
  return allocate(n, static_cast<std::size_t>(a));
}
void operator delete(void* p) noexcept { deallocate(p); }
void operator delete[](void* p) noexcept { deallocate(p); }
void operator delete(void* p, std::size_t) noexcept { deallocate(p); }
void operator delete[](void* p, std::size_t) noexcept { deallocate(p); }
void operator delete(void* p, std::align_val_t) noexcept { deallocate(p); }
void operator delete[](void* p, std::align_val_t) noexcept { deallocate(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { deallocate(p); }
void operator delete[](void* p, std::size_t, std::align_val_t) noexcept { deallocate(p); }
void operator delete(void* p, const std::nothrow_t&) noexcept { deallocate(p); }
void operator delete[](void* p, const std::nothrow_t&) noexcept { deallocate(p); }
