// gyre/http/field.hpp: a header field, and how names are compared. RFC 9110 §5.
#pragma once

#include <gyre/attributes.hpp>

#include <cstddef>
#include <span>
#include <string_view>

namespace gyre::http {

/// One line of a header or trailer section, without the white space around the value.
/// Lifetime: names memory of whoever made it: the buffer of the connection, or the message.
struct field {
  std::string_view name;
  std::string_view value;
  friend bool operator==(const field&, const field&) noexcept = default;
};

/// Of ASCII letters, as field names, codings and connection options are compared.
[[nodiscard]] GYRE_API bool equal_ignoring_case(std::string_view a, std::string_view b) noexcept;

/// The first field of that name, or null. RFC 9110 §5.1.
[[nodiscard]] GYRE_API const field* find_field(std::span<const field> fields, std::string_view name) noexcept;

/// Takes a comma-separated list apart: each call gives the next element without white space around it and removes it from
/// `rest`; empty elements are skipped, and at the end an empty one comes. A quoted string is not taken apart.
/// RFC 9110 §5.6.1.
[[nodiscard]] GYRE_API std::string_view next_in_list(std::string_view& rest) noexcept;

/// Whether `text` is a token, such as a method or a field name. RFC 9110 §5.6.2.
[[nodiscard]] GYRE_API bool is_token(std::string_view text) noexcept;
/// Whether `text` may be a field value: no control characters but tabs, no white space around it. RFC 9110 §5.5.
[[nodiscard]] GYRE_API bool is_field_value(std::string_view text) noexcept;

}  // namespace gyre::http
