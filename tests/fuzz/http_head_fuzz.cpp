// tests/fuzz/http_head_fuzz.cpp: any bytes as a head: no crash, the same result for every split, and an accepted head
// reads as it was sent.
#include <gyre/http/framing.hpp>
#include <gyre/http/head_parser.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "tests/fuzz/demand.hpp"

namespace http = gyre::http;

namespace {

void compare(std::string_view bytes, std::size_t split, http::head_parser::kind kind) {
  http::head_parser whole(kind);
  const http::parse_state expected = whole.parse(bytes);
  http::head_parser parts(kind);
  const std::string first(bytes.substr(0, split));
  http::parse_state state = parts.parse(first);
  if (state == http::parse_state::incomplete) state = parts.parse(bytes);
  demand(state == expected && parts.error() == whole.error(), "a split makes a difference");
  if (expected != http::parse_state::complete) return;
  demand(parts.size() == whole.size() && parts.fields().size() == whole.fields().size(), "a split changes the head");
  demand(parts.has_folded_lines() == whole.has_folded_lines(), "a split changes the folds");
  const std::string_view head = bytes.substr(0, whole.size());
  demand(head.ends_with("\r\n\r\n") || (whole.is_lenient() && head.ends_with('\n')), "a head without its end");
  for (const http::field& each : whole.fields()) {
    std::string value(each.value);
    if (whole.has_folded_lines()) std::ranges::replace_if(value, [](char c) { return c == '\r' || c == '\n'; }, ' ');
    demand(http::is_token(each.name) && http::is_field_value(value), "a field that may not be");
    demand(each.value.empty() || head.find(each.value) != std::string_view::npos, "a value that was not sent");
  }
  http::framing framing;
  if (kind == http::head_parser::kind::request)
    (void)http::understand_request(whole, framing);
  else
    (void)http::understand_response(whole, "GET", framing);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 2, size - 2);
  const std::size_t split = bytes.empty() ? 0 : (data[0] * 256U + data[1]) % bytes.size();
  compare(bytes, split, http::head_parser::kind::request);
  compare(bytes, split, http::head_parser::kind::response);
  compare(bytes, split, http::head_parser::kind::lenient_response);
  return 0;
}
