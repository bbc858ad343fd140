// gyre/io/buffer_lease.hpp: received bytes in a buffer that is borrowed until the lease is destroyed.
#pragma once

#include <gyre/io/buffer_pool.hpp>

#include <cstddef>
#include <span>
#include <string_view>
#include <utility>

namespace gyre {

/// Received bytes, at the place where the kernel stored them. Empty at the end of the stream. Functions that take
/// std::span<const std::byte> take a named lease.
///
/// Lifetime: the destructor gives the buffer back to its loop's pool. A loop that ends while one of its leases is held
/// stops the program with a message. All connections share the pool. While many leases are held, arriving data is
/// copied into separate memory, which is slower.
/// Thread: belongs to the loop that received it. Another thread may read the bytes while a task of the loop waits for
/// that. Debug builds stop the program when another thread gives the buffer back.
class [[nodiscard]] buffer_lease {
 public:
  buffer_lease() noexcept = default;
  /// Takes over buffer `index` of `pool`, of which `data` is a part.
  buffer_lease(io::buffer_pool& pool, std::uint32_t index, std::span<std::byte> data) noexcept
      : data_(data.data()), size_(data.size()), owner_(&pool), index_(index) {}
  /// Takes over `block`, made with new std::byte[], of which `data` is a part.
  buffer_lease(std::byte* block, std::span<std::byte> data) noexcept
      : data_(data.data()), size_(data.size()), owner_(block) {}
  buffer_lease(buffer_lease&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)),
        owner_(std::exchange(other.owner_, nullptr)),
        index_(other.index_) {}
  buffer_lease& operator=(buffer_lease&& other) noexcept {
    buffer_lease moved(std::move(other));
    std::swap(data_, moved.data_);
    std::swap(size_, moved.size_);
    std::swap(owner_, moved.owner_);
    std::swap(index_, moved.index_);
    return *this;
  }
  ~buffer_lease() {
    void* const owner = std::exchange(owner_, nullptr);
    if (owner == nullptr) return;
    if (index_ == io::buffer_pool::none)
      delete[] static_cast<std::byte*>(owner);
    else
      static_cast<io::buffer_pool*>(owner)->release(index_);
  }

  [[nodiscard]] std::span<std::byte> bytes() const noexcept { return {data_, size_}; }
  // NOLINTNEXTLINE(google-explicit-constructor): socket.send_to(datagram.payload, peer)
  operator std::span<const std::byte>() const& noexcept { return bytes(); }
  operator std::span<const std::byte>() const&& = delete;  // the bytes would be gone  // NOLINT
  [[nodiscard]] std::string_view text() const noexcept { return {reinterpret_cast<const char*>(data_), size_}; }
  [[nodiscard]] std::byte* data() const noexcept { return data_; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  explicit operator bool() const noexcept { return size_ != 0; }

  /// Drops the first `count` bytes, at most all.
  void consume(std::size_t count) noexcept {
    count = count < size_ ? count : size_;
    data_ += count;
    size_ -= count;
  }

  /// Keeps the first `size` bytes, at most all.
  void shorten(std::size_t size) noexcept { size_ = size < size_ ? size : size_; }

  /// Gives the buffer back now.
  void release() noexcept { *this = buffer_lease(); }

 private:
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  void* owner_ = nullptr;  // a pool, or a separate block when index_ is none
  std::uint32_t index_ = io::buffer_pool::none;
};

}  // namespace gyre
