// src/coro/frame_pool.cpp: the frame pool's use of the heap.
#include <gyre/coro/frame_pool.hpp>

#include <new>

// Each of these exists when the program runs with that sanitizer, however this file was compiled.
// NOLINTBEGIN(bugprone-reserved-identifier): the names are theirs
extern "C" {
[[gnu::weak]] void __asan_init();
[[gnu::weak]] void __hwasan_init();
[[gnu::weak]] void __msan_init();
[[gnu::weak]] void __tsan_init();
}
// NOLINTEND(bugprone-reserved-identifier)

namespace gyre {
namespace {

// Decided at run time. Inline functions of this library may come from objects built with a sanitizer and from others
// built without one, and the linker keeps only one copy.
bool runs_with_sanitizer() noexcept {
  return &__asan_init != nullptr || &__hwasan_init != nullptr || &__msan_init != nullptr || &__tsan_init != nullptr;
}

}  // namespace

constinit thread_local frame_pool::bin frame_pool::bins_[frame_pool::classes] = {};

// Separate from the bins: a thread-local object with a destructor would put a guard on every access to them.
struct frame_pool::thread_end {
  thread_end() noexcept {
    if (runs_with_sanitizer())
      return;  // the limits stay 0: every block returns to the heap, where the sanitizer sees it
    for (std::size_t i = 0; i < classes; ++i)
      bins_[i].limit = static_cast<std::uint32_t>(max_cached_bytes / capacity_of(i));
  }
  thread_end& operator=(thread_end&&) = delete;
  ~thread_end() { empty(); }

  // Afterwards, blocks freed on this thread go straight to the heap.
  static void empty() noexcept {
    for (bin& free : bins_) {
      free.limit = 0;
      while (free.top != nullptr) {
        void* const memory = free.top;
        free.top = free.top->next;
        ::operator delete(memory);
      }
      free.count = 0;
    }
  }
  // Created by the first allocation of a thread.
  static void of_this_thread() noexcept {
    thread_local const thread_end cleanup;
    (void)cleanup;
  }
};

void frame_pool::keep_nothing() noexcept {
#ifndef GYRE_NO_FRAME_POOL
  thread_end::of_this_thread();
  thread_end::empty();
#endif
}

void* frame_pool::allocate_from_heap(std::size_t size) {
#ifndef GYRE_NO_FRAME_POOL
  thread_end::of_this_thread();
  // A pooled block fits every size of its class. A block that is never pooled has its exact
  // size, so that overruns are detected.
  if (const std::size_t index = class_of(size); index < classes && !runs_with_sanitizer()) size = capacity_of(index);
#endif
  return ::operator new(size);
}

void frame_pool::return_to_heap(void* memory, std::size_t /*size*/) noexcept { ::operator delete(memory); }

}  // namespace gyre
