// gyre/http/parse_error.hpp: the errors of a malformed message, and the limits of its head.
#pragma once

#include <gyre/attributes.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace gyre::http {

enum class parse_error : std::uint8_t {
  none,
  bad_method,
  method_too_long,  ///< longer than any registered method: head_limits::max_method_size
  bad_target,
  target_too_long,
  bad_version,
  unsupported_version,
  bad_status_line,
  bare_line_feed,  ///< a line that does not end with CR LF
  folded_line,     ///< a line that begins with white space: obs-fold, RFC 9112 §5.2
  bad_field_name,
  space_before_colon,  ///< RFC 9112 §5.1: two recipients may see two different fields
  bad_field_value,
  too_many_fields,
  head_too_large,
  missing_host,
  repeated_host,
  bad_host,
  empty_host,             ///< and the target has no host either: no http URI, RFC 9110 §4.2.1
  bad_content_length,     ///< not a number, too large, or present more than once
  bad_transfer_encoding,  ///< chunked is not the last coding, or is repeated, or occurs in HTTP/1.0
  unknown_transfer_encoding,
  length_and_encoding,  ///< both Content-Length and Transfer-Encoding: RFC 9112 §6.1
  unknown_expectation,
  bad_chunk_size,
  bad_chunk_extension,
  bad_chunk_end,  ///< no CR LF after the data of a chunk
  trailer_too_large,
};

/// The limits of a head.
struct head_limits {
  static constexpr std::size_t max_method_size = 32;  ///< the longest registered method has 17 bytes
  std::size_t target = 8192;                          ///< bytes of a request's target; more: target_too_long
  std::size_t fields = 100;                           ///< more: too_many_fields
  std::size_t size = 32'768;                          ///< bytes of the whole head; more: head_too_large
};

/// The status that a server answers with. RFC 9110 §15.5.
[[nodiscard]] GYRE_API int status_for(parse_error error) noexcept;
/// For logs: "a line does not end with CR LF".
[[nodiscard]] GYRE_API std::string_view describe(parse_error error) noexcept;

}  // namespace gyre::http
