// src/http/characters.hpp: which characters may stand where, and finding those that may not, sixteen at a time.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace gyre::http {

/// tchar, RFC 9110 §5.6.2.
inline constexpr std::array<bool, 256> token_characters = [] {
  std::array<bool, 256> table{};
  for (unsigned c = '0'; c <= '9'; ++c) table[c] = true;
  for (unsigned c = 'a'; c <= 'z'; ++c) table[c] = true;
  for (unsigned c = 'A'; c <= 'Z'; ++c) table[c] = true;
  for (const char c : std::string_view("!#$%&'*+-.^_`|~")) table[static_cast<unsigned char>(c)] = true;
  return table;
}();

[[nodiscard]] inline bool is_token_character(char c) noexcept {
  return token_characters[static_cast<unsigned char>(c)];
}
[[nodiscard]] inline bool is_space(char c) noexcept { return c == ' ' || c == '\t'; }

/// Of a field value or a reason: HTAB, SP, VCHAR, obs-text. RFC 9110 §5.5.
[[nodiscard]] inline bool is_value_character(char c) noexcept {
  const auto byte = static_cast<unsigned char>(c);
  return (byte >= 0x20 && byte != 0x7f) || byte == '\t';
}
/// Of a request target: no white space, nothing outside of ASCII, no fragment. RFC 9112 §3.2.
[[nodiscard]] inline bool is_target_character(char c) noexcept {
  const auto byte = static_cast<unsigned char>(c);
  return byte > 0x20 && byte < 0x7f && c != '#';
}

#if defined(__SSE2__)
/// True: all sixteen may stand in a value.
[[nodiscard]] inline bool are_value_characters(const char* sixteen) noexcept {
  const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(sixteen));
  const __m128i control = _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(0x1f)), bytes);
  const __m128i tab = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\t'));
  const __m128i deleted = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(0x7f));
  return _mm_movemask_epi8(_mm_or_si128(_mm_andnot_si128(tab, control), deleted)) == 0;
}
[[nodiscard]] inline bool are_target_characters(const char* sixteen) noexcept {
  const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(sixteen));
  // Signed: what is outside of ASCII is less than the space, too.
  const __m128i low = _mm_cmplt_epi8(bytes, _mm_set1_epi8(0x21));
  const __m128i deleted = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(0x7f));
  const __m128i fragment = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('#'));
  return _mm_movemask_epi8(_mm_or_si128(_mm_or_si128(low, deleted), fragment)) == 0;
}
#else
template <bool (*may_stand)(char) noexcept>
[[nodiscard]] inline bool all_sixteen(const char* sixteen) noexcept {
  bool all = true;
  for (int i = 0; i < 16; ++i) all &= may_stand(sixteen[i]);
  return all;
}
[[nodiscard]] inline bool are_value_characters(const char* sixteen) noexcept {
  return all_sixteen<is_value_character>(sixteen);
}
[[nodiscard]] inline bool are_target_characters(const char* sixteen) noexcept {
  return all_sixteen<is_target_character>(sixteen);
}
#endif

template <bool (*sixteen_may)(const char*) noexcept, bool (*may_stand)(char) noexcept>
[[nodiscard]] inline bool all_may_stand(std::string_view text) noexcept {
  const char* at = text.data();
  const char* const end = at + text.size();
  for (; end - at >= 16; at += 16)
    if (!sixteen_may(at)) return false;
  for (; at != end; ++at)
    if (!may_stand(*at)) return false;
  return true;
}
[[nodiscard]] inline bool is_value(std::string_view text) noexcept {
  return all_may_stand<are_value_characters, is_value_character>(text);
}
[[nodiscard]] inline bool is_target(std::string_view text) noexcept {
  return all_may_stand<are_target_characters, is_target_character>(text);
}

[[nodiscard]] inline std::string_view trim(std::string_view text) noexcept {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

}  // namespace gyre::http
