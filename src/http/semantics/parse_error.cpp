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
    {parse_error::none, "nothing is wrong"},
    {parse_error::bad_method, "the method is not a token"},
    {parse_error::method_too_long, "the method is too long"},
    {parse_error::bad_target, "the target of the request is malformed"},
    {parse_error::target_too_long, "the target of the request is too long"},
    {parse_error::bad_version, "the version of the protocol is malformed"},
    {parse_error::unsupported_version, "the version of the protocol is not HTTP/1"},
    {parse_error::bad_status_line, "the status line is malformed"},
    {parse_error::bare_line_feed, "a line does not end with CR LF"},
    {parse_error::folded_line, "a field goes on in the next line"},
    {parse_error::bad_field_name, "the name of a field is not a token"},
    {parse_error::space_before_colon, "white space stands between the name of a field and the colon"},
    {parse_error::bad_field_value, "the value of a field holds a control character"},
    {parse_error::too_many_fields, "there are too many fields"},
    {parse_error::head_too_large, "the head of the message is too large"},
    {parse_error::missing_host, "there is no Host"},
    {parse_error::repeated_host, "there is more than one Host"},
    {parse_error::bad_host, "the Host is malformed"},
    {parse_error::empty_host, "the Host is empty"},
    {parse_error::bad_content_length, "the Content-Length is malformed or repeated"},
    {parse_error::bad_transfer_encoding, "the Transfer-Encoding is malformed, or does not end with chunked"},
    {parse_error::unknown_transfer_encoding, "the Transfer-Encoding is unknown"},
    {parse_error::length_and_encoding, "there are both Content-Length and Transfer-Encoding"},
    {parse_error::unknown_expectation, "the expectation is unknown"},
    {parse_error::bad_chunk_size, "the size of a chunk is malformed or too large"},
    {parse_error::bad_chunk_extension, "the extension of a chunk is malformed or too long"},
    {parse_error::bad_chunk_end, "the data of a chunk does not end with CR LF"},
    {parse_error::trailer_too_large, "the trailer section is too large"},
};

}  // namespace

std::string_view describe(parse_error error) noexcept {
  for (const parse_description& each : parse_descriptions)
    if (each.error == error) return each.text;
  return "unknown";
}

}  // namespace gyre::http
