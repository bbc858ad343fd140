// programs/gyre/load/response_reader.cpp: heads and bodies of responses.
#include "programs/gyre/load/response_reader.hpp"

#include <algorithm>

namespace programs {

namespace http = gyre::http;

void response_reader::reset() noexcept {
  head_.reset();
  chunks_.reset();
  partial_.clear();
  place_ = place::head;
  left_ = 0;
}

response_reader::state response_reader::fail(http::parse_error error) noexcept {
  error_ = error;
  return state::failed;
}

response_reader::state response_reader::take(std::string_view& bytes) {
  for (;;) {
    switch (place_) {
      case place::head: {
        if (bytes.empty()) return state::more;
        const state found = take_head(bytes);
        if (found != state::complete) return found;
        if (place_ == place::head) {
          if (status_ >= 200) return state::complete;  // without a body
          continue;                                    // 1xx: the response follows
        }
        break;
      }
      case place::sized: {
        const std::size_t count = std::min<std::uint64_t>(left_, bytes.size());
        bytes.remove_prefix(count);
        left_ -= count;
        if (left_ > 0) return state::more;
        place_ = place::head;
        return state::complete;
      }
      case place::chunked:
        return take_chunked(bytes);
      case place::until_end:
        bytes = {};
        return state::more;
    }
  }
}

// A head nearly always arrives in one piece, which is then parsed in place.
response_reader::state response_reader::take_head(std::string_view& bytes) {
  const std::size_t before = partial_.size();
  if (before > 0) partial_.append(bytes);
  const std::string_view all = before > 0 ? std::string_view(partial_) : bytes;
  const http::parse_state parsed = head_.parse(all);
  if (parsed == http::parse_state::failed) return fail(head_.error());
  if (parsed == http::parse_state::incomplete) {
    if (before == 0) partial_.assign(bytes);
    bytes = {};
    return state::more;
  }
  http::framing framing;
  if (const http::parse_error wrong = http::understand_response(head_, method_, framing);
      wrong != http::parse_error::none)
    return fail(wrong);
  bytes.remove_prefix(head_.size() - before);
  status_ = head_.status();
  keep_alive_ = framing.keep_alive;
  head_.reset();
  partial_.clear();
  switch (framing.body) {
    case http::body_kind::none:
      break;
    case http::body_kind::sized:
      left_ = framing.length;
      if (left_ > 0) place_ = place::sized;
      break;
    case http::body_kind::chunked:
      chunks_.reset();
      place_ = place::chunked;
      break;
    case http::body_kind::until_end:
      place_ = place::until_end;
      break;
  }
  return state::complete;
}

response_reader::state response_reader::take_chunked(std::string_view& bytes) {
  for (;;) {
    const http::chunked_decoder::step step = chunks_.next(bytes);
    bytes.remove_prefix(step.consumed);
    switch (step.what) {
      case http::chunked_decoder::state::data:
        break;
      case http::chunked_decoder::state::more:
        return state::more;
      case http::chunked_decoder::state::failed:
        return fail(chunks_.error());
      case http::chunked_decoder::state::complete:
        place_ = place::head;
        return state::complete;
    }
  }
}

}  // namespace programs
