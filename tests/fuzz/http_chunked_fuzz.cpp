// tests/fuzz/http_chunked_fuzz.cpp: any bytes as a chunked body: no crash, and the same result for every split.
#include <gyre/http/chunked_decoder.hpp>

#include <cstdint>
#include <string>
#include <string_view>

#include "tests/fuzz/demand.hpp"

namespace http = gyre::http;
using decoder_state = http::chunked_decoder::state;

namespace {

struct outcome {
  decoder_state state = decoder_state::more;
  http::parse_error error = http::parse_error::none;
  std::string data;
  std::size_t consumed = 0;
};

void feed(http::chunked_decoder& decoder, std::string_view input, outcome& result) {
  const std::string copy(input);
  std::string_view rest = copy;
  while (result.state == decoder_state::more || result.state == decoder_state::data) {
    const auto step = decoder.next(rest);
    demand(step.consumed <= rest.size(), "more was consumed than there is");
    rest.remove_prefix(step.consumed);
    result.consumed += step.consumed;
    result.data += step.data;
    result.state = step.what;
    if (step.what == decoder_state::more) break;
  }
  result.error = decoder.error();
}

void compare(std::string_view bytes, std::size_t split, bool lenient) {
  // Small limits that inputs of this size can reach.
  const http::chunk_limits limits{.line = 200, .trailer = 400, .overhead = 300};
  http::chunked_decoder whole(limits, lenient);
  outcome expected;
  feed(whole, bytes, expected);
  http::chunked_decoder parts(limits, lenient);
  outcome found;
  feed(parts, bytes.substr(0, split), found);
  feed(parts, bytes.substr(split), found);
  demand(found.state == expected.state && found.error == expected.error, "a split makes a difference");
  if (expected.state != decoder_state::complete) return;
  demand(found.data == expected.data && found.consumed == expected.consumed, "a split changes the body");
  demand(parts.trailers().size() == whole.trailers().size(), "a split changes the trailers");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 2, size - 2);
  const std::size_t split = bytes.empty() ? 0 : (data[0] * 256U + data[1]) % bytes.size();
  compare(bytes, split, false);
  compare(bytes, split, true);
  return 0;
}
