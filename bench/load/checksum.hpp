// bench/load/checksum.hpp: data that differs at each position, and a checksum that notices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>

/// The 64-bit word at this position: splitmix64.
inline std::uint64_t word_at(std::uint64_t index) {
  std::uint64_t z = (index + 1) * 0x9E3779B97F4A7C15U;
  z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
  return z ^ (z >> 27U);
}

/// Depends on the order of the bytes.
class checksum {
 public:
  void add(const char* bytes, std::size_t count) {
    for (; count > 0 && used_ != 0; --count) add_byte(*bytes++);
    for (; count >= sizeof(word_); count -= sizeof(word_), bytes += sizeof(word_)) {
      std::memcpy(&word_, bytes, sizeof(word_));
      mix();
    }
    for (; count > 0; --count) add_byte(*bytes++);
  }
  [[nodiscard]] std::string text() {
    if (used_ != 0) mix();
    char hex[24];
    std::snprintf(hex, sizeof(hex), "%016llx", static_cast<unsigned long long>(sum_));
    return hex;
  }

 private:
  void add_byte(char byte) {
    if (used_ == 0) word_ = 0;
    std::memcpy(reinterpret_cast<char*>(&word_) + used_, &byte, 1);
    if (++used_ == sizeof(word_)) mix();
  }
  void mix() {
    sum_ = ((sum_ ^ word_) * 0xD6E8FEB86659FD93U);
    sum_ ^= sum_ >> 32U;
    used_ = 0;
  }
  std::uint64_t sum_ = 0, word_ = 0;
  std::size_t used_ = 0;
};
