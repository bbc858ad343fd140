// src/http/transport/cipher_buffers.hpp: the buffers of encrypted connections, shared by all of a server on one loop.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace gyre::http {

/// Idle connections have none of them. Keeps as many as have been in use at the same time, within a bound.
class cipher_buffers {
 public:
  static constexpr std::size_t plain_size = std::size_t{64} << 10U;
  static constexpr std::size_t small_plain_size = std::size_t{16} << 10U;

  /// A buffer for bytes that are used after an await, too.
  struct plain_block {
    std::unique_ptr<std::byte[]> memory;
    bool large = false;
    [[nodiscard]] std::span<std::byte> bytes() const noexcept {
      return {memory.get(), large ? plain_size : small_plain_size};
    }
  };

  /// A buffer for bytes that are used before the next await. Errors: std::bad_alloc.
  [[nodiscard]] std::span<std::byte> plain() {
    if (plain_ == nullptr) plain_ = std::make_unique_for_overwrite<std::byte[]>(plain_size);
    return {plain_.get(), plain_size};
  }
  /// `large` chooses plain_size, otherwise small_plain_size. Errors: std::bad_alloc.
  [[nodiscard]] plain_block take_plain(bool large) {
    plain_blocks& of = large ? large_ : small_;
    if (of.count > 0) return {.memory = std::move(of.free[--of.count]), .large = large};
    return {.memory = std::make_unique_for_overwrite<std::byte[]>(large ? plain_size : small_plain_size),
            .large = large};
  }
  void give_back_plain(plain_block used) noexcept {
    plain_blocks& of = used.large ? large_ : small_;
    if (used.memory != nullptr && of.count < of.free.size()) of.free[of.count++] = std::move(used.memory);
  }
  /// Gives `empty` the memory of an earlier string.
  void lend(std::string& empty) noexcept {
    if (count_ == 0 || empty.capacity() >= free_[count_ - 1].capacity()) return;
    empty.swap(free_[--count_]);
  }
  void give_back(std::string& empty) noexcept {
    constexpr std::size_t largest = std::size_t{128} << 10U;
    constexpr std::size_t smallest = 64;  // a smaller one holds its bytes itself
    if (empty.capacity() < smallest) return;
    std::string taken = std::move(empty);
    empty = std::string();
    if (taken.capacity() > largest || count_ == max_kept) return;
    if (free_ == nullptr) free_.reset(new (std::nothrow) std::string[max_kept]);
    if (free_ == nullptr) return;
    taken.clear();
    free_[count_++].swap(taken);
  }

 private:
  static constexpr std::size_t max_kept = 64;
  std::unique_ptr<std::byte[]> plain_;
  struct plain_blocks {
    std::array<std::unique_ptr<std::byte[]>, 16> free;  // the first `count`
    std::size_t count = 0;
  };
  plain_blocks small_;
  plain_blocks large_;
  std::unique_ptr<std::string[]> free_;
  std::size_t count_ = 0;
};

}  // namespace gyre::http
