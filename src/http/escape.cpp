// src/http/escape.cpp: strings of JSON. RFC 8259 §7.
#include "escape.hpp"

#include <cstddef>

namespace gyre::http {
namespace {

// The length of the well-formed UTF-8 sequence that `text` begins with, 0 when it begins with none. Unicode, table 3-7.
std::size_t sequence_length(std::string_view text) noexcept {
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = at(0);
  if (first < 0x80) return 1;
  const std::size_t size = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < size) return 0;
  for (std::size_t i = 1; i < size; ++i)
    if (at(i) < 0x80 || at(i) > 0xBF) return 0;
  const unsigned second = at(1);
  if ((first == 0xE0 && second < 0xA0) || (first == 0xED && second > 0x9F) || (first == 0xF0 && second < 0x90) ||
      (first == 0xF4 && second > 0x8F))
    return 0;
  return size;
}

void append_escaped(std::string& out, char c) {
  constexpr std::string_view digits = "0123456789abcdef";
  const auto byte = static_cast<unsigned char>(c);
  out += "\\u00";
  out += digits[byte / 16U];
  out += digits[byte % 16U];
}

}  // namespace

void append_json(std::string& out, std::string_view text) {
  out += '"';
  while (!text.empty()) {
    const std::size_t size = sequence_length(text);
    const char c = text.front();
    if (size == 0)
      out += "\\ufffd";
    else if (c == '"' || c == '\\')
      (out += '\\') += c;
    else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F)
      append_escaped(out, c);
    else
      out.append(text.substr(0, size));
    text.remove_prefix(size == 0 ? 1 : size);
  }
  out += '"';
}

}  // namespace gyre::http
