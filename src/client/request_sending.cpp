// src/client/request_sending.cpp: sends a body while the response may already come.
#include <gyre/http/head_writer.hpp>
#include <gyre/loop/timeout_op.hpp>
#include <gyre/tasks/as_expected.hpp>
#include <gyre/tasks/timeout.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <stdexcept>
#include <vector>

#include "client_exchange.hpp"

namespace gyre::http {
namespace {

// After an early response, the server may have stopped to read.
constexpr std::chrono::seconds patience_after_response(1);
constexpr std::size_t piece_size = std::size_t{256} << 10U;

}  // namespace

// A server that answers early and has failed does not want the rest: RFC 9112 §9.3. Another one may go on reading, for
// as long as there is progress. If the request is never completed, its connection is not used again.
task<std::error_code> client_exchange::converse_while_sending() {
  go_on_.clear();
  clock_.begin_unlimited(phase::sending, *conn_);  // ends the last phase, which may have expired
  body_begun_ = false;
  std::error_code failure;
  bool late = false;
  auto both = [&](task_group& group) -> task<> {
    auto sending = group.spawn(send_all(), {.name = "sending a request"});
    failure = co_await receive_head();
    early_ = !sending.done();
    if (early_ && (failure || input_.head().status() >= 300 || !body_begun_)) sending.cancel();
    if (!early_ || failure) co_return;
    auto finishing = finish_sending(sending);
    late = co_await std::move(finishing);
  };
  co_await task_group::scope(both);
  if (late) fail_late();
  if (!failure) co_return failure;
  if (!input_.received_any() && write_error_) co_return write_error_;
  co_return failure;
}

// After an early response. A source that delivers nothing is given up: soon when the response is complete, otherwise
// like a body that stops. Returns true when the total has passed.
task<bool> client_exchange::finish_sending(task_handle<void>& sending) {
  if (clock_.current() == phase::sending && clock_.is_limited())  // not while the source takes its time
    begin_piece();
  const bool complete = input_.begin_body(request.method) == parse_error::none && input_.has_whole_body();
  const std::chrono::nanoseconds between_bytes = state_.options().timeouts.between_bytes;
  const auto pause =
      complete ? std::min<std::chrono::nanoseconds>(between_bytes, patience_after_response) : between_bytes;
  for (;;) {
    const std::uint64_t before = pieces_;
    auto rest = gyre::timeout(clock_.clamped(pause), sending.wait());
    const auto in_time = co_await as_expected(std::move(rest));
    if (in_time) co_return false;
    const bool goes_on = pieces_ != before || (writes_bulk_ && !clock_.expired());
    if (!clock_.is_total_over() && goes_on) continue;
    sending.cancel();
    co_return clock_.is_total_over();
  }
}

task<> client_exchange::send_all() {
  const client_timeouts& limits = state_.options().timeouts;
  if (!co_await send_piece(head_, {})) co_return;
  if (expects_continue && (source || !request.body.empty())) {
    clock_.begin_unlimited(phase::sending, *conn_);
    auto limited = gyre::timeout(clock_.clamped(limits.expect), go_on_.wait());
    (void)co_await as_expected(std::move(limited));  // NOLINT(performance-move-const-arg): takes only temporaries
  }
  body_begun_ = true;
  if (source)
    co_await send_source();
  else
    co_await send_text();
  if (sent_ && !early_) clock_.begin(phase::first_byte, limits.first_byte, *conn_);
}

task<> client_exchange::send_text() {
  for (std::string_view rest = request.body; !rest.empty();) {
    const std::string_view piece = rest.substr(0, piece_size);
    if (!co_await send_piece(piece, {})) co_return;
    rest.remove_prefix(piece.size());
  }
  sent_ = true;
}

task<> client_exchange::send_source() {
  source_used_ = true;
  std::uint64_t sent = 0;
  std::string framed;
  for (;;) {
    const std::string_view piece = co_await next_piece();
    count_sent(sent, piece.size());
    if (piece.empty()) break;
    if (source_length) {
      const std::size_t size = piece.size();
      if (!co_await send_piece(piece, {})) co_return;
      body_reader* const body = bulk_body(size);
      if (body == nullptr) continue;
      if (!co_await send_bulk(*body, size, sent)) co_return;
      break;
    }
    framed.clear();
    head_writer writer(framed);
    writer.chunk_begin(piece.size());
    if (piece.size() > record) {
      if (!co_await send_piece(framed, piece)) co_return;
      framed.clear();
    } else {
      framed += piece;
    }
    writer.chunk_end();
    if (!co_await send_piece(framed, {})) co_return;
  }
  if (!source_length) {
    const std::vector<field> trailers = source->trailers();
    for (const field& each : trailers)
      if (!may_be_trailer(each.name))
        throw std::invalid_argument("trailer \"" + std::string(each.name) + "\": a server needs it before the body");
    framed.clear();
    head_writer(framed).last_chunk(trailers);
    if (!co_await send_piece(framed, {})) co_return;
  }
  sent_ = true;
}

void client_exchange::count_sent(std::uint64_t& sent, std::size_t more) const {
  sent += more;
  if (source_length && (sent > *source_length || (more == 0 && sent < *source_length)))
    fail(client_errc::wrong_body_length);
}

// Returns false when the server takes no more. The reader of the response finds out why.
task<bool> client_exchange::send_piece(std::string_view first, std::string_view second) {
  begin_piece();
  const write_outcome written = co_await conn_->write(first, second);
  co_return piece_ended(written, first.data() == head_.data());
}

void client_exchange::begin_piece() noexcept {
  const std::chrono::nanoseconds limit = state_.options().timeouts.between_bytes;
  clock_.begin(phase::sending, early_ ? std::min<std::chrono::nanoseconds>(limit, patience_after_response) : limit,
               *conn_);
  if (writes_bulk_) clock_.renew_with_progress();
}

bool client_exchange::piece_ended(const write_outcome& written, bool is_head) noexcept {
  if (!written.error) {
    ++pieces_;
    return true;
  }
  write_error_ = written.error;
  if (!clock_.expired() && !early_) {
    nothing_written_ = written.nothing_written && is_head;
    clock_.begin(phase::first_byte, state_.options().timeouts.first_byte, *conn_);
  }
  return false;
}

}  // namespace gyre::http
