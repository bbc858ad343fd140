// programs/gyre/serve/json_text.cpp: strings of JSON. RFC 8259 §7.
#include "programs/gyre/serve/json_text.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <iterator>

namespace programs {
namespace {

// Of the character that `text` begins with; 0: it is no UTF-8. Unicode, table 3-7.
std::size_t size_of_first(std::string_view text) noexcept {
  const auto at = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  const unsigned first = at(0);
  if (first < 0x80) return 1;
  if (first < 0xC2 || first > 0xF4) return 0;
  const std::size_t size = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  for (std::size_t i = 1; i < size; ++i)
    if ((at(i) & 0xC0U) != 0x80) return 0;
  const unsigned second = at(1);
  const bool overlong = (first == 0xE0 && second < 0xA0) || (first == 0xF0 && second < 0x90);
  const bool no_character = (first == 0xED && second > 0x9F) || (first == 0xF4 && second > 0x8F);
  return overlong || no_character ? 0 : size;
}

}  // namespace

void append_json(std::string& out, std::string_view text) {
  out += '"';
  while (!text.empty()) {
    const std::size_t size = size_of_first(text);
    const auto first = static_cast<unsigned char>(text.front());
    if (size == 0)
      out += "\\ufffd";
    else if (first == '"' || first == '\\')
      (out += '\\') += text.front();
    else if (first < 0x20)
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", first);
    else
      out.append(text.substr(0, size));
    text.remove_prefix(size == 0 ? 1 : size);
  }
  out += '"';
}

}  // namespace programs
