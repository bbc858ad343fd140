// programs/resp_server/word.hpp: short words as integers, for case-insensitive switches.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace resp {

static_assert(std::endian::native == std::endian::little);

using word = std::uint64_t;

inline constexpr word no_word = 0;  // for text that is empty or longer than 8 bytes

/// The integer of a word of lower-case letters, for case labels.
consteval word word_of(std::string_view letters) {
  if (letters.empty() || letters.size() > 8) throw "a word has 1 to 8 letters";
  word value = 0;
  for (std::size_t i = letters.size(); i-- > 0;) {
    if (letters[i] < 'a' || letters[i] > 'z') throw "lower-case letters only";
    value = value << 8 | static_cast<unsigned char>(letters[i]);
  }
  return value;
}

/// The integer of any text. Equals word_of(x) exactly if the text spells x, ignoring case: setting bit 5 turns only
/// letters into lower-case letters.
inline word read_word(std::string_view text) noexcept {
  const std::size_t size = text.size();
  const char* at = text.data();
  const auto byte = [at](std::size_t i) -> word { return static_cast<unsigned char>(at[i]); };
  word value = 0;
  if (size >= 4 && size <= 8) {
    std::uint32_t head = 0;
    std::uint32_t tail = 0;
    std::memcpy(&head, at, 4);
    std::memcpy(&tail, at + size - 4, 4);
    value = head | static_cast<word>(tail) << (8 * (size - 4));
  } else if (size != 0 && size < 4) {
    value = byte(0) | byte(size / 2) << (8 * (size / 2)) | byte(size - 1) << (8 * (size - 1));
  } else {
    return no_word;
  }
  return value | 0x2020202020202020U >> (8 * (8 - size));
}

}  // namespace resp
