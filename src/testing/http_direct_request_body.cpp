// src/testing/http_direct_request_body.cpp: from the client to the handler of a direct exchange.
#include <gyre/http/field_line.hpp>
#include <gyre/io/io_error.hpp>

#include "http_direct_state.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace gyre::testing {

// ---- The client.

task<> http_direct_state::send(std::string piece) {
  sent_ += piece.size();
  if (length_ && sent_ > *length_) throw std::logic_error("send: the body is longer than its Content-Length");
  std::string_view rest = piece;
  while (!rest.empty() && !over_ && !sender_left_) {
    const std::string_view next = rest.substr(0, max_unread - std::min(arrived_.size(), max_unread));
    arrived_.append(next);
    rest.remove_prefix(next.size());
    if (rest.empty() && length_ == sent_) body_ended_ = true;
    if (!next.empty()) arrival_.set();
    if (rest.empty()) break;
    room_for_request_.clear();
    co_await room_for_request_.wait();
  }
}

void http_direct_state::finish(std::vector<std::pair<std::string, std::string>> trailers) {
  if (length_ && sent_ < *length_) throw std::logic_error("finish: the body is shorter than its Content-Length");
  for (const auto& [name, value] : trailers) http::check_field(name, value);
  request_trailers_ = std::move(trailers);
  body_ended_ = true;
  arrival_.set();
}

void http_direct_state::close_sending() noexcept {
  if (!std::exchange(sender_left_, true)) leave();
}

void http_direct_state::reset() noexcept {
  if (std::exchange(was_reset_, true)) return;
  sender_left_ = true;
  parts_.clear();
  unread_ = 0;
  room_for_response_.set();
  part_came_.set();
  leave();
}

// A reader that waits finds out by itself.
void http_direct_state::leave() noexcept {
  room_for_request_.set();
  const bool reader_waits = source_waits_;
  arrival_.set();
  if (watch_ == nullptr || (reader_waits && !was_reset_)) return;
  end_watch& watch = *std::exchange(watch_, nullptr);
  watch.ended(watch);
}

// ---- The handler.

void http_direct_state::watch_end(end_watch* watch) noexcept {
  watch_ = watch;
  if (watch == nullptr || !sender_left_) return;
  watch_ = nullptr;
  watch->ended(*watch);
}

std::string_view http_direct_state::request_source::take(std::size_t max) {
  if (used_ == now_.size()) {
    now_.clear();
    used_ = 0;
    std::swap(now_, of_.arrived_);
    if (!now_.empty()) of_.room_for_request_.set();
  }
  const std::string_view piece = std::string_view(now_).substr(used_, max);
  used_ += piece.size();
  taken_ += piece.size();
  if (!piece.empty()) of_.waits_for_100_ = false;
  return piece;
}

bool http_direct_state::request_source::at_end() const noexcept {
  return of_.body_ended_ && used_ == now_.size() && of_.arrived_.empty();
}

task<> http_direct_state::request_source::wait() {
  if (of_.waits_for_100_) co_await ask_for_it();
  struct waiting {
    bool& flag;
    explicit waiting(bool& f) noexcept : flag(f) { flag = true; }
    waiting& operator=(waiting&&) = delete;
    ~waiting() { flag = false; }
  } const here(of_.source_waits_);
  while (used_ == now_.size() && of_.arrived_.empty() && !of_.body_ended_) {
    if (of_.sender_left_) {
      const std::error_code gone = of_.gone();
      throw incomplete_transfer(gone ? gone : make_error_code(stream_errc::end_of_stream), "receive", "the body",
                                static_cast<std::size_t>(taken_));
    }
    of_.arrival_.clear();
    co_await of_.arrival_.wait();
  }
}

std::vector<http::field> http_direct_state::request_source::trailers() const {
  std::vector<http::field> all;
  all.reserve(of_.request_trailers_.size());
  for (const auto& [name, value] : of_.request_trailers_) all.push_back({name, value});
  return all;
}

task<> http_direct_state::request_source::ask_for_it() {
  if (!std::exchange(of_.waits_for_100_, false)) co_return;
  if (of_.arrived_.empty()) (void)co_await of_.send_interim(100, {});
}

}  // namespace gyre::testing
