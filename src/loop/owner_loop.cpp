// src/loop/owner_loop.cpp: finds out whether an object belongs to the running loop.
#include <gyre/loop/event_loop.hpp>
#include <gyre/loop/operation.hpp>
#include <gyre/loop/owner_loop.hpp>

#include <atomic>

namespace gyre {

// Atomic, because it may be called on two threads at the same time: that is what it looks for.
void owner_loop::expect_own(const char* operation, const char* object) const noexcept {
  const event_loop* const running = event_loop::current_or_null();
  const std::uint32_t here = running != nullptr ? running->number() : 0;
  if (std::atomic_ref(number_).load(std::memory_order_relaxed) != here) [[unlikely]]
    change_to(here, operation, object);
}

void owner_loop::change_to(std::uint32_t here, const char* operation, const char* object) const noexcept {
  const std::atomic_ref number(number_);
  std::uint32_t owner = number.load(std::memory_order_relaxed);
  while (owner != here) {
    if (owner != 0 && event_loop::exists(owner)) return stop_on_other_loop(operation, object);
    if (here == 0 || number.compare_exchange_weak(owner, here, std::memory_order_relaxed)) return;
  }
}

}  // namespace gyre
