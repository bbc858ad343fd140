// src/http/http1_connection/connection_answer.cpp: a request whose answer takes time, and what follows.
#include <gyre/loop/deadline.hpp>

#include "connection.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <optional>
#include <utility>

namespace gyre::http {

void connection::tell_of_simple(workspace& work, int status, std::uint64_t body_bytes) noexcept {
  served_exchange told(app(), work.request, *this);
  told.start_clock(began_);
  told.note_answer(status, body_bytes, true);
  untold_ = false;
}

void connection::tell_of_unanswered(workspace& work) noexcept {
  served_exchange told(app(), work.request, *this);
  told.start_clock(began_);
  untold_ = false;
}

// The client may take the rest of earlier responses while the handler runs.
task<connection::next_step> connection::answer_while_sending(workspace& work) {
  message_output::background_sending background(co_await this_task_context{}, work.output);
  next_step step = next_step::reset;
  std::exception_ptr failure;
  try {
    step = co_await answer(work);
  } catch (...) {  // thrown again, also a cancel
    failure = std::current_exception();
  }
  if (step == next_step::reset) background.scope().cancel();
  if (background.running() > 0) co_await background.all_ended();
  background.close();
  if (failure) std::rethrow_exception(failure);
  co_return step;
}

task<connection::next_step> connection::answer(workspace& work) {
  served_exchange here(app(), work.request, *this);
  here.start_clock(began_);
  untold_ = false;
  // Responses to earlier requests do not wait for this one.
  if (!work.output.settle(upcoming::waiting_for_handler)) {
    const std::error_code sent = co_await work.output.flush();
    if (sent) {
      here.note_client_left();
      co_return next_step::reset;
    }
  }
  const served_exchange::end end = co_await here.answer(std::exchange(work.started, std::nullopt), transport_);
  exchange_ends_ = here.limit();
  if (end == served_exchange::end::cut_off) co_return next_step::reset;
  in_response_ = false;
  if (end == served_exchange::end::complete && !closes_ && !work.input.broken)
    co_return work.request.body().at_end() ? next_step::go_on : next_step::skip_body;
  co_return co_await last_step(work, end);
}

task<connection::next_step> connection::last_step(workspace& work, served_exchange::end end) {
  const bool unread = !work.request.body().at_end();
  const std::error_code flushed = co_await work.output.flush();
  if (flushed) co_return next_step::reset;
  if (end == served_exchange::end::switched) co_return next_step::linger;
  // Without an answer, the client may have finished sending, and still read the answers to its earlier requests.
  const bool lingers = end == served_exchange::end::complete && (last_ || unread || !work.input.empty());
  co_return lingers ? next_step::linger : next_step::close;
}

// Waits for the part of the body that the handler has not read, up to the next request. The client has its response
// by then, so it is not given the time of a body that is wanted.
task<connection::next_step> connection::skip_body(workspace& work) {
  constexpr std::chrono::nanoseconds in_all = std::chrono::seconds(30);
  constexpr std::chrono::nanoseconds between_looks = std::chrono::milliseconds(250);  // whether the server drains
  if (!work.output.settle(upcoming::waiting_for_client)) {
    const std::error_code sent = co_await work.output.flush();
    if (sent) co_return next_step::reset;
  }
  const event_loop& loop = event_loop::current();
  const io::monotonic_time until =
      std::min(exchange_ends_, deadline_after(std::min(in_all, app().options.timeouts.body)));
  std::uint64_t max_more = max_skipped;
  http1_body_source& body = work.body;
  while (body.skip_arrived(max_more)) {
    if (body.at_end()) co_return next_step::go_on;
    const std::chrono::nanoseconds left(until - loop.now());
    if (left <= left.zero() || app().draining) break;
    const std::error_code outcome = co_await work.input.receive_within(std::min(left, between_looks));
    if (outcome && outcome != time_limit_passed()) break;
  }
  work.input.broken = true;
  co_return next_step::linger;
}

}  // namespace gyre::http
