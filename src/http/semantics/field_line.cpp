// src/http/semantics/field_line.cpp: fields to and from lines.
#include <gyre/http/field_line.hpp>

#include "characters.hpp"

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <string>

namespace gyre::http {

parse_error parse_field_line(std::string_view line, field& out) noexcept {
  if (!line.empty() && is_space(line.front())) return parse_error::folded_line;
  std::size_t end = 0;
  while (end < line.size() && is_token_character(line[end])) ++end;
  if (end == line.size() || line[end] != ':') {
    const bool spaced = end > 0 && end < line.size() && is_space(line[end]);
    return spaced ? parse_error::space_before_colon : parse_error::bad_field_name;
  }
  if (end == 0) return parse_error::bad_field_name;
  out.name = line.substr(0, end);
  out.value = trim(line.substr(end + 1));
  return is_value(out.value) ? parse_error::none : parse_error::bad_field_value;
}

namespace {
[[noreturn]] void refuse_field(std::string_view name, const char* why) {
  throw std::invalid_argument("field \"" + std::string(name) + "\": " + why);
}
}  // namespace

void check_field(std::string_view name, std::string_view value) {
  if (!is_token(name)) refuse_field(name, "the name is not a token");
  if (!is_field_value(value)) refuse_field(name, "the value holds a control character, or white space around it");
}

void append_field_line(std::string& out, std::string_view name, std::string_view value) {
  check_field(name, value);
  const std::size_t before = out.size();
  const std::size_t size = before + name.size() + value.size() + 4;
  out.resize_and_overwrite(size, [&](char* memory, std::size_t) noexcept {
    char* to = std::copy(name.begin(), name.end(), memory + before);
    *to++ = ':';
    *to++ = ' ';
    to = std::copy(value.begin(), value.end(), to);
    *to++ = '\r';
    *to++ = '\n';
    return size;
  });
}

}  // namespace gyre::http
