// gyre/http/target.hpp: the parts of a request target, and percent-encoding. RFC 9112 §3.2, RFC 3986.
#pragma once

#include <gyre/attributes.hpp>

#include <cstddef>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gyre::http {

/// The parts of a target. Lifetime: they point into the target.
struct target_parts {
  std::string_view authority = {};  ///< only in the absolute form and in CONNECT
  std::string_view path = {};       ///< as sent; "/" when the absolute form has none, "*" for OPTIONS
  std::string_view query = {};      ///< without the question mark
};
/// Splits a target that understand_request has accepted.
[[nodiscard]] GYRE_API target_parts split_target(std::string_view target) noexcept;

/// Replaces each "%41" by the byte that it encodes. Nothing when a percent sign is not followed by two hexadecimal
/// digits.
[[nodiscard]] GYRE_API std::optional<std::string> percent_decode(std::string_view text);

/// Where the text goes, which decides the characters that stay unencoded.
enum class encode_for { path_segment, query };
[[nodiscard]] GYRE_API std::string percent_encode(std::string_view text, encode_for where);

/// Encodes the characters that a URI reference does not hold: white space, "<>\^`{|} and what is not ASCII, brackets
/// outside of a host, and a percent sign without two hexadecimal digits. Whatever is encoded already stays as it is.
/// Control characters other than tabs stay, so that no field takes them. RFC 3986 §4.1.
[[nodiscard]] GYRE_API std::string encode_reference(std::string_view text);

/// Decodes a path and removes ".", ".." and empty segments. The result begins with "/", and ends with one if the input
/// did. RFC 3986 §5.2.4. Nothing when the path leaves its root, when an encoding is malformed, or when a decoded
/// segment contains a slash or a zero byte: a file system would read such a path differently from the code that checked
/// it.
[[nodiscard]] GYRE_API std::optional<std::string> normalize_path(std::string_view path);

/// A name and a value in a query or a form.
struct form_field {
  std::string name;
  std::string value;
  friend bool operator==(const form_field&, const form_field&) noexcept = default;
};

enum class form_error { too_many };

/// Parses "a=1&b=two+words&c", the syntax of queries and forms (application/x-www-form-urlencoded). A plus sign is a
/// space, an empty part is skipped, and a name without "=" has an empty value. A percent sign that no two hexadecimal
/// digits follow stands for itself, as in browsers: "a=100%". Accepts at most `limit` fields.
[[nodiscard]] GYRE_API std::expected<std::vector<form_field>, form_error> parse_form(std::string_view text,
                                                                                     std::size_t limit = 1000);

}  // namespace gyre::http
