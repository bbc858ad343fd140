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
  body_.begin(body);
  limit_ = limit;
  continue_wanted_ = body.expects_continue;
}

bool body_reader::failed() const noexcept { return input_ != nullptr && input_->broken; }

void body_reader::check_limit(std::uint64_t bytes) const {
  if (bytes <= limit_) return;
  throw status_error(413, "the request body exceeds the limit of " + std::to_string(limit_) + " bytes");
}

std::string_view body_reader::take(std::size_t most) {
  const std::string_view available = input_->available();
  std::string_view rest = available;
  const std::string_view piece = body_.take(rest, most);
  input_->consume(available.size() - rest.size());
  if (const parse_error error = body_.error(); error != parse_error::none) {
    input_->broken = true;
    throw status_error(status_for(error), std::string(describe(error)));
  }
  return piece;
}

task<> body_reader::wait_for_more() {
  const transfer outcome = co_await input_->receive();
  if (outcome == transfer::done) co_return;
  if (outcome == transfer::ended && body_.end_of_stream()) co_return;
  fail(outcome == transfer::timed_out);
}

void body_reader::fail(bool timed_out) {
  input_->broken = true;
  if (timed_out) throw status_error(408, "the request body arrived too slowly");
  throw incomplete_transfer(make_error_code(stream_errc::end_of_stream), "receive", "the body",
                            static_cast<std::size_t>(received()));
}

task<> body_reader::ask_for_it() {
  if (known_length() > limit_) co_return;
  if (!std::exchange(continue_wanted_, false)) co_return;
  if (input_->available().empty() && input_->before_response != nullptr)
    (void)co_await input_->before_response->send_interim("HTTP/1.1 100 Continue\r\n\r\n");
}

void body_reader::expect_one_reader() const {
  if (input_ != nullptr) input_->owner.check("receive");
  if (!at_end() && input_->receives())
    misuse("two tasks read the body of one request at the same time: let one task read, and hand on what it has read");
}

task<std::string_view> body_reader::receive_some(std::size_t most) {
  expect_one_reader();
  check_limit(known_length());
  if (continue_wanted_) co_await ask_for_it();
  std::string_view piece;
  while (!at_end() && piece.empty()) {
    if (input_->available().empty()) {
      co_await wait_for_more();
    } else {
      piece = take(most);
    }
  }
  if (received() > limit_) input_->broken = true;  // nobody will look for the end of the body
  check_limit(received());
  co_return piece;
}

socket_state* body_reader::bulk_source() const noexcept {
  if (!body_.is_plain() || body_.left() == body_decoder::unknown || !input_->available().empty()) return nullptr;
  return input_->transport().bulk_socket();
}

task<std::size_t> body_reader::receive_bulk(socket_bulk& bulk) {
  expect_one_reader();
  check_limit(known_length());
  input_->transport().bulk_socket()->pause_watch();
  const transfer outcome = co_await input_->receive_bulk(bulk, body_.left());
  if (outcome != transfer::done) fail(outcome == transfer::timed_out);
  body_.bypass(bulk.size());
  if (at_end()) end_bulk();
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
  if (const auto whole = length()) {
    check_limit(*whole);
    constexpr std::uint64_t trusted = std::uint64_t{1} << 20U;  // beyond this, memory is allocated only as data arrives
    all.reserve(static_cast<std::size_t>(std::min(*whole - received(), trusted)));
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
  if (at_end()) return true;
  if (continue_wanted_ || (length() && body_.left() > most)) return false;
  try {
    while (!at_end() && !input_->available().empty()) {
      const std::uint64_t before = input_->available().size();
      (void)take(std::string_view::npos);
      const std::uint64_t used = before - input_->available().size();
      if (used > most) return false;
      most -= used;
    }
  } catch (const std::exception&) {
    return false;
  }
  return true;
}

}  // namespace gyre::http
