// src/http/http1/usual_lines.hpp: head lines in their most common form, checked and split in one pass.
#pragma once

#include <gyre/http/field.hpp>

#include "semantics/characters.hpp"

#include <bit>
#include <cstddef>
#include <cstring>
#include <string_view>

namespace gyre::http {

// Each function takes the line that begins at `at`, and returns where the next one begins. Returns null when the line
// is incomplete, invalid or merely unusual; the general parser decides then.

#if defined(__SSE2__)

/// Returns the first byte that is not allowed in a value or a target, or `end`. All
/// bytes before `end` must be readable.
template <int (*those_that_may_not)(__m128i) noexcept>
[[nodiscard]] inline const char* find_first(const char* at, const char* end, bool (*may)(char) noexcept) noexcept {
  for (; end - at >= 16; at += 16) {
    const int found = those_that_may_not(_mm_loadu_si128(reinterpret_cast<const __m128i*>(at)));
    if (found != 0) return at + std::countr_zero(static_cast<unsigned>(found));
  }
  while (at != end && may(*at)) ++at;
  return at;
}
[[nodiscard]] inline const char* end_of_value(const char* at, const char* end) noexcept {
  return find_first<no_value_characters>(at, end, is_value_character);
}
[[nodiscard]] inline const char* end_of_target(const char* at, const char* end) noexcept {
  return find_first<no_target_characters>(at, end, is_target_character);
}

/// The number of usual characters of a name that begin sixteen bytes.
[[nodiscard]] inline int size_of_name(const char* sixteen) noexcept {
  return std::countr_one(usual_name_characters(_mm_loadu_si128(reinterpret_cast<const __m128i*>(sixteen))));
}
[[nodiscard, gnu::noinline]] inline const char* end_of_long_name(const char* at, const char* end) noexcept {
  for (; end - at >= 16; at += 16) {
    const int size = size_of_name(at);
    if (size < 16) return at[size] == ':' ? at + size : nullptr;
  }
  return nullptr;
}
/// Returns the position of the colon after a name. Most names have less than sixteen characters.
[[nodiscard]] inline const char* end_of_name(const char* at, const char* end) noexcept {
  if (end - at < 16) return nullptr;
  const int size = size_of_name(at);
  if (size == 16) return end_of_long_name(at + 16, end);
  return size > 0 && at[size] == ':' ? at + size : nullptr;
}

#else

[[nodiscard]] inline const char* end_of_value(const char* at, const char* end) noexcept {
  while (at != end && is_value_character(*at)) ++at;
  return at;
}
[[nodiscard]] inline const char* end_of_target(const char* at, const char* end) noexcept {
  while (at != end && is_target_character(*at)) ++at;
  return at;
}
[[nodiscard]] inline const char* end_of_name(const char* at, const char* end) noexcept {
  const char* const begin = at;
  while (at != end && is_token_character(*at)) ++at;
  return at != begin && at != end && *at == ':' ? at : nullptr;
}

#endif

[[nodiscard]] inline bool ends_line(const char* at, const char* end) noexcept {
  return end - at >= 2 && at[0] == '\r' && at[1] == '\n';
}

/// "GET /path HTTP/1.1".
[[nodiscard]] inline const char* take_usual_request_line(const char* at, const char* end, std::string_view& method,
                                                         std::string_view& target) noexcept {
  constexpr std::ptrdiff_t max_method_size = 16;  // less than head_parser::max_method_size
  constexpr std::string_view rest = " HTTP/1.1\r\n";
  const char* const begin = at;
  if (end - at >= 4 && std::memcmp(at, "GET ", 4) == 0)
    at += 3;
  else
    while (at != end && is_token_character(*at)) ++at;
  if (at == begin || at - begin > max_method_size || at == end || *at != ' ') return nullptr;
  const char* const target_begin = at + 1;
  const char* const target_end = end_of_target(target_begin, end);
  if (target_end == target_begin || end - target_end < static_cast<std::ptrdiff_t>(rest.size())) return nullptr;
  if (std::memcmp(target_end, rest.data(), rest.size()) != 0) return nullptr;
  method = {begin, at};
  target = {target_begin, target_end};
  return target_end + rest.size();
}

/// "Name: value".
[[nodiscard]] inline const char* take_usual_field(const char* at, const char* end, field& out) noexcept {
  const char* const name_end = end_of_name(at, end);
  if (name_end == nullptr) return nullptr;
  const char* begin = name_end + 1;
  const char* const line_end = end_of_value(begin, end);
  if (!ends_line(line_end, end)) return nullptr;
  const char* value_end = line_end;
  if (*begin == ' ') ++begin;
  if (is_space(*begin) || is_space(value_end[-1])) {  // more than one, or one at the end
    while (begin != line_end && is_space(*begin)) ++begin;
    while (value_end != begin && is_space(value_end[-1])) --value_end;
  }
  out = {.name = {at, name_end}, .value = {begin, value_end}};
  return line_end + 2;
}

}  // namespace gyre::http
