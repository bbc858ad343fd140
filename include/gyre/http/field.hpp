// gyre/http/field.hpp: a header field, and the comparison of names. RFC 9110 §5.
#pragma once

#include <gyre/attributes.hpp>

#include <cstddef>
#include <span>
#include <string_view>

namespace gyre::http {

/// One line of a header or trailer section, without the white space around the value.
/// Lifetime: points to memory of its maker: the buffer of the connection, or the message.
struct field {
  std::string_view name;
  std::string_view value;
  friend bool operator==(const field&, const field&) noexcept = default;
};

/// Ignores the case of ASCII letters. Field names, codings and connection options are compared this way.
[[nodiscard]] GYRE_API bool equal_ignoring_case(std::string_view a, std::string_view b) noexcept;

/// The first field with this name, or null. RFC 9110 §5.1.
[[nodiscard]] GYRE_API const field* find_field(std::span<const field> fields, std::string_view name) noexcept;

/// Parses a comma-separated list: each call removes the next element from `rest` and returns it without white space
/// around it. Empty elements are skipped; an empty result means the end. A quoted string is not split. RFC 9110
/// §5.6.1.
[[nodiscard]] GYRE_API std::string_view next_in_list(std::string_view& rest) noexcept;

/// Whether `text` is a token, such as a method or a field name. RFC 9110 §5.6.2.
[[nodiscard]] GYRE_API bool is_token(std::string_view text) noexcept;
/// Whether `text` may be a field value: no control characters except tabs, and no white space around it. RFC 9110
/// §5.5.
[[nodiscard]] GYRE_API bool is_field_value(std::string_view text) noexcept;

/// Whether a field with this name may follow a body as a trailer. Fields that a recipient needs before the body may
/// not: those of framing, routing, authentication, conditions, caching and content format. RFC 9110 §6.5.1. Nor may
/// names that a gateway could take for one of them, such as "Content_Length".
[[nodiscard]] GYRE_API bool may_be_trailer(std::string_view name) noexcept;

}  // namespace gyre::http
