// src/http/server/cipher_buffers.hpp: the buffers of encrypted connections, shared by all of a server on one loop.
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

  /// A buffer for bytes that are used before the next await. Errors: std::bad_alloc.
  [[nodiscard]] std::span<std::byte> plain() {
    if (plain_ == nullptr) plain_ = std::make_unique_for_overwrite<std::byte[]>(plain_size);
    return {plain_.get(), plain_size};
  }
  /// A buffer of `plain_size` for bytes that are used after an await, too. Errors: std::bad_alloc.
  [[nodiscard]] std::unique_ptr<std::byte[]> take_plain() {
    if (free_plains_ == 0) return std::make_unique_for_overwrite<std::byte[]>(plain_size);
    return std::move(plains_[--free_plains_]);
  }
  void give_back_plain(std::unique_ptr<std::byte[]> used) noexcept {
    if (used != nullptr && free_plains_ < plains_.size()) plains_[free_plains_++] = std::move(used);
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
    if (taken.capacity() > largest || count_ == most_kept) return;
    if (free_ == nullptr) free_.reset(new (std::nothrow) std::string[most_kept]);
    if (free_ == nullptr) return;
    taken.clear();
    free_[count_++].swap(taken);
  }

 private:
  static constexpr std::size_t most_kept = 64;
  std::unique_ptr<std::byte[]> plain_;
  std::array<std::unique_ptr<std::byte[]>, 16> plains_;  // the first `free_plains_`
  std::size_t free_plains_ = 0;
  std::unique_ptr<std::string[]> free_;
  std::size_t count_ = 0;
};

}  // namespace gyre::http
