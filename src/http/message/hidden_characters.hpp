// src/http/message/hidden_characters.hpp: characters that are invisible or change how other text is displayed.
#pragma once

namespace gyre::http {

/// Controls (C0, DEL, C1), and characters that are invisible or reorder the text around them: bidirectional
/// controls, line and paragraph separators, zero-width spaces, annotations, tags. Joiners (U+200C, U+200D) are not
/// hidden: some scripts and emoji need them.
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
