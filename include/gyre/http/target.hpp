// gyre/http/target.hpp: the target of a request taken apart, and what is percent-encoded in it. RFC 9112 §3.2, RFC 3986.
#pragma once

#include <gyre/attributes.hpp>

#include <cstddef>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gyre::http {

/// The parts of a target. Lifetime: they lie where the target does.
struct target_parts {
  std::string_view authority = {};  ///< of the absolute form and of CONNECT
  std::string_view path = {};       ///< as sent; "/" when the absolute form has none, "*" of OPTIONS
  std::string_view query = {};      ///< without the question mark
};
/// Of a target that understand_request has accepted.
[[nodiscard]] GYRE_API target_parts split_target(std::string_view target) noexcept;

/// Replaces each "%41" by the byte that it stands for. Nothing when a percent sign has no two hexadecimal digits behind it.
[[nodiscard]] GYRE_API std::optional<std::string> percent_decode(std::string_view text);

/// What may stand unencoded.
enum class encode_for { path_segment, query };
[[nodiscard]] GYRE_API std::string percent_encode(std::string_view text, encode_for where);

/// A decoded path without "." and ".." and empty segments, which begins with "/" and ends with one if it did. RFC 3986
/// §5.2.4. Nothing when it leaves its root, when an encoding is malformed, or when a decoded segment holds a slash or a
/// zero byte: what a file system would read in another way than whoever has checked the path.
[[nodiscard]] GYRE_API std::optional<std::string> normalize_path(std::string_view path);

/// A name and a value of a query or a form.
struct form_field {
  std::string name;
  std::string value;
  friend bool operator==(const form_field&, const form_field&) noexcept = default;
};

enum class form_error { malformed, too_many };

/// Reads "a=1&b=two+words&c", as queries and forms have it (application/x-www-form-urlencoded): plus signs are spaces, an
/// empty part is skipped, a name without a value has an empty one. At most `limit` fields.
[[nodiscard]] GYRE_API std::expected<std::vector<form_field>, form_error> parse_form(std::string_view text,
                                                                                     std::size_t limit = 1000);

}  // namespace gyre::http
