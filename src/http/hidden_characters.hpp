// src/http/hidden_characters.hpp: characters that cannot be seen, and change what else is seen.
#pragma once

#include <cstddef>
#include <string_view>

namespace gyre::http {

/// The character that UTF-8 text begins with; a size of 0: the text is empty, or does not begin with UTF-8. RFC 3629 §4.
struct decoded_character {
  char32_t code = 0;
  std::size_t size = 0;
};

[[nodiscard]] constexpr decoded_character first_character(std::string_view text) noexcept {
  constexpr char32_t least[] = {0, 0, 0x80, 0x800, 0x1'0000};  // of that size; what is less is overlong
  if (text.empty()) return {};
  const auto first = static_cast<unsigned char>(text.front());
  if (first < 0x80) return {first, 1};
  const std::size_t size = first >= 0xc2 && first < 0xe0 ? 2 : first >= 0xe0 && first < 0xf0 ? 3 : 4;
  if (first < 0xc2 || first > 0xf4 || text.size() < size) return {};
  char32_t code = first & (0xffU >> (size + 1));
  for (std::size_t i = 1; i < size; ++i) {
    const auto next = static_cast<unsigned char>(text[i]);
    if ((next & 0xc0U) != 0x80) return {};
    code = code << 6U | (next & 0x3fU);
  }
  const bool surrogate = code >= 0xd800 && code < 0xe000;
  if (code < least[size] || surrogate || code > 0x10'ffff) return {};
  return {code, size};
}

/// Controls (C0, DEL, C1), and what is invisible or reorders the text around it: bidirectional controls, line and paragraph
/// separators, zero-width spaces, annotations, tags. Joiners (U+200C, U+200D), which some scripts and emoji need, are not.
[[nodiscard]] constexpr bool is_hidden_character(char32_t code) noexcept {
  struct range {
    char32_t first;
    char32_t last;
  };
  constexpr range hidden[] = {{0x00, 0x1f},     {0x7f, 0x9f},     {0xad, 0xad},     {0x61c, 0x61c},
                              {0x180e, 0x180e}, {0x200b, 0x200b}, {0x200e, 0x200f}, {0x2028, 0x202e},
                              {0x2060, 0x206f}, {0xfeff, 0xfeff}, {0xfff9, 0xfffb}, {0xe'0000, 0xe'007f}};
  for (const range& each : hidden)
    if (code >= each.first && code <= each.last) return true;
  return false;
}

}  // namespace gyre::http
