// src/http/semantics/parse_error.cpp: the status and the description of each parse error.
#include <gyre/http/parse_error.hpp>

namespace gyre::http {

int status_for(parse_error error) noexcept {
  switch (error) {
    case parse_error::target_too_long:
      return 414;
    case parse_error::too_many_fields:
    case parse_error::head_too_large:
    case parse_error::trailer_too_large:
      return 431;
    case parse_error::unknown_expectation:
      return 417;
    case parse_error::method_too_long:
    case parse_error::unknown_transfer_encoding:
      return 501;
    case parse_error::unsupported_version:
      return 505;
    default:
      return 400;
  }
}

namespace {

struct parse_description {
  parse_error error;
  std::string_view text;
};
constexpr parse_description parse_descriptions[] = {
    {parse_error::none, "no error"},
    {parse_error::bad_method, "the method is not a token"},
    {parse_error::method_too_long, "the method is too long"},
    {parse_error::bad_target, "malformed request target"},
    {parse_error::target_too_long, "the request target is too long"},
    {parse_error::bad_version, "malformed HTTP version"},
    {parse_error::unsupported_version, "unsupported HTTP version: expected HTTP/1.0 or HTTP/1.1"},
    {parse_error::bad_status_line, "malformed status line"},
    {parse_error::bare_line_feed, "a line does not end with CR LF"},
    {parse_error::folded_line, "a header field is folded over several lines"},
    {parse_error::bad_field_name, "the name of a header field is not a token"},
    {parse_error::space_before_colon, "white space between the name of a header field and its colon"},
    {parse_error::bad_field_value, "control character in the value of a header field"},
    {parse_error::too_many_fields, "too many header fields"},
    {parse_error::head_too_large, "the header section is too large"},
    {parse_error::missing_host, "missing Host field"},
    {parse_error::repeated_host, "more than one Host field"},
    {parse_error::bad_host, "malformed Host field"},
    {parse_error::empty_host, "empty Host field"},
    {parse_error::bad_content_length, "malformed or repeated Content-Length"},
    {parse_error::bad_transfer_encoding, "malformed Transfer-Encoding, or one that does not end with chunked"},
    {parse_error::unknown_transfer_encoding, "unknown Transfer-Encoding"},
    {parse_error::length_and_encoding, "both Content-Length and Transfer-Encoding"},
    {parse_error::unknown_expectation, "unknown expectation"},
    {parse_error::bad_chunk_size, "malformed or too large chunk size"},
    {parse_error::bad_chunk_extension, "malformed or too long chunk extension"},
    {parse_error::bad_chunk_end, "chunk data does not end with CR LF"},
    {parse_error::trailer_too_large, "the trailer section is too large"},
};

}  // namespace

std::string_view describe(parse_error error) noexcept {
  for (const parse_description& each : parse_descriptions)
    if (each.error == error) return each.text;
  return "unknown";
}

}  // namespace gyre::http
