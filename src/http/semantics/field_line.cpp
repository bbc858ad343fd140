// src/http/semantics/field_line.cpp: splits a line into the name and the value of a field.
#include <gyre/http/field_line.hpp>

#include "characters.hpp"

#include <cstddef>

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

}  // namespace gyre::http
