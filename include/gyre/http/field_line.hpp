// gyre/http/field_line.hpp: a field as a line of text, "Name: value". RFC 9112 §5.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/http/field.hpp>
#include <gyre/http/parse_error.hpp>

#include <string_view>

namespace gyre::http {

/// Parses a field line without its line end. For trailers, and for code that reads fields elsewhere.
/// Lifetime: the views point into `line`.
[[nodiscard]] GYRE_API parse_error parse_field_line(std::string_view line, field& out) noexcept;

}  // namespace gyre::http
