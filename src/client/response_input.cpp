// src/client/response_input.cpp: from bytes to a head and the pieces of a body.
#include "response_input.hpp"

#include <algorithm>

namespace gyre::http {

void response_input::begin() noexcept {
  parser_.reset();
  framing_ = {};
  gathered_.clear();
  used_ = 0;
  release_lease();
  body_.begin({});
  received_any_ = false;
}

void response_input::end() noexcept {
  constexpr std::size_t kept = std::size_t{64} << 10U;
  release_lease();
  if (gathered_.capacity() > kept) std::string().swap(gathered_);
}

namespace {

// The bytes up to the end of a head. Copying a few bytes of a body with it costs less than to look for that end.
std::size_t size_to_gather(std::string_view piece) noexcept {
  constexpr std::size_t few = 1024;
  constexpr std::string_view end_of_head = "\r\n\r\n";
  if (piece.size() <= few) return piece.size();
  const std::size_t end = piece.find(end_of_head);
  return end == std::string_view::npos ? piece.size() : end + end_of_head.size();
}

}  // namespace

parse_state response_input::parse_head() {
  for (;;) {
    if (!piece_.empty()) {
      const std::size_t size = size_to_gather(piece_);
      gathered_.append(piece_.substr(0, size));
      piece_.remove_prefix(size);
    }
    if (gathered_.empty()) return parse_state::incomplete;
    const parse_state state = parser_.parse(gathered_);
    if (state == parse_state::complete) {
      used_ = parser_.size();
      if (parser_.has_folded_lines()) unfold();
    }
    if (state != parse_state::incomplete || piece_.empty()) return state;
  }
}

// RFC 9112 §5.2: each line end within a value becomes spaces.
void response_input::unfold() noexcept {
  for (const field& each : parser_.fields()) {
    if (each.value.empty()) continue;
    char* const begin = gathered_.data() + (each.value.data() - gathered_.data());
    std::replace_if(begin, begin + each.value.size(), [](char c) { return c == '\r' || c == '\n'; }, ' ');
  }
}

void response_input::drop_head() {
  gathered_.erase(0, used_);
  used_ = 0;
  parser_.reset();
}

parse_error response_input::begin_body(std::string_view request_method) {
  const parse_error error = understand_response(parser_, request_method, framing_);
  if (error != parse_error::none) return error;
  body_.begin(framing_);
  return parse_error::none;
}

std::string_view response_input::take(std::size_t max_size) {
  if (used_ == gathered_.size()) return body_.take(piece_, max_size);
  std::string_view rest = available();
  const std::string_view taken = body_.take(rest, max_size);
  used_ = gathered_.size() - rest.size();
  return taken;
}

}  // namespace gyre::http
