// programs/gyre/serve/json_text.cpp: JSON strings. RFC 8259 §7.
#include "programs/gyre/serve/json_text.hpp"

#include <gyre/io/printable.hpp>

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <iterator>

namespace programs {

void append_json(std::string& out, std::string_view text) {
  out += '"';
  while (!text.empty()) {
    const gyre::leading_character first = gyre::first_character(text);
    const std::size_t size = first.size == 0 ? 1 : first.size;
    if (first.size == 0)
      out += "\\ufffd";
    else if (first.code == '"' || first.code == '\\')
      (out += '\\') += text.front();
    else if (!first.printable)
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<std::uint32_t>(first.code));
    else
      out.append(text.substr(0, size));
    text.remove_prefix(size);
  }
  out += '"';
}

}  // namespace programs
