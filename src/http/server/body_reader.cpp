// src/http/server/body_reader.cpp: turns the bytes of the connection into the bytes of a body.
#include <gyre/coro/misuse.hpp>
#include <gyre/http/body_reader.hpp>
#include <gyre/http/status_error.hpp>
#include <gyre/io/io_error.hpp>
#include <gyre/net/bulk.hpp>

#include "message_input.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace gyre::http {

void body_reader::start(message_input& input, const framing& body, std::uint64_t limit) noexcept {
  input_ = &input;
  kind_ = body.body;
  if (kind_ == body_kind::chunked) chunks_.reset();
  left_ = kind_ == body_kind::none ? 0 : kind_ == body_kind::sized ? body.length : unknown;
  received_ = consumed_ = 0;
  limit_ = limit;
  continue_wanted_ = body.expects_continue;
}

std::optional<std::uint64_t> body_reader::length() const noexcept {
  if (left_ == unknown || kind_ == body_kind::chunked) return std::nullopt;
  return received_ + left_;
}

bool body_reader::failed() const noexcept { return input_ != nullptr && input_->broken; }

void body_reader::check_limit(std::uint64_t bytes) const {
  if (bytes <= limit_) return;
  throw status_error(413, "the request body exceeds the limit of " + std::to_string(limit_) + " bytes");
}

std::string_view body_reader::take(std::size_t most) {
  if (kind_ == body_kind::chunked) return take_chunked(most);
  const std::string_view available = input_->available();
  const std::string_view piece =
      available.substr(0, static_cast<std::size_t>(std::min<std::uint64_t>({available.size(), most, left_})));
  input_->consume(piece.size());
  if (left_ != unknown) left_ -= piece.size();
  return piece;
}

std::string_view body_reader::take_chunked(std::size_t most) {
  const chunked_decoder::step step = chunks_.next(input_->available().substr(0, most));
  input_->consume(step.consumed);
  consumed_ += step.consumed;
  if (step.what == chunked_decoder::state::complete) left_ = 0;
  if (step.what == chunked_decoder::state::failed) {
    input_->broken = true;
    throw status_error(status_for(chunks_.error()), std::string(describe(chunks_.error())));
  }
  return step.data;
}

task<> body_reader::wait_for_more() {
  const transfer outcome = co_await input_->receive();
  if (outcome == transfer::done) co_return;
  if (outcome == transfer::ended && kind_ == body_kind::until_end) {
    left_ = 0;
    co_return;
  }
  fail(outcome == transfer::timed_out);
}

void body_reader::fail(bool timed_out) {
  input_->broken = true;
  if (timed_out) throw status_error(408, "the request body arrived too slowly");
  throw incomplete_transfer(make_error_code(stream_errc::end_of_stream), "receive", "the body",
                            static_cast<std::size_t>(received_));
}

task<> body_reader::ask_for_it() {
  if (kind_ == body_kind::sized && received_ + left_ > limit_) co_return;
  if (!std::exchange(continue_wanted_, false)) co_return;
  if (input_->available().empty() && input_->before_response != nullptr)
    (void)co_await input_->before_response->send_interim("HTTP/1.1 100 Continue\r\n\r\n");
}

void body_reader::expect_one_reader() const {
  if (input_ != nullptr) input_->owner.check("receive");
  if (left_ != 0 && input_->receives())
    misuse("two tasks read the body of one request at the same time: let one task read, and hand on what it has read");
}

task<std::string_view> body_reader::receive_some(std::size_t most) {
  expect_one_reader();
  if (kind_ == body_kind::sized) check_limit(received_ + left_);
  if (continue_wanted_) co_await ask_for_it();
  std::string_view piece;
  while (left_ != 0 && piece.empty()) {
    if (input_->available().empty()) {
      co_await wait_for_more();
    } else {
      piece = take(most);
    }
  }
  received_ += piece.size();
  if (kind_ != body_kind::sized) {
    if (received_ > limit_) input_->broken = true;  // nobody will look for the end of the body
    check_limit(received_);
  }
  co_return piece;
}

socket_state* body_reader::bulk_source() const noexcept {
  if (kind_ != body_kind::sized || left_ == 0 || !input_->available().empty()) return nullptr;
  return input_->transport().bulk_socket();
}

task<std::size_t> body_reader::receive_bulk(socket_bulk& bulk) {
  expect_one_reader();
  check_limit(received_ + left_);
  input_->transport().bulk_socket()->pause_watch();
  const transfer outcome = co_await input_->receive_bulk(bulk, left_);
  if (outcome != transfer::done) fail(outcome == transfer::timed_out);
  received_ += bulk.size();
  left_ -= bulk.size();
  if (left_ == 0) end_bulk();
  co_return bulk.size();
}

void body_reader::end_bulk() noexcept { input_->transport().bulk_socket()->resume_watch(); }

GYRE_CORO_WRAPPER task<std::string_view> body_reader::receive() { return receive_some(std::string_view::npos); }

task<std::size_t> body_reader::read_some(std::span<std::byte> buffer) {
  if (buffer.empty()) co_return std::size_t{0};
  const std::string_view piece = co_await receive_some(buffer.size());
  if (!piece.empty()) std::memcpy(buffer.data(), piece.data(), piece.size());
  co_return piece.size();
}

task<std::string> body_reader::read_all() {
  std::string all;
  if (kind_ == body_kind::sized) {
    check_limit(received_ + left_);
    constexpr std::uint64_t trusted = std::uint64_t{1} << 20U;  // beyond this, memory is allocated only as data arrives
    all.reserve(static_cast<std::size_t>(std::min(left_, trusted)));
  }
  for (;;) {
    const std::string_view piece = co_await receive();
    if (piece.empty()) break;
    all.append(piece);
  }
  co_return all;
}

task<bool> body_reader::skip(std::uint64_t most) {
  while (skip_arrived(most)) {
    if (at_end()) co_return true;
    try {
      co_await wait_for_more();
    } catch (const std::exception&) {
      co_return false;
    }
  }
  co_return false;
}

bool body_reader::skip_arrived(std::uint64_t& most) {
  expect_one_reader();
  if (left_ == 0) return true;
  if (continue_wanted_ || (left_ != unknown && left_ > most)) return false;
  try {
    while (left_ != 0 && !input_->available().empty()) {
      const std::uint64_t before = consumed_;
      const std::uint64_t piece = take(std::string_view::npos).size();
      const std::uint64_t used = std::max(piece, consumed_ - before);
      if (used > most) return false;
      received_ += piece;
      most -= used;
    }
  } catch (const std::exception&) {
    return false;
  }
  return true;
}

}  // namespace gyre::http
