// gyre/io/buffer_pool.hpp: the receive buffers that all sockets of a loop share.
#pragma once

#include <gyre/attributes.hpp>

#include <cstddef>
#include <cstdint>

namespace gyre::io {

/// A fixed number of receive buffers of one size, of which an idle connection holds none.
///
/// The backend takes buffers as data arrives, whoever consumed the data gives them back with `release`.
/// A buffer that has been delivered can be linked into a list by its index (`next`), so that queues of
/// received data need no memory of their own.
///
/// Thread: belongs to one loop.
class GYRE_API buffer_pool {
 public:
  static constexpr std::uint32_t none = ~std::uint32_t{0};

  struct slot {
    std::uint32_t next = none;  ///< free list, or a queue of its present owner
    std::uint32_t length = 0;   ///< bytes received into it
  };

  /// Units: `count` buffers (a power of two, at most 32768) of `size` bytes each. Memory is touched only
  /// when used. Errors: std::bad_alloc.
  buffer_pool(std::uint32_t count, std::uint32_t size);
  ~buffer_pool();
  buffer_pool(const buffer_pool&) = delete;
  buffer_pool& operator=(const buffer_pool&) = delete;

  [[nodiscard]] std::uint32_t count() const noexcept { return count_; }
  [[nodiscard]] std::uint32_t buffer_size() const noexcept { return size_; }
  /// Buffers in the free list (those handed to the kernel are not).
  [[nodiscard]] std::uint32_t available() const noexcept { return available_; }
  [[nodiscard]] std::byte* data(std::uint32_t index) const noexcept { return memory_ + std::size_t{index} * size_; }
  [[nodiscard]] slot& at(std::uint32_t index) const noexcept { return slots_[index]; }

  /// A free buffer, the one released last (its cache lines are warm), or `none`.
  [[nodiscard]] std::uint32_t take() noexcept {
    const std::uint32_t index = free_;
    if (index != none) {
      free_ = slots_[index].next;
      --available_;
    }
    return index;
  }

  /// For a backend that hands buffers to the kernel before anything has arrived: `take`, counted as the kernel's.
  [[nodiscard]] std::uint32_t take_for_kernel() noexcept {
    const std::uint32_t index = take();
    if (index != none) ++with_kernel_;
    return index;
  }
  /// The kernel has given one of its buffers back: whoever calls this owns it now, as after `take`.
  void kernel_gave_back() noexcept { --with_kernel_; }
  [[nodiscard]] std::uint32_t with_kernel() const noexcept { return with_kernel_; }
  /// More than three quarters hold what nobody has used yet. The rest is for what arrives next, on whatever connection.
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
