// gyre/coro/frame_pool.hpp: recycles the memory of coroutine frames and of small per-task objects.
// For authors of operations.
#pragma once

#include <gyre/attributes.hpp>

#include <cstddef>
#include <cstdint>
#include <new>

namespace gyre {

/// A lock-free cache of freed blocks by size class, one per thread and therefore one per loop.
///
/// A block that is freed on a different thread than it was allocated on goes into the cache of the freeing thread:
/// blocks are plain operator-new memory without an owner. Each class keeps at most `max_cached_bytes`. Further blocks
/// go back to the heap, and so does the whole cache when the thread ends. Under an address, memory or thread sanitizer
/// every block comes from the heap and returns to it, so that the sanitizer sees it. This also holds when this library
/// was built without a sanitizer. GYRE_NO_FRAME_POOL does the same for all code that is compiled with it; it must then
/// be defined for the library, too.
class frame_pool {
 public:
  static constexpr std::size_t granule = 16;                              ///< bytes between size classes
  static constexpr std::size_t largest = 4088;                            ///< larger blocks are not cached
  static constexpr std::size_t max_cached_bytes = std::size_t{2} << 20U;  ///< per class

  /// Errors: std::bad_alloc.
  [[nodiscard]] static void* allocate(std::size_t size) {
#ifndef GYRE_NO_FRAME_POOL
    const std::size_t index = class_of(size);
    if (index < classes) [[likely]] {
      bin& free = bins_[index];
      if (block* const top = free.top; top != nullptr) [[likely]] {
        free.top = top->next;
        --free.count;
        return top;
      }
    }
#endif
    return allocate_from_heap(size);
  }

  /// `size` is the size that was passed to allocate. Thread: any that has not yet destroyed its thread-local objects.
  static void deallocate(void* memory, std::size_t size) noexcept {
#ifndef GYRE_NO_FRAME_POOL
    const std::size_t index = class_of(size);
    if (index < classes) [[likely]] {
      bin& free = bins_[index];
      if (free.count < free.limit) [[likely]] {
        free.top = ::new (memory) block{free.top};
        ++free.count;
        return;
      }
    }
#endif
    return_to_heap(memory, size);
  }

  /// Empties and disables the cache of this thread: from now on every block comes from the heap and returns to it.
  /// Tests that make allocations fail call this, so that they reach every frame.
  GYRE_API static void keep_nothing() noexcept;

 private:
  // A class holds the usable size of a malloc block on this machine: a multiple of 16 bytes less 8 for malloc's header.
  static constexpr std::size_t class_of(std::size_t size) noexcept { return (size + 7) / granule; }
  static constexpr std::size_t capacity_of(std::size_t index) noexcept { return index * granule + 8; }
  static constexpr std::size_t classes = (largest + 7) / granule + 1;
  struct block {
    block* next;
  };
  struct bin {
    block* top = nullptr;
    std::uint32_t count = 0;
    std::uint32_t limit = 0;  // 0 until freeing the cache at the thread's end is arranged
  };
  struct thread_end;

  GYRE_API static void* allocate_from_heap(std::size_t size);
  GYRE_API static void return_to_heap(void* memory, std::size_t size) noexcept;

  GYRE_API static constinit thread_local bin bins_[classes];
};

/// Base of objects that come from the pool. An over-aligned object comes from the heap.
struct pooled {
  static void* operator new(std::size_t size) { return frame_pool::allocate(size); }
  static void operator delete(void* memory, std::size_t size) noexcept { frame_pool::deallocate(memory, size); }
  static void* operator new(std::size_t size, std::align_val_t alignment) { return ::operator new(size, alignment); }
  static void operator delete(void* memory, std::size_t size, std::align_val_t alignment) noexcept {
    ::operator delete(memory, size, alignment);
  }
};

}  // namespace gyre
