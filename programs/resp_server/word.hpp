// programs/resp_server/word.hpp: names and numbers in requests.
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <system_error>

namespace resp {

/// The name of a command or of an option as an integer: one comparison finds it, in upper or lower case.
using word = std::uint64_t;

/// Returns 0 for text that is empty or longer than 8 bytes. Setting bit 5 turns only letters into lower-case letters:
/// so a word of letters equals that of no other text.
constexpr word read_word(std::string_view text) noexcept {
  if (text.size() > sizeof(word)) return 0;
  word value = 0;
  for (const char c : text) value = value << 8U | static_cast<unsigned char>(c) | 0x20U;
  return value;
}

/// Reads a signed 64-bit decimal. Strict: no '+', blanks, leading zeros or "-0", nothing after it.
[[nodiscard]] inline std::optional<std::int64_t> parse_integer(std::string_view text) noexcept {
  if (text == "0") return 0;
  const std::string_view digits = text.starts_with('-') ? text.substr(1) : text;
  if (digits.empty() || digits.front() < '1' || digits.front() > '9') return std::nullopt;
  std::int64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stopped != end) return std::nullopt;
  return value;
}

}  // namespace resp
