// src/http/exchange/multipart_reader.cpp: feeds the decoder with the body.
#include <gyre/http/multipart_reader.hpp>
#include <gyre/http/status_error.hpp>

#include <utility>

namespace gyre::http {
namespace {

std::string boundary_of(const request& r) {
  auto boundary = multipart_boundary(r.field("Content-Type"));
  if (!boundary) throw status_error(415, "the request must have the media type multipart/form-data");
  return *std::move(boundary);
}

}  // namespace

multipart_reader::multipart_reader(request& r, const multipart_limits& limits)
    : request_(r), decoder_(boundary_of(r), limits) {}

// Runs to the next step other than a request for more bytes.
task<multipart_decoder::step> multipart_reader::advance() {
  for (;;) {
    const multipart_decoder::step step = decoder_.next(left_, body_ended_);
    left_.remove_prefix(step.consumed);
    if (step.what == multipart_decoder::state::failed)
      throw status_error(status_for(decoder_.error()), std::string(describe(decoder_.error())));
    if (step.what != multipart_decoder::state::more) co_return step;
    left_ = co_await request_.body().receive();
    body_ended_ = left_.empty();
  }
}

task<const multipart_part*> multipart_reader::next_part() {
  for (;;) {
    const multipart_decoder::step step = co_await advance();
    in_part_ = step.what == multipart_decoder::state::part_begin;
    if (in_part_) co_return &decoder_.part();
    if (step.what == multipart_decoder::state::complete) break;
  }
  // Skips the epilogue, which has no meaning; the connection continues after it.
  for (;;) {
    const std::string_view epilogue = co_await request_.body().receive();
    if (epilogue.empty()) break;
  }
  co_return nullptr;
}

task<std::string_view> multipart_reader::receive() {
  while (in_part_) {
    const multipart_decoder::step step = co_await advance();
    if (step.what == multipart_decoder::state::data && !step.data.empty()) co_return step.data;
    if (step.what == multipart_decoder::state::part_end) in_part_ = false;
  }
  co_return std::string_view();
}

task<std::string> multipart_reader::read_part(std::size_t limit) {
  std::string all;
  for (;;) {
    const std::string_view piece = co_await receive();
    if (piece.empty()) break;
    if (piece.size() > limit - all.size()) throw status_error(413, "a part of the form exceeds the limit");
    all.append(piece);
  }
  co_return all;
}

}  // namespace gyre::http
