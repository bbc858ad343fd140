// tests/http/differential/verdict.cpp: prints how gyre parses streams of requests, for comparison with other parsers.
//
// Standard input: for each stream its size in four bytes, least significant first, and its bytes. Standard output: one
// line of JSON for each stream, with texts in hexadecimal: {"requests": [...], "at": 0, "end": "done", "reason": "",
// "status": 0}. "at" is the offset in the stream at which a request begins, or at which the bytes after the last
// request begin.
#include <gyre/http.hpp>

#include <array>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace {

namespace http = gyre::http;

std::string hex(std::string_view bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string out = "\"";
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    out += digits[byte / 16U];
    out += digits[byte % 16U];
  }
  return out + '"';
}

template <class Fields>
std::string list_of(const Fields& fields) {
  std::string out;
  for (const http::field& each : fields)
    out += (out.empty() ? "[" : ", [") + hex(each.name) + ", " + hex(each.value) + "]";
  return "[" + out + "]";
}

// How a stream ends: "done", "more" (incomplete), "rejected", "closed" (a request says that it is the last) or
// "tunnel".
struct verdict {
  std::string requests;
  std::size_t at = 0;
  std::string_view end;
  http::parse_error error = http::parse_error::none;
};

struct body {
  http::parse_error error = http::parse_error::none;
  bool complete = false;
  std::string data;
  std::vector<http::field> trailers;
};

body read_chunks(http::chunked_decoder& decoder, std::string_view& bytes) {
  body result;
  for (;;) {
    const auto step = decoder.next(bytes);
    bytes.remove_prefix(step.consumed);
    result.data += step.data;
    if (step.what == http::chunked_decoder::state::data) continue;
    result.error = decoder.error();
    result.complete = step.what == http::chunked_decoder::state::complete;
    if (result.complete) result.trailers = decoder.trailers();
    return result;
  }
}

body read_body(const http::framing& framing, http::chunked_decoder& decoder, std::string_view& bytes) {
  if (framing.body == http::body_kind::chunked) return read_chunks(decoder, bytes);
  body result;
  result.complete = framing.body != http::body_kind::sized || framing.length <= bytes.size();
  if (!result.complete) return result;
  result.data = bytes.substr(0, framing.body == http::body_kind::sized ? framing.length : 0);
  bytes.remove_prefix(result.data.size());
  return result;
}

// Takes one request. Returns false after the last one.
bool take_request(std::string_view& bytes, verdict& out) {
  http::head_parser parser(http::head_parser::kind::request);
  http::framing framing;
  http::chunked_decoder decoder;
  const http::parse_state state = parser.parse(bytes);
  out.end = state == http::parse_state::incomplete ? "more" : "rejected";
  out.error = parser.error();
  if (state != http::parse_state::complete) return false;
  bytes.remove_prefix(parser.size());
  out.error = http::understand_request(parser, framing);
  if (out.error != http::parse_error::none) return false;
  const body read = read_body(framing, decoder, bytes);
  out.error = read.error;
  if (out.error != http::parse_error::none) return false;
  if (!read.complete) {
    out.end = "more";
    return false;
  }
  out.requests += std::string(out.requests.empty() ? "" : ", ") + R"({"at": )" + std::to_string(out.at) +
                  R"(, "method": )" + hex(parser.method()) + R"(, "target": )" + hex(parser.target()) +
                  R"(, "minor": )" + std::to_string(parser.minor_version()) + R"(, "fields": )" +
                  list_of(parser.fields()) + R"(, "body": )" + hex(read.data) + R"(, "trailers": )" +
                  list_of(read.trailers) + "}";
  out.end = parser.method() == "CONNECT" ? "tunnel" : framing.keep_alive ? "done" : "closed";
  return out.end == "done";
}

verdict judge(std::string_view bytes) {
  const std::size_t all = bytes.size();
  verdict result;
  result.end = "done";
  for (;;) {
    result.at = all - bytes.size();
    while (bytes.starts_with("\r\n")) bytes.remove_prefix(2);  // empty lines before a request are ignored
    if (bytes.empty() || !take_request(bytes, result)) return result;
  }
}

bool read_exactly(char* out, std::size_t size) { return std::fread(out, 1, size, stdin) == size; }

}  // namespace

int main() {
  for (std::array<char, 4> prefix{}; read_exactly(prefix.data(), prefix.size());) {
    std::size_t size = 0;
    for (std::size_t i = 0; i < prefix.size(); ++i)
      size |= std::size_t{static_cast<unsigned char>(prefix[i])} << (8 * i);
    std::string bytes(size, '\0');
    if (!read_exactly(bytes.data(), size)) return 1;
    const verdict result = judge(bytes);
    const bool rejected = result.error != http::parse_error::none;
    std::printf("{\"requests\": [%s], \"at\": %zu, \"end\": \"%s\", \"reason\": \"%s\", \"status\": %d}\n",
                result.requests.c_str(), result.at, std::string(result.end).c_str(),
                rejected ? std::string(http::describe(result.error)).c_str() : "",
                rejected ? http::status_for(result.error) : 0);
  }
  return 0;
}
