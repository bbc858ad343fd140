// src/http/http1/body_decoder.cpp: bodies with a length, in chunks, and up to the end of the stream.
#include <gyre/http/body_decoder.hpp>

#include <algorithm>

namespace gyre::http {

std::string_view body_decoder::take(std::string_view& bytes, std::size_t max) {
  if (kind_ == body_kind::chunked) return take_chunked(bytes, max);
  const auto size = static_cast<std::size_t>(std::min<std::uint64_t>({bytes.size(), max, left_}));
  const std::string_view piece = bytes.substr(0, size);
  bytes.remove_prefix(size);
  bypass(size);
  return piece;
}

// A step that ends within the framing may leave data behind it.
std::string_view body_decoder::take_chunked(std::string_view& bytes, std::size_t max) {
  std::string_view piece;
  while (piece.empty() && !bytes.empty() && left_ != 0 && chunks_.error() == parse_error::none) {
    const chunked_decoder::step step = chunks_.next(bytes.substr(0, max));
    bytes.remove_prefix(step.consumed);
    piece = step.data;
    if (step.what == chunked_decoder::state::complete) left_ = 0;
  }
  received_ += piece.size();
  return piece;
}

parse_error body_decoder::look_ahead(std::string_view bytes) const {
  if (kind_ != body_kind::chunked || at_end()) return error();
  body_decoder ahead = *this;
  while (!bytes.empty() && !ahead.at_end() && ahead.error() == parse_error::none) (void)ahead.take(bytes);
  return ahead.error();
}

}  // namespace gyre::http
