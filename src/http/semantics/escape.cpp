// src/http/semantics/escape.cpp: JSON strings. RFC 8259 §7.
#include "escape.hpp"

#include <gyre/io/printable.hpp>

#include <algorithm>
#include <cstddef>

namespace gyre::http {
namespace {

// Characters that need an escape have at most four digits.
void append_code(std::string& out, char32_t code) {
  constexpr std::string_view digits = "0123456789abcdef";
  out += "\\u";
  for (unsigned shift = 16; shift > 0; shift -= 4) out += digits[code >> (shift - 4) & 15U];
}

bool stands_as_it_is(char c) noexcept { return c >= ' ' && c < '\x7f' && c != '"' && c != '\\'; }

}  // namespace

void append_json_characters(std::string& out, std::string_view text) {
  for (;;) {
    const auto other = std::find_if_not(text.begin(), text.end(), &stands_as_it_is);
    out.append(text.begin(), other);
    text.remove_prefix(static_cast<std::size_t>(other - text.begin()));
    if (text.empty()) return;
    const leading_character first = first_character(text);
    const std::size_t size = first.size == 0 ? 1 : first.size;
    if (first.size == 0)
      out += "\\ufffd";
    else if (first.code == '"' || first.code == '\\')
      (out += '\\') += text.front();
    else if (!first.printable)
      append_code(out, first.code);
    else
      out.append(text.substr(0, size));
    text.remove_prefix(size);
  }
}

void append_json(std::string& out, std::string_view text) {
  out += '"';
  append_json_characters(out, text);
  out += '"';
}

}  // namespace gyre::http
