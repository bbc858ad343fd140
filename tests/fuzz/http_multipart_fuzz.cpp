// tests/fuzz/http_multipart_fuzz.cpp: any bytes as a form with files: no crash, and the same result for every split.
// The first two bytes say where to split, the next two set the limits, and the rest is the body.
#include <gyre/http/multipart_decoder.hpp>

#include <cstdint>
#include <string>
#include <string_view>

#include "tests/fuzz/demand.hpp"

namespace http = gyre::http;
using decoder_state = http::multipart_decoder::state;

namespace {

// The parts as one text. The size before each part's data keeps the text unambiguous.
struct outcome {
  decoder_state state = decoder_state::more;
  std::string text;
  std::string data;
  bool in_part = false;
};

void end_part(outcome& result) {
  demand(result.in_part, "a part ends that did not begin");
  result.in_part = false;
  result.text += std::to_string(result.data.size()) + ":" + result.data + "\n";
}

void begin_part(const http::multipart_part& part, outcome& result) {
  demand(!result.in_part, "a part begins in a part");
  result.in_part = true;
  result.data.clear();
  result.text += part.name + "\n" + part.file_name.value_or("none") + "\n" + part.content_type + "\n";
  const std::string harmless = http::harmless_file_name(part.file_name.value_or(part.name));
  demand(!harmless.empty() && harmless.size() <= 255 && harmless.front() != '.', "a file name is not harmless");
  demand(harmless.find_first_of(std::string_view("/\\\0\r\n", 5)) == std::string::npos, "a file name is not harmless");
}

void feed(http::multipart_decoder& decoder, std::string_view input, bool last, outcome& result) {
  const std::string copy(input);
  std::string_view rest = copy;
  while (result.state != decoder_state::failed) {
    const auto step = decoder.next(rest, last);
    demand(step.consumed <= rest.size(), "more was consumed than there is");
    rest.remove_prefix(step.consumed);
    result.state = step.what;
    if (step.what == decoder_state::part_begin) begin_part(decoder.part(), result);
    if (step.what == decoder_state::part_end) end_part(result);
    if (step.what == decoder_state::data) {
      demand(result.in_part && !step.data.empty(), "data is nowhere");
      result.data += step.data;
    }
    if (step.what != decoder_state::more && step.what != decoder_state::complete) continue;
    demand(rest.empty(), "bytes were left alone");
    return;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 4) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 4, size - 4);
  const std::size_t split = bytes.empty() ? 0 : (data[0] * 256U + data[1]) % bytes.size();
  const http::multipart_limits limits = {.header = 1 + data[2] * 8U, .parts = 1 + data[3] / 16U, .preamble = data[3]};
  constexpr std::string_view boundary = "b:b";
  http::multipart_decoder whole(boundary, limits);
  outcome expected;
  feed(whole, bytes, true, expected);
  demand(expected.state == decoder_state::complete || expected.state == decoder_state::failed, "there is no end");
  demand(expected.state == decoder_state::failed || !expected.in_part, "a part does not end");

  http::multipart_decoder parts(boundary, limits);
  outcome found;
  feed(parts, bytes.substr(0, split), false, found);
  feed(parts, bytes.substr(split), true, found);
  demand(found.state == expected.state && parts.error() == whole.error(), "a split makes a difference");
  demand(found.text == expected.text && found.in_part == expected.in_part, "a split changes the parts");
  demand(!found.in_part || found.data == expected.data, "a split changes the data");

  parts.reset();
  outcome each;
  for (std::size_t i = 0; i < bytes.size(); ++i) feed(parts, bytes.substr(i, 1), false, each);
  feed(parts, {}, true, each);
  demand(each.state == expected.state && parts.error() == whole.error(), "byte by byte makes a difference");
  demand(each.text == expected.text && each.data == expected.data, "byte by byte changes the parts");

  (void)http::multipart_boundary(bytes);
  return 0;
}
