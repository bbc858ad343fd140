// gyre/io/printable.hpp: makes text from outside the program safe for terminals and log lines.
#pragma once

#include <gyre/attributes.hpp>

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>

namespace gyre {

/// The first character of a text.
struct leading_character {
  std::size_t size;  ///< in bytes of UTF-8; 0 when the text begins with no well-formed character. Unicode, table 3-7
  char32_t code;     ///< its code point; the byte itself when `size` is 0
  /// False for characters that affect the device that shows them: controls (C0, DEL, C1), line and paragraph
  /// separators, and characters that reverse the direction of the surrounding text. False for bytes that are not UTF-8.
  bool printable;
};

/// `text` must not be empty.
[[nodiscard]] GYRE_API leading_character first_character(std::string_view text) noexcept;

/// Returns the text with `\x1b` in place of unprintable bytes, and `\u202e` in place of unprintable characters. The
/// text then stays on its line and cannot control the terminal. A backslash is not escaped: the result is for people.
[[nodiscard]] GYRE_API std::string printable(std::string_view text);

/// Prints the parts as one line on standard error, each made printable. Never waits for a reader, never raises SIGPIPE,
/// and allocates nothing. A line that standard error does not accept is lost; a later line reports how many were.
/// Thread: any.
GYRE_API void print_diagnostic(std::initializer_list<std::string_view> parts) noexcept;

/// The same for whole lines that are not escaped, such as lines with colours. Returns false when they were lost. Lines
/// of up to PIPE_BUF (4096) bytes stay whole.
GYRE_API bool write_diagnostic(std::string_view lines) noexcept;

}  // namespace gyre
