// src/http/semantics/characters.cpp: the value of a digit.
#include <gyre/http/characters.hpp>

namespace gyre::http {

int hex_value(char c) noexcept {
  if (is_digit(c)) return c - '0';
  const char lower = to_lower(c);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

}  // namespace gyre::http
