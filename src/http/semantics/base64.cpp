// src/http/semantics/base64.cpp: bytes as text of 64 characters, and back.
#include <gyre/http/base64.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace gyre::http {
namespace {

constexpr std::string_view base64_alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::uint8_t no_digit = 0xff;
constexpr std::array<std::uint8_t, 256> base64_digits = [] {
  std::array<std::uint8_t, 256> table{};
  table.fill(no_digit);
  std::uint8_t value = 0;
  for (const char c : base64_alphabet) table[static_cast<unsigned char>(c)] = value++;
  return table;
}();

}  // namespace

std::optional<std::string> decode_base64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  std::size_t padding = 0;
  while (padding < 2 && padding < text.size() && text[text.size() - 1 - padding] == '=') ++padding;
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3);
  std::uint32_t bits = 0;
  unsigned count = 0;
  for (const char c : text.substr(0, text.size() - padding)) {
    const std::uint8_t digit = base64_digits[static_cast<unsigned char>(c)];
    if (digit == no_digit) return std::nullopt;
    bits = (bits << 6U) | digit;
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes += static_cast<char>((bits >> count) & 0xffU);
  }
  if ((bits & ((1U << count) - 1U)) != 0) return std::nullopt;
  return bytes;
}

std::string encode_base64(std::string_view bytes) {
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k)
      group = group << 8U | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    for (std::size_t k = 0; k < 4; ++k)
      out += i + k > bytes.size() ? '=' : base64_alphabet[group >> (18U - 6U * k) & 63U];
  }
  return out;
}

}  // namespace gyre::http
