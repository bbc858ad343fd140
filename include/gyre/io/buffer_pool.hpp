// gyre/io/buffer_pool.hpp: the receive buffers that all sockets of a loop share. For authors of operations.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/checked_build.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace gyre::io {

/// A fixed number of receive buffers, and a few large ones for streams that move much. An idle connection holds none.
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

  struct amount {
    std::uint32_t count;
    std::uint32_t size;  ///< bytes of each
  };

  /// `common.count` is a power of two, at most 32768. `large.count` may be 0. Memory is touched only when used.
  /// Errors: std::bad_alloc.
  explicit buffer_pool(amount common, amount large = {.count = 0, .size = 0});
  ~buffer_pool();
  buffer_pool& operator=(buffer_pool&&) = delete;

  [[nodiscard]] std::uint32_t count() const noexcept { return common_.count; }
  [[nodiscard]] std::uint32_t buffer_size() const noexcept { return common_.size; }
  [[nodiscard]] std::uint32_t large_count() const noexcept { return large_.count; }
  [[nodiscard]] std::uint32_t large_size() const noexcept { return large_.size; }
  /// The number of buffers in the free list. Those handed to the kernel are not counted.
  [[nodiscard]] std::uint32_t available() const noexcept { return common_free_.length; }
  [[nodiscard]] std::uint32_t large_available() const noexcept { return large_free_.length; }
  /// Large buffers have the indices after those of the common ones.
  [[nodiscard]] bool is_large(std::uint32_t index) const noexcept { return index >= common_.count; }
  [[nodiscard]] std::byte* data(std::uint32_t index) const noexcept {
    if (is_large(index)) return large_memory_ + std::size_t{index - common_.count} * large_.size;
    return memory_ + std::size_t{index} * common_.size;
  }
  [[nodiscard]] slot& at(std::uint32_t index) const noexcept { return slots_[index]; }

  /// Takes the free buffer that was released last (its cache lines are warm). Returns `none` when there is none.
  [[nodiscard]] std::uint32_t take() noexcept { return take_from(common_free_); }
  [[nodiscard]] std::uint32_t take_large() noexcept { return take_from(large_free_); }

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
  /// True when somebody holds a buffer: it is neither free nor the kernel's.
  [[nodiscard]] bool in_use() const noexcept { return held() > 0 || large_free_.length < large_.count; }
  /// True when more than three quarters of the common buffers hold unread data. The rest is reserved for the next data
  /// of any connection.
  [[nodiscard]] bool scarce() const noexcept { return std::uint64_t{held()} * 4 > std::uint64_t{common_.count} * 3; }
  /// The number of common buffers that can be filled before they are scarce.
  [[nodiscard]] std::uint32_t before_scarce() const noexcept {
    const std::uint32_t limit = common_.count / 4 * 3;
    return held() < limit ? limit - held() : 0;
  }

  /// True when more than a quarter of the common buffers hold unread data. A receive that would fill many at once could
  /// then use up the reserve.
  [[nodiscard]] bool fills_up() const noexcept { return std::uint64_t{held()} * 4 > common_.count; }

  /// Gives a buffer back. In debug builds, stops the program when another thread than that of the loop does so.
  void release(std::uint32_t index) noexcept {
    if constexpr (checks_everything)
      if (thread_ != this_thread()) [[unlikely]]
        stop_on_other_thread();
    free_list& list = is_large(index) ? large_free_ : common_free_;
    slots_[index].next = std::exchange(list.first, index);
    ++list.length;
  }

 private:
  [[nodiscard]] static const void* this_thread() noexcept;
  [[noreturn]] static void stop_on_other_thread() noexcept;

  struct free_list {
    std::uint32_t first = none;
    std::uint32_t length = 0;
  };
  [[nodiscard]] std::uint32_t take_from(free_list& list) noexcept {
    const std::uint32_t index = list.first;
    if (index != none) {
      list.first = slots_[index].next;
      --list.length;
    }
    return index;
  }
  [[nodiscard]] std::uint32_t held() const noexcept { return common_.count - common_free_.length - with_kernel_; }
  [[nodiscard]] std::size_t common_bytes() const noexcept { return std::size_t{common_.count} * common_.size; }
  [[nodiscard]] std::size_t bytes() const noexcept { return common_bytes() + std::size_t{large_.count} * large_.size; }

  std::byte* memory_ = nullptr;
  std::byte* large_memory_ = nullptr;  // behind the common buffers, in the same mapping
  slot* slots_;
  amount common_;
  amount large_;
  free_list common_free_;
  free_list large_free_;
  std::uint32_t with_kernel_ = 0;
  const void* thread_ = this_thread();  // of the loop
};

}  // namespace gyre::io
