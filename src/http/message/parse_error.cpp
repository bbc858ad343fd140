// src/http/message/parse_error.cpp: the status and the description of each parse error.
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

std::string_view describe(parse_error error) noexcept {
  switch (error) {
    case parse_error::none:
      return "nothing is wrong";
    case parse_error::bad_method:
      return "the method is not a token";
    case parse_error::method_too_long:
      return "the method is too long";
    case parse_error::bad_target:
      return "the target of the request is malformed";
    case parse_error::target_too_long:
      return "the target of the request is too long";
    case parse_error::bad_version:
      return "the version of the protocol is malformed";
    case parse_error::unsupported_version:
      return "the version of the protocol is not HTTP/1";
    case parse_error::bad_status_line:
      return "the status line is malformed";
    case parse_error::bare_line_feed:
      return "a line does not end with CR LF";
    case parse_error::folded_line:
      return "a field goes on in the next line";
    case parse_error::bad_field_name:
      return "the name of a field is not a token";
    case parse_error::space_before_colon:
      return "white space stands between the name of a field and the colon";
    case parse_error::bad_field_value:
      return "the value of a field holds a control character";
    case parse_error::too_many_fields:
      return "there are too many fields";
    case parse_error::head_too_large:
      return "the head of the message is too large";
    case parse_error::missing_host:
      return "there is no Host";
    case parse_error::repeated_host:
      return "there is more than one Host";
    case parse_error::bad_host:
      return "the Host is malformed";
    case parse_error::empty_host:
      return "the Host is empty";
    case parse_error::bad_content_length:
      return "the Content-Length is malformed or repeated";
    case parse_error::bad_transfer_encoding:
      return "the Transfer-Encoding is malformed, or does not end with chunked";
    case parse_error::unknown_transfer_encoding:
      return "the Transfer-Encoding is unknown";
    case parse_error::length_and_encoding:
      return "there are both Content-Length and Transfer-Encoding";
    case parse_error::unknown_expectation:
      return "the expectation is unknown";
    case parse_error::bad_chunk_size:
      return "the size of a chunk is malformed or too large";
    case parse_error::bad_chunk_extension:
      return "the extension of a chunk is malformed or too long";
    case parse_error::bad_chunk_end:
      return "the data of a chunk does not end with CR LF";
    case parse_error::trailer_too_large:
      return "the trailer section is too large";
  }
  return "unknown";
}

}  // namespace gyre::http
