// programs/resp_server/key_hash.hpp: a keyed hash of byte strings.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

namespace resp {

/// A fast hash (after wyhash). Its key should be random, so that peers cannot choose colliding
/// strings in advance. Not cryptographic.
struct key_hash {
  using is_transparent = void;

  std::uint64_t seed = 0;
  std::uint64_t secret = 0;

  /// A hash with this seed, or with a random key.
  static key_hash with_seed(const std::optional<std::uint64_t>& seed);

  // Not noexcept on purpose: libstdc++ then stores the hash in the node, and need not compute it
  // again for the neighbours in a bucket.
  std::size_t operator()(std::string_view bytes) const {
    const char* at = bytes.data();
    std::size_t left = bytes.size();
    const std::uint64_t key = secret ^ 0x8bb84b93962eacc9U;
    std::uint64_t state = mix(seed ^ 0x2d358dccaa6c78a5U, key);
    std::uint64_t a = 0;
    std::uint64_t b = 0;
    if (left > 16) {
      for (; left > 16; left -= 16, at += 16) state = mix(load<8>(at) ^ key, load<8>(at + 8) ^ state);
      a = load<8>(at + left - 16);
      b = load<8>(at + left - 8);
    } else if (left >= 8) {
      a = load<8>(at);
      b = load<8>(at + left - 8);
    } else if (left >= 4) {
      a = load<4>(at);
      b = load<4>(at + left - 4);
    } else if (left != 0) {
      a = load<1>(at) << 16 | load<1>(at + left / 2) << 8 | load<1>(at + left - 1);
    }
    return mix(mix(a ^ key, b ^ state) ^ bytes.size(), key);
  }

 private:
  template <std::size_t Bytes>
  static std::uint64_t load(const char* from) noexcept {
    std::uint64_t value = 0;
    std::memcpy(&value, from, Bytes);
    return value;
  }

  static std::uint64_t mix(std::uint64_t a, std::uint64_t b) noexcept {
    __extension__ using wide = unsigned __int128;
    const wide product = static_cast<wide>(a) * b;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
  }
};

}  // namespace resp
