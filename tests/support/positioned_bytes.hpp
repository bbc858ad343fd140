// tests/support/positioned_bytes.hpp: bytes that show their position. They are made and compared eight at a time,
// because many tests that are compiled without optimization check megabytes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace gyre_test {

/// The eight bytes from position 8 * `index` on.
inline std::uint64_t word_at(unsigned seed, std::size_t index) {
  std::uint64_t word = (index + 1) * 0x9E37'79B9'7F4A'7C15U + seed * 0xC2B2'AE3D'27D4'EB4FU;
  word = (word ^ word >> 32U) * 0xD6E8'FEB8'6659'FD93U;
  return word ^ word >> 32U;
}

inline std::byte byte_at(unsigned seed, std::size_t position) {
  return static_cast<std::byte>(word_at(seed, position / 8) >> position % 8 * 8);
}

/// Writes the bytes of the positions from `from` on.
inline void fill(std::span<std::byte> bytes, unsigned seed, std::size_t from = 0) {
  std::byte* to = bytes.data();
  std::byte* const end = to + bytes.size();
  for (; to != end && from % 8 != 0; ++from) *to++ = byte_at(seed, from);
  for (; end - to >= 8; to += 8, from += 8) {
    const std::uint64_t word = word_at(seed, from / 8);
    std::memcpy(to, &word, sizeof(word));
  }
  for (; to != end; ++from) *to++ = byte_at(seed, from);
}

/// Compares the bytes with the positions from `from` on. Returns the index of the first difference, or the size.
inline std::size_t matching(std::span<const std::byte> bytes, unsigned seed, std::size_t from) {
  std::byte expected[4096];
  for (std::size_t begin = 0; begin < bytes.size();) {
    const std::size_t size = std::min(sizeof(expected), bytes.size() - begin);
    fill(std::span(expected, size), seed, from + begin);
    if (std::memcmp(expected, bytes.data() + begin, size) != 0) {
      while (bytes[begin] == byte_at(seed, from + begin)) ++begin;
      return begin;
    }
    begin += size;
  }
  return bytes.size();
}

/// The bytes of the first `size` positions.
inline std::vector<std::byte> pattern(std::size_t size, unsigned seed = 0) {
  std::vector<std::byte> bytes(size);
  fill(bytes, seed);
  return bytes;
}

}  // namespace gyre_test
