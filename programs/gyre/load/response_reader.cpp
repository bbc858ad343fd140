// programs/gyre/load/response_reader.cpp: heads and bodies of responses.
#include "programs/gyre/load/response_reader.hpp"

namespace programs {

namespace http = gyre::http;

void response_reader::reset() noexcept {
  head_.reset();
  partial_.clear();
  in_body_ = false;
}

response_reader::state response_reader::fail(http::parse_error error) noexcept {
  error_ = error;
  return state::failed;
}

response_reader::state response_reader::take(std::string_view& bytes) {
  while (!in_body_) {
    if (bytes.empty()) return state::more;
    const state found = take_head(bytes);
    if (found != state::complete) return found;
    if (!in_body_ && status_ >= 200) return state::complete;  // without a body; after 1xx, the response follows
  }
  return take_body(bytes);
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
  body_.begin(framing);
  in_body_ = !body_.at_end();
  return state::complete;
}

response_reader::state response_reader::take_body(std::string_view& bytes) {
  while (!bytes.empty() && !body_.at_end()) {
    (void)body_.take(bytes);
    if (body_.error() != http::parse_error::none) return fail(body_.error());
  }
  in_body_ = !body_.at_end();
  return in_body_ ? state::more : state::complete;
}

}  // namespace programs
