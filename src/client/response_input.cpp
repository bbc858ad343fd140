// src/client/response_input.cpp: from bytes to a head and the pieces of a body.
#include "response_input.hpp"

#include <algorithm>

namespace gyre::http {

void response_input::begin() noexcept {
  parser_.reset();
  chunks_.reset();
  framing_ = {};
  gathered_.clear();
  used_ = 0;
  release_lease();
  left_ = received_ = 0;
  at_end_ = received_any_ = false;
}

void response_input::end() noexcept {
  constexpr std::size_t kept = std::size_t{64} << 10U;
  release_lease();
  if (gathered_.capacity() > kept) std::string().swap(gathered_);
}

parse_state response_input::parse_head() {
  for (;;) {
    if (!piece_.empty()) {
      constexpr std::string_view end_of_head = "\r\n\r\n";
      const std::size_t end = piece_.find(end_of_head);
      const std::size_t size = end == std::string_view::npos ? piece_.size() : end + end_of_head.size();
      gathered_.append(piece_.substr(0, size));
      piece_.remove_prefix(size);
    }
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
  at_end_ = framing_.body == body_kind::none || (framing_.body == body_kind::sized && framing_.length == 0);
  left_ = framing_.body == body_kind::sized ? framing_.length : ~std::uint64_t{0};
  return parse_error::none;
}

std::string_view response_input::take(std::size_t most) {
  if (at_end_) return {};
  std::string_view piece;
  if (framing_.body == body_kind::chunked) {
    // A step that ends within the framing may leave data behind it.
    while (piece.empty() && !at_end_ && !available().empty() && error() == parse_error::none) {
      const auto step = chunks_.next(available().substr(0, most));
      consume(step.consumed);
      piece = step.data;
      at_end_ = step.what == chunked_decoder::state::complete;
    }
  } else {
    piece = available();
    piece = piece.substr(0, static_cast<std::size_t>(std::min<std::uint64_t>({piece.size(), left_, most})));
    consume(piece.size());
    bypass(piece.size());
    return piece;
  }
  received_ += piece.size();
  return piece;
}

parse_error response_input::look_ahead() const {
  if (framing_.body != body_kind::chunked || at_end_) return error();
  chunked_decoder ahead = chunks_;
  std::string_view rest = available();
  auto what = chunked_decoder::state::more;
  while (!rest.empty() && what != chunked_decoder::state::complete && what != chunked_decoder::state::failed) {
    const auto step = ahead.next(rest);
    rest.remove_prefix(step.consumed);
    what = step.what;
  }
  return ahead.error();
}

bool response_input::end_of_stream() noexcept {
  if (framing_.body == body_kind::until_end) at_end_ = true;
  return at_end_;
}

}  // namespace gyre::http
