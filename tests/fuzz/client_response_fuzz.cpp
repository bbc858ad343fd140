// tests/fuzz/client_response_fuzz.cpp: any bytes as responses to a client: no crash, and the same result whatever the
// pieces in which they arrive.
#include <cstdint>
#include <string>
#include <string_view>

#include "src/client/response_input.hpp"
#include "tests/fuzz/demand.hpp"

namespace http = gyre::http;

namespace {

struct result {
  http::parse_error error = http::parse_error::none;
  int status = 0;
  std::size_t interim = 0;
  std::string body;
  bool complete = false;
  bool has_more = false;
  friend bool operator==(const result&, const result&) = default;
};

/// Feeds pieces of `size` bytes, as a connection does.
result read(std::string_view bytes, std::size_t size, std::string_view method) {
  http::response_input input({});
  result got;
  input.begin();
  const auto add = [&] {
    if (bytes.empty()) return false;
    input.add(bytes.substr(0, size));
    bytes.remove_prefix(std::min(size, bytes.size()));
    return true;
  };
  for (;;) {
    const http::parse_state state = input.parse_head();
    if (state == http::parse_state::failed) {
      got.error = input.head().error();
      return got;
    }
    if (state == http::parse_state::incomplete) {
      if (!add()) return got;
      continue;
    }
    if (input.head().status() >= 200 || input.head().status() == 101) break;
    if (++got.interim > 100) return got;
    input.drop_head();
  }
  got.status = input.head().status();
  got.error = input.begin_body(method);
  while (got.error == http::parse_error::none && !input.at_end()) {
    const std::string_view piece = input.take(size * 3);
    got.body += piece;
    got.error = input.error();
    if (!piece.empty() || input.at_end() || got.error != http::parse_error::none) continue;
    if (!add()) {
      (void)input.end_of_stream();
      break;
    }
  }
  got.complete = got.error == http::parse_error::none && input.at_end();
  demand(got.body.size() == input.received(), "bytes that were not counted");
  got.has_more = got.complete && (input.has_more() || !bytes.empty());
  return got;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 2, size - 2);
  const std::string_view method = (data[0] & 1U) != 0 ? "GET" : "HEAD";
  const result whole = read(bytes, bytes.size() + 1, method);
  demand(whole == read(bytes, 1 + data[1], method), "pieces make a difference");
  demand(whole == read(bytes, 1, method), "single bytes make a difference");
  return 0;
}
