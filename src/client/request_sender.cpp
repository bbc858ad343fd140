// src/client/request_sender.cpp: sends a body piece by piece, and gives up one that stops after an early response.
#include "request_sender.hpp"

#include <gyre/client/client_error.hpp>
#include <gyre/http/body_reader.hpp>
#include <gyre/loop/timeout_op.hpp>
#include <gyre/tasks/as_expected.hpp>
#include <gyre/tasks/timeout.hpp>

#include "copy_body.hpp"

#include <algorithm>
#include <chrono>
#include <vector>

namespace gyre::http {
namespace {

// After an early response, the server may have stopped to read.
constexpr std::chrono::seconds patience_after_response(1);
constexpr std::size_t piece_of_text = std::size_t{256} << 10U;

}  // namespace

void request_sender::begin(bool expects_continue) noexcept {
  go_on_.clear();
  error_ = {};
  sent_ = 0;
  expects_continue_ = expects_continue;
  complete_ = nothing_written_ = early_ = body_begun_ = writes_bulk_ = false;
  has_clock_ = true;
}

task<> request_sender::send() {
  begin_piece();
  const write_outcome head = co_await channel_.send_head();
  piece_ended(head, true);
  if (error_) co_return;
  if (waits_for_permission()) {
    auto limited = gyre::timeout(clock_.clamped(limits_.expect), go_on_.wait());
    (void)co_await as_expected(std::move(limited));  // NOLINT(performance-move-const-arg): takes only temporaries
  }
  body_begun_ = true;
  if (body_.source)
    co_await send_source();
  else
    co_await send_text();
  complete_ = !error_;
  if (complete_ && !early_) clock_.begin(phase::first_byte, limits_.first_byte);
}

task<> request_sender::send_text() {
  for (std::string_view rest = request_.body; !rest.empty() && !error_;) {
    const std::string_view piece = rest.substr(0, piece_of_text);
    co_await write(piece);
    rest.remove_prefix(piece.size());
  }
}

task<> request_sender::send_source() {
  body_.used = true;
  if (body_reader* const from = body_.source->passes_on()) {
    (void)co_await copy_body(*from, *this);
  } else {
    while (!error_) {
      const std::string_view piece = co_await body_.source->next();
      if (piece.empty()) break;
      co_await write(piece);
    }
  }
  if (error_) co_return;
  if (body_.length) {
    count(0);
    co_return;
  }
  const std::vector<field> trailers = body_.source->trailers();
  begin_piece();
  const write_outcome written = co_await channel_.send_end(trailers);
  piece_ended(written);
}

// No bytes means the end of the body.
void request_sender::count(std::size_t more) {
  sent_ += more;
  if (body_.length && (sent_ > *body_.length || (more == 0 && sent_ < *body_.length)))
    throw client_error(client_errc::wrong_body_length, request_.method, request_.whole_url());
}

task<> request_sender::write(std::string_view piece) {
  count(piece.size());
  begin_piece();
  const write_outcome written = co_await channel_.send_piece(piece);
  piece_ended(written);
}

task<> request_sender::write_bulk(socket_bulk& bulk) {
  count(bulk.size());
  writes_bulk_ = true;
  begin_piece();
  const write_outcome written = co_await channel_.send_bulk(bulk);
  writes_bulk_ = false;
  piece_ended(written);
}

void request_sender::begin_piece() noexcept {
  if (!has_clock_) return;
  const std::chrono::nanoseconds limit = limits_.between_bytes;
  clock_.begin(phase::sending, early_ ? std::min<std::chrono::nanoseconds>(limit, patience_after_response) : limit);
  if (writes_bulk_) clock_.renew_with_progress();
}

void request_sender::piece_ended(const write_outcome& written, bool is_head) noexcept {
  if (!written.error) {
    ++pieces_;
    if (has_clock_) clock_.begin_unlimited(phase::sending);  // the source takes its time
    return;
  }
  error_ = written.error;
  if (!clock_.expired() && !early_) {
    nothing_written_ = written.nothing_written && is_head;
    clock_.begin(phase::first_byte, limits_.first_byte);
  }
}

bool request_sender::response_came(int status) noexcept {
  early_ = true;
  return status < 300 && body_begun_;
}

task<bool> request_sender::finish(task_handle<void>& sending, bool response_complete) {
  if (has_clock_ && clock_.current() == phase::sending && clock_.is_limited())  // not while the source takes its time
    begin_piece();
  const auto pause = response_complete
                         ? std::min<std::chrono::nanoseconds>(limits_.between_bytes, patience_after_response)
                         : limits_.between_bytes;
  for (;;) {
    const std::uint64_t before = progress();
    auto rest = gyre::timeout(clock_.clamped(pause), sending.wait());
    const auto in_time = co_await as_expected(std::move(rest));
    if (in_time) co_return false;
    const bool goes_on = progress() != before || (has_clock_ && writes_bulk_ && !clock_.expired());
    if (!clock_.is_total_over() && goes_on) continue;
    sending.cancel();
    co_return clock_.is_total_over();
  }
}

}  // namespace gyre::http
