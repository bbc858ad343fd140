// src/http/semantics/characters.hpp: the allowed characters of each kind of text, and a search for others.
#pragma once

#include <gyre/http/characters.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace gyre::http {

/// tchar, RFC 9110 §5.6.2.
inline constexpr std::array<bool, 256> token_characters = [] {
  std::array<bool, 256> table{};
  for (unsigned c = 0; c < 128; ++c) table[c] = is_digit(static_cast<char>(c)) || is_letter(static_cast<char>(c));
  for (const char c : std::string_view("!#$%&'*+-.^_`|~")) table[static_cast<unsigned char>(c)] = true;
  return table;
}();

[[nodiscard]] inline bool is_token_character(char c) noexcept {
  return token_characters[static_cast<unsigned char>(c)];
}

/// True for characters of a field value or a reason: HTAB, SP, VCHAR, obs-text. RFC 9110 §5.5.
[[nodiscard]] inline bool is_value_character(char c) noexcept {
  const auto byte = static_cast<unsigned char>(c);
  return (byte >= 0x20 && byte != 0x7f) || byte == '\t';
}
/// True for characters of a request target: no white space, only ASCII, no fragment. RFC 9112 §3.2.
[[nodiscard]] inline bool is_target_character(char c) noexcept {
  const auto byte = static_cast<unsigned char>(c);
  return byte > 0x20 && byte < 0x7f && c != '#';
}

