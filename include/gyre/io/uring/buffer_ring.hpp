// gyre/io/uring/buffer_ring.hpp: buffers that the kernel takes when data arrives.
#pragma once

#include <gyre/io/uring/ring.hpp>

#include <sys/mman.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>

namespace gyre::uring {

/// A group of provided buffers. Since 5.19.
///
/// The caller owns the memory of the buffers. The kernel may write into a buffer from `add` until the completion that
/// names its id. Thread: that of the ring. Lifetime: must outlive the ring.
class buffer_ring {
 public:
  buffer_ring() noexcept = default;
  buffer_ring& operator=(buffer_ring&&) = delete;
  ~buffer_ring() {
    if (buffers_ != nullptr) ::munmap(buffers_, bytes());
  }

  /// Registers an empty group of at most `entries` buffers, a power of two up to 32768. To be called once. Returns 0 or
  /// errno.
  int open(ring& owner, std::uint16_t group, std::uint32_t entries) noexcept {
    if (buffers_ != nullptr || entries == 0 || entries > 32768 || (entries & (entries - 1)) != 0) return EINVAL;
    mask_ = entries - 1;
    void* const memory =
        ::mmap(nullptr, bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (memory == MAP_FAILED) return ENOMEM;
    buffers_ = static_cast<provided_buffer*>(memory);
    buffer_ring_registration registration{};
    registration.ring_address = reinterpret_cast<std::uintptr_t>(memory);
    registration.ring_entries = entries;
    registration.group = group;
    const int result = owner.call_register(register_op::pbuf_ring, &registration, 1);
    return result < 0 ? -result : 0;
  }

  /// Adds a buffer; the kernel sees it after `publish`.
  void add(void* memory, std::uint32_t length, std::uint16_t id) noexcept {
    provided_buffer& b = buffers_[tail_++ & mask_];
    b.address = reinterpret_cast<std::uintptr_t>(memory);
    b.length = length;
    b.id = id;
  }
  void publish() noexcept { __atomic_store_n(&buffers_[0].reserved, tail_, __ATOMIC_RELEASE); }

 private:
  [[nodiscard]] std::size_t bytes() const noexcept { return (std::size_t{mask_} + 1) * sizeof(provided_buffer); }

  provided_buffer* buffers_ = nullptr;
  std::uint32_t mask_ = 0;
  std::uint16_t tail_ = 0;
};

}  // namespace gyre::uring
