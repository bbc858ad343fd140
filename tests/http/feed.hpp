// tests/http/feed.hpp: feeds the same bytes in different pieces, which must not make a difference.
#pragma once

#include <gyre/http.hpp>

#include "tests/http/lines.hpp"

#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace gyre_test {

namespace http = gyre::http;

/// The outcome of parsing a head.
struct parsed_head {
  http::parse_state state = http::parse_state::incomplete;
  http::parse_error error = http::parse_error::none;
  std::size_t size = 0;
  std::string method;
  std::string target;  // or the reason of an error
  int status = 0;
  int minor_version = 1;
  std::vector<std::string> fields;  // "name: value"
  bool operator==(const parsed_head&) const = default;
};

inline std::ostream& operator<<(std::ostream& out, const parsed_head& p) {
  out << "state " << static_cast<int>(p.state) << ", " << http::describe(p.error) << ", size " << p.size << ", "
      << p.method << ' ' << p.target << ' ' << p.status << " 1." << p.minor_version;
  for (const std::string& each : p.fields) out << " | " << each;
  return out;
}

inline parsed_head result_of(const http::head_parser& parser, http::parse_state state) {
  parsed_head result;
  result.state = state;
  result.error = parser.error();
  if (state != http::parse_state::complete) return result;
  result.size = parser.size();
  result.method = parser.method();
  result.target = parser.status() > 0 ? parser.reason() : parser.target();
  result.status = parser.status();
  result.minor_version = parser.minor_version();
  for (const http::field& each : parser.fields())
    result.fields.push_back(std::string(each.name) + ": " + std::string(each.value));
  return result;
}

/// Feeds the bytes up to each of `ends` in turn, each time from a different place in memory.
inline parsed_head feed(std::string_view bytes, const std::vector<std::size_t>& ends, http::head_parser::kind kind,
                        const http::head_limits& limits) {
  http::head_parser parser(kind, limits);
  http::parse_state state = http::parse_state::incomplete;
  std::vector<std::string> copies;
  copies.reserve(ends.size());
  for (const std::size_t end : ends) {
    copies.emplace_back(bytes.substr(0, end));
    state = parser.parse(copies.back());
    if (state != http::parse_state::incomplete) break;
  }
  return result_of(parser, state);
}

/// Feeds everything at once, byte by byte, and in two pieces at every position. Returns the result, which all share.
inline parsed_head parse_head(std::string_view bytes, http::head_parser::kind kind = http::head_parser::kind::request,
                              const http::head_limits& limits = {}) {
  const parsed_head whole = feed(bytes, {bytes.size()}, kind, limits);
  std::vector<std::size_t> each_byte;
  for (std::size_t i = 0; i <= bytes.size(); ++i) {
    each_byte.push_back(i);
    EXPECT_EQ(feed(bytes, {i, bytes.size()}, kind, limits), whole) << "split at " << i;
  }
  EXPECT_EQ(feed(bytes, each_byte, kind, limits), whole) << "byte by byte";
  return whole;
}
inline http::parse_error error_of_head(std::string_view bytes, const http::head_limits& limits = {}) {
  return parse_head(bytes, http::head_parser::kind::request, limits).error;
}

/// The outcome of decoding a chunked body.
struct decoded_body {
  http::chunked_decoder::state state = http::chunked_decoder::state::more;
  http::parse_error error = http::parse_error::none;
  std::string data;
  std::size_t consumed = 0;
  std::vector<std::string> trailers;
  bool operator==(const decoded_body&) const = default;
};

inline decoded_body decode_in_pieces(std::string_view bytes, std::size_t piece, const http::chunk_limits& limits = {},
                                     bool lenient = false) {
  using state = http::chunked_decoder::state;
  http::chunked_decoder decoder(limits, lenient);
  decoded_body result;
  for (std::size_t at = 0; at < bytes.size() && result.state != state::complete && result.state != state::failed;) {
    const std::string input(bytes.substr(at, piece));
    std::string_view rest = input;
    do {
      const auto step = decoder.next(rest);
      rest.remove_prefix(step.consumed);
      result.data += step.data;
      result.state = step.what;
    } while (result.state == state::data);
    at += input.size() - rest.size();
    if (result.state == state::more) EXPECT_TRUE(rest.empty()) << "bytes were left alone";
    result.consumed = at;
  }
  result.error = decoder.error();
  if (result.state == state::failed) result.consumed = 0;  // meaningless then
  if (result.state == state::complete)
    for (const http::field& each : decoder.trailers())
      result.trailers.push_back(std::string(each.name) + ": " + std::string(each.value));
  return result;
}

/// Feeds the body in pieces of every size. Returns the result, which all share.
inline decoded_body decode_body(std::string_view bytes, const http::chunk_limits& limits = {}, bool lenient = false) {
  const decoded_body whole = decode_in_pieces(bytes, bytes.size() + 1, limits, lenient);
  for (std::size_t piece = 1; piece <= bytes.size(); ++piece) {
    decoded_body other = decode_in_pieces(bytes, piece, limits, lenient);
    if (whole.state == http::chunked_decoder::state::failed) other.data = whole.data;  // earlier data may differ
    EXPECT_TRUE(other == whole) << "in pieces of " << piece;
  }
  return whole;
}

}  // namespace gyre_test