#if defined(__SSE2__)
/// Returns a mask of the bytes, out of sixteen, that are not allowed in a value.
[[nodiscard]] inline int no_value_characters(__m128i bytes) noexcept {
  const __m128i control = _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(0x1f)), bytes);
  const __m128i tab = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\t'));
  const __m128i deleted = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(0x7f));
  return _mm_movemask_epi8(_mm_or_si128(_mm_andnot_si128(tab, control), deleted));
}
/// Returns a mask of the bytes, out of sixteen, that are not allowed in a target.
[[nodiscard]] inline int no_target_characters(__m128i bytes) noexcept {
  // The comparison is signed: bytes outside ASCII are less than the space, too.
  const __m128i low = _mm_cmplt_epi8(bytes, _mm_set1_epi8(0x21));
  const __m128i deleted = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(0x7f));
  const __m128i fragment = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('#'));
  return _mm_movemask_epi8(_mm_or_si128(_mm_or_si128(low, deleted), fragment));
}
/// Returns a mask of the bytes, out of sixteen, that are letters, digits or hyphens. Nearly all names consist of these.
[[nodiscard]] inline unsigned usual_name_characters(__m128i bytes) noexcept {
  // Moves the range to the lowest values of a signed comparison.
  const auto between = [](__m128i all, char first, char last) {
    return _mm_cmplt_epi8(_mm_add_epi8(all, _mm_set1_epi8(static_cast<char>(-128 - first))),
                          _mm_set1_epi8(static_cast<char>(last - first + 1 - 128)));
  };
  const __m128i letters = between(_mm_or_si128(bytes, _mm_set1_epi8(0x20)), 'a', 'z');
  const __m128i others = _mm_or_si128(between(bytes, '0', '9'), _mm_cmpeq_epi8(bytes, _mm_set1_epi8('-')));
  return static_cast<unsigned>(_mm_movemask_epi8(_mm_or_si128(letters, others)));
}
/// True if all sixteen bytes are letters, digits, hyphens or dots.
[[nodiscard]] inline bool are_usual_host_characters(const char* sixteen) noexcept {
  const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(sixteen));
  const int dots = _mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('.')));
  return (usual_name_characters(bytes) | static_cast<unsigned>(dots)) == 0xffff;
}
/// True if all sixteen bytes are letters, digits or hyphens.
[[nodiscard]] inline bool are_usual_name_characters(const char* sixteen) noexcept {
  return usual_name_characters(_mm_loadu_si128(reinterpret_cast<const __m128i*>(sixteen))) == 0xffff;
}
/// True if all sixteen bytes are allowed in a value.
[[nodiscard]] inline bool are_value_characters(const char* sixteen) noexcept {
  return no_value_characters(_mm_loadu_si128(reinterpret_cast<const __m128i*>(sixteen))) == 0;
}
[[nodiscard]] inline bool are_target_characters(const char* sixteen) noexcept {
  return no_target_characters(_mm_loadu_si128(reinterpret_cast<const __m128i*>(sixteen))) == 0;
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
[[nodiscard]] inline bool is_usual_name_character(char c) noexcept { return is_digit(c) || is_letter(c) || c == '-'; }
[[nodiscard]] inline bool is_usual_host_character(char c) noexcept { return is_usual_name_character(c) || c == '.'; }
[[nodiscard]] inline bool are_usual_name_characters(const char* sixteen) noexcept {
  return all_sixteen<is_usual_name_character>(sixteen);
}
[[nodiscard]] inline bool are_usual_host_characters(const char* sixteen) noexcept {
  return all_sixteen<is_usual_host_character>(sixteen);
}
#endif

/// Loads a number from an address of any alignment.
template <class T>
[[nodiscard]] inline T load(const char* from) noexcept {
  T value;
  std::memcpy(&value, from, sizeof(value));
  return value;
}

/// Spreads up to fifteen characters over sixteen bytes, some of them twice. A property of all sixteen bytes is a
/// property of all the characters.
inline void spread(std::string_view few, char (&sixteen)[16]) noexcept {
  const char* const begin = few.data();
  const char* const end = begin + few.size();
  const auto put = [&](std::uint64_t first, std::uint64_t last) {
    std::memcpy(sixteen, &first, 8);
    std::memcpy(sixteen + 8, &last, 8);
  };
  if (few.size() >= 8) {
    put(load<std::uint64_t>(begin), load<std::uint64_t>(end - 8));
  } else if (few.size() >= 4) {
    const std::uint64_t both = load<std::uint32_t>(begin) | std::uint64_t{load<std::uint32_t>(end - 4)} << 32U;
    put(both, both);
  } else {
    constexpr std::uint64_t in_each = 0x0101'0101'0101'0101U;
    const auto at = [&](std::size_t i) { return in_each * static_cast<unsigned char>(begin[i]); };
    put((at(0) & 0xffffffffU) | at(few.size() / 2) << 32U, at(few.size() - 1));
  }
}

template <bool (*sixteen_may)(const char*) noexcept>
[[nodiscard]] inline bool all_may_stand(std::string_view text) noexcept {
  const char* at = text.data();
  std::size_t left = text.size();
  if (left < 16) {
    if (left == 0) return true;
    char sixteen[16];
    spread(text, sixteen);
    return sixteen_may(sixteen);
  }
  for (; left > 16; left -= 16, at += 16)
    if (!sixteen_may(at)) return false;
  return sixteen_may(at + left - 16);
}
[[nodiscard]] inline bool is_value(std::string_view text) noexcept { return all_may_stand<are_value_characters>(text); }
[[nodiscard]] inline bool is_target(std::string_view text) noexcept {
  return all_may_stand<are_target_characters>(text);
}

/// True for letters, digits and hyphens, of which nearly all names consist.
[[nodiscard]] inline bool is_usual_name(std::string_view text) noexcept {
  return all_may_stand<are_usual_name_characters>(text);
}
/// True for letters, digits, hyphens and dots, of which nearly all hosts consist.
[[nodiscard]] inline bool is_usual_host(std::string_view text) noexcept {
  return all_may_stand<are_usual_host_characters>(text);
}

/// True if a token is `name`, which is in lower case. Setting the bit that distinguishes lower from upper case is
/// enough: among token characters, only letters become a letter by it, and only the hyphen becomes a hyphen.
template <std::size_t Size>
[[nodiscard]] inline bool is_name(std::string_view token, const char (&name)[Size]) noexcept {
  constexpr std::size_t length = Size - 1;
  if (token.size() != length) return false;
  const auto same = [&]<class T>(T, std::size_t at) {
    constexpr T lower = static_cast<T>(0x2020'2020'2020'2020U);
    return (load<T>(token.data() + at) | lower) == load<T>(name + at);
  };
  static_assert(length >= 4);
  if constexpr (length < 8) {
    return same(std::uint32_t{}, 0) && same(std::uint32_t{}, length - 4);
  } else {
    for (std::size_t at = 0; at + 8 <= length; at += 8)
      if (!same(std::uint64_t{}, at)) return false;
    return same(std::uint64_t{}, length - 8);
  }
}

}  // namespace gyre::http
