// gyre/io/buffer_pool.hpp: the receive buffers that all sockets of a loop share. For authors of operations.
#pragma once

#include <gyre/attributes.hpp>

#include <cstddef>
#include <cstdint>

namespace gyre::io {

/// A fixed number of receive buffers of one size. An idle connection holds none.
///
/// The backend takes buffers as data arrives, and the consumer of the data gives them back with `release`. A delivered
/// buffer can be linked into a list by its index (`next`), so queues of received data need no extra memory.
///
/// Thread: belongs to one loop.
class GYRE_API buffer_pool {
 public:
  static constexpr std::uint32_t none = ~std::uint32_t{0};

  struct slot {
    std::uint32_t next = none;  ///< free list, or a queue of its current owner
    std::uint32_t length = 0;   ///< bytes received into it
  };

  /// Units: `count` buffers (a power of two, at most 32768) of `size` bytes each. Memory is touched only when used.
  /// Errors: std::bad_alloc.
  buffer_pool(std::uint32_t count, std::uint32_t size);
  ~buffer_pool();
  buffer_pool& operator=(buffer_pool&&) = delete;

  [[nodiscard]] std::uint32_t count() const noexcept { return count_; }
  [[nodiscard]] std::uint32_t buffer_size() const noexcept { return size_; }
  /// The number of buffers in the free list. Those handed to the kernel are not counted.
  [[nodiscard]] std::uint32_t available() const noexcept { return available_; }
  [[nodiscard]] std::byte* data(std::uint32_t index) const noexcept { return memory_ + std::size_t{index} * size_; }
  [[nodiscard]] slot& at(std::uint32_t index) const noexcept { return slots_[index]; }

  /// Takes the free buffer that was released last (its cache lines are warm). Returns `none` when there is none.
  [[nodiscard]] std::uint32_t take() noexcept {
    const std::uint32_t index = free_;
    if (index != none) {
      free_ = slots_[index].next;
      --available_;
    }
    return index;
  }

  /// For a backend that hands buffers to the kernel before data has arrived: same as `take`, and counts the buffer as
  /// the kernel's.
  [[nodiscard]] std::uint32_t take_for_kernel() noexcept {
    const std::uint32_t index = take();
    if (index != none) ++with_kernel_;
    return index;
  }
  /// Records that the kernel has returned one of its buffers. The caller now owns it, as after `take`.
  void kernel_gave_back() noexcept { --with_kernel_; }
  [[nodiscard]] std::uint32_t with_kernel() const noexcept { return with_kernel_; }
  /// True when more than three quarters of the buffers hold unread data. The rest is reserved for the next data of any
  /// connection.
  [[nodiscard]] bool scarce() const noexcept {
    const std::uint64_t held = count_ - available_ - with_kernel_;
    return held * 4 > std::uint64_t{count_} * 3;
  }

  /// Gives a buffer back.
  void release(std::uint32_t index) noexcept {
    slots_[index].next = free_;
    free_ = index;
    ++available_;
  }

 private:
  std::byte* memory_;
  slot* slots_;
  std::uint32_t count_;
  std::uint32_t size_;
  std::uint32_t free_ = none;
  std::uint32_t available_ = 0;
  std::uint32_t with_kernel_ = 0;
};

}  // namespace gyre::io
