// gyre/http/field_line.hpp: a field as a line of text, "Name: value". RFC 9112 §5.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/http/field.hpp>
#include <gyre/http/parse_error.hpp>

#include <string>
#include <string_view>

namespace gyre::http {

/// Parses a field line without its line end. For trailers, and for code that reads fields elsewhere.
/// Lifetime: the views point into `line`.
[[nodiscard]] GYRE_API parse_error parse_field_line(std::string_view line, field& out) noexcept;

/// Appends "name: value" and a line end. Errors: std::invalid_argument `field "A b": the name is not a token`.
GYRE_API void append_field_line(std::string& out, std::string_view name, std::string_view value);
/// Throws what append_field_line() would throw.
GYRE_API void check_field(std::string_view name, std::string_view value);

}  // namespace gyre::http
