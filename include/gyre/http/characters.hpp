// gyre/http/characters.hpp: kinds of characters, whatever the locale. For authors of parsers.
#pragma once

#include <gyre/attributes.hpp>

#include <string_view>

namespace gyre::http {

[[nodiscard]] constexpr bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
/// True for letters of ASCII.
[[nodiscard]] constexpr bool is_letter(char c) noexcept { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
/// True for a blank and a tab: OWS of RFC 9110 §5.6.3.
[[nodiscard]] constexpr bool is_space(char c) noexcept { return c == ' ' || c == '\t'; }
/// True for control characters of ASCII.
[[nodiscard]] constexpr bool is_control(char c) noexcept { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }
/// Changes letters of ASCII only.
[[nodiscard]] constexpr char to_lower(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
}
/// Returns -1 when `c` is not a hexadecimal digit.
[[nodiscard]] GYRE_API int hex_value(char c) noexcept;
/// The text without blanks and tabs around it. Lifetime: a part of `text`.
[[nodiscard]] constexpr std::string_view trim(std::string_view text) noexcept {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

}  // namespace gyre::http
