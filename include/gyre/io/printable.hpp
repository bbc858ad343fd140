// gyre/io/printable.hpp: text from outside of the program, made fit for a terminal and for a line of a log.
#pragma once

#include <gyre/attributes.hpp>

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>

namespace gyre {

/// The character that a text begins with.
struct leading_character {
  std::size_t size;  ///< in bytes of UTF-8; 0 when the first byte begins no well-formed character. Unicode, table 3-7
  char32_t code;     ///< its code point; the byte itself when `size` is 0
  /// False for characters that act on what shows them: controls (C0, DEL, C1), line and paragraph separators, and those that
  /// reverse the direction of the text around them. False for bytes that are no UTF-8.
  bool printable;
};

/// `text` is not empty.
[[nodiscard]] GYRE_API leading_character first_character(std::string_view text) noexcept;

/// The text with `\x1b` in place of bytes, and `\u202e` in place of characters, that are not printable. So it stays on its
/// line, and cannot steer the terminal that shows it. A backslash stays as it is: the result is for people.
[[nodiscard]] GYRE_API std::string printable(std::string_view text);

/// Prints the parts as one line on standard error, each made printable. Allocates nothing. Thread: any.
GYRE_API void print_diagnostic(std::initializer_list<std::string_view> parts) noexcept;

}  // namespace gyre
