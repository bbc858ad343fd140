// src/http/server/connection_answer.cpp: a request whose answer takes time: its handler, the response, the unread body.
#include <gyre/coro/cancelled.hpp>
#include <gyre/http/field.hpp>
#include <gyre/http/field_line.hpp>
#include <gyre/http/head_writer.hpp>
#include <gyre/http/status_error.hpp>
#include <gyre/loop/deadline.hpp>

#include "connection.hpp"
#include "connection_progress.hpp"
#include "handler_failure.hpp"
#include "protocol_switch.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <optional>
#include <string_view>
#include <utility>

namespace gyre::http {
namespace {

constexpr std::uint64_t max_skipped = std::uint64_t{64} << 10U;  // of a body that the handler did not read
constexpr int client_has_left = 499;
constexpr std::string_view too_late = "the server took too long to respond";

bool takes_time(const response_state& answer) noexcept {
  return answer.source == body_origin::producer || answer.source == body_origin::file;
}

bool describes_content(std::string_view name) noexcept {
  if (equal_ignoring_case(name.substr(0, 8), "Content-")) return true;
  for (const std::string_view each :
       {"Age", "ETag", "Last-Modified", "Cache-Control", "Expires", "Accept-Ranges", "Location", "Trailer"})
    if (equal_ignoring_case(name, each)) return true;
  return false;
}

// The answer to a body that has failed keeps the fields that are not about that body, such as those of CORS and the
// request ID, which middleware has added.
void keep_fields(response_state& answer, const response_state& failed) {
  for (const field& each : failed.all_fields())
    if (!describes_content(each.name)) append_field_line(answer.fields, each.name, each.value);
}

}  // namespace

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
  progress p{.clock = stopwatch(server_.options.observer != nullptr)};
  const observer_guard observer(*this, work, p);
  // Responses to earlier requests do not wait for this one.
  if (!work.output.settle(upcoming::waiting_for_handler)) {
    const std::error_code sent = co_await work.output.flush();
    if (sent) {
      p.status = client_has_left;
      co_return next_step::reset;
    }
  }
  std::optional<started_response> started = std::exchange(work.started, std::nullopt);
  std::optional<task<response>> handler;  // its frame lives until the response has been sent
  exchange_scope scope(co_await this_task_context{}, transport_, server_.options.timeouts);
  p.scope = &scope;
  std::optional<response> made;
  try {
    if (response* const now = started ? started->now() : nullptr) {
      made = std::move(*now);
    } else if (started) {
      handler.emplace((*std::move(started)).wait());
      made = co_await *std::move(handler);
    }
    if (made) check_answer(*made);
  } catch (const cancelled&) {
    if (!scope.absorbs_cancel()) throw;
    made = response::error(503, too_late);
  } catch (...) {  // cancels were caught above
    made = response_for_failure(work);
  }
  if (scope.cancelled()) {  // further awaits would fail, so only a response that is ready at once is sent
    if (scope.client_left())
      made.reset();
    else if (made && takes_time(made->state()))
      made = response::error(503, too_late);
    scope.close();
  }
  if (made) co_return co_await send(work, *made, p);
  p.status = client_has_left;
  scope.close();
  // It may have finished sending, and still read the answers to its earlier requests.
  const std::error_code flushed = co_await work.output.flush();
  co_return !flushed ? next_step::close : next_step::reset;
}

// Called while the exception is being handled. Returns nothing when the client has left, or when there is no memory for
// an answer; the connection then closes.
std::optional<response> connection::response_for_failure(workspace& work) noexcept {
  try {
    return response_to_current_exception(work);
  } catch (...) {  // no memory
    return std::nullopt;
  }
}

std::optional<response> connection::response_to_current_exception(workspace& work) {
  try {
    throw;
  } catch (const status_error& error) {
    return response::error(error);
  } catch (...) {  // not a cancel
    // The client left in the middle of the request body.
    if (work.input.broken) return std::nullopt;
    report_failure(work.request);
    return response::error(500);
  }
}

bool connection::needs_skip(workspace& work) noexcept { return !work.request.body().at_end() && !work.input.broken; }

// For responses that read the body or need its end. Called before their head is sent:
// after that it is too late for 100.
task<> connection::ask_for_body(workspace& work, progress& p) {
  try {
    co_await work.request.body().ask_for_it();
  } catch (const cancelled&) {
    if (!p.scope->absorbs_cancel()) throw;
  }
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
      std::min(exchange_ends_, deadline_after(std::min(in_all, server_.options.timeouts.body)));
  std::uint64_t most = max_skipped;
  http1_body_source& body = work.body;
  while (body.skip_arrived(most)) {
    if (body.at_end()) co_return next_step::go_on;
    const std::chrono::nanoseconds left(until - loop.now());
    if (left <= left.zero() || server_.draining) break;
    const std::error_code outcome = co_await work.input.receive_within(std::min(left, between_looks));
    if (outcome && outcome != time_limit_passed()) break;
  }
  work.input.broken = true;
  co_return next_step::linger;
}

task<connection::next_step> connection::send(workspace& work, response& r, progress& p) {
  bool takes_over = begins_protocol(r, work.request);
  response_state& state = r.state();
  // A response body that is made piece by piece may still read the request's body.
  const bool skips_later = state.source == body_origin::producer;
  if (!skips_later && work.request.has_adopted()) co_await work.request.end_adopted();
  const bool wants_body = takes_over || (skips_later && state.status < 400);
  if (wants_body && needs_skip(work)) co_await ask_for_body(work, p);
  exchange_ends_ = p.scope->limit();
  if (takes_over && needs_skip(work)) {
    p.scope->close();
    const next_step step = co_await skip_body(work);
    if (step == next_step::reset) co_return step;
  }
  if (takes_over && work.input.broken) {  // the start of the other protocol cannot be found
    takes_over = false;
    state.drop_body();
    state.status = 400;
  }
  work.input.before_response = nullptr;  // it is too late for 100, and for hints
  if (work.interim.is_locked()) co_await interim_sent(work);
  const bool ends = last_request() || state.close_connection;
  // The client gets its answer before it has sent the rest of the body, and is told if the server will not wait for it.
  if (!ends && !skips_later && needs_skip(work)) {
    std::uint64_t most = max_skipped;
    work.input.broken = p.scope->expired() || !work.body.skip_arrived(most);
  }
  const bool last = ends || work.input.broken;
  response_sender sender(work.output, state, how_to_send(work, last || !work.framing.keep_alive));
  const bool whole = sender.begin();
  if (!sender.holds_head()) p.status = state.status;
  in_response_ = takes_over || !whole;
  if (takes_over) {
    p.scope->close();
    p.complete = true;
    co_return co_await switch_protocols(work, *state.protocol);
  }
  if (whole)
    p.scope->close();
  else if (state.source != body_origin::producer || state.ends_by_itself)
    p.scope->ignore_client();
  p.body_bytes = sender.body_bytes();
  p.complete = whole && !sender.closes();
  std::optional<response> instead;
  if (!p.complete) p.complete = co_await send_body(work, sender, p, instead);
  if (instead) {
    keep_fields(instead->state(), state);
    co_return co_await send(work, *instead, p);
  }
  if (!p.complete && sender.holds_head()) {
    in_response_ = false;
    p.status = client_has_left;
    co_return next_step::close;
  }
  if (!p.complete) co_return next_step::reset;
  in_response_ = false;
  const bool unread = !work.request.body().at_end();
  if (!sender.closes() && !work.input.broken) co_return unread ? next_step::skip_body : next_step::go_on;
  const std::error_code flushed = co_await work.output.flush();
  if (flushed) co_return next_step::reset;
  co_return last || unread || !work.input.empty() ? next_step::linger : next_step::close;
}

// Sends a body that takes time, or whose source must be gone before the connection closes.
// Returns false if it was cut off. Sets `instead` when it failed before anything was sent.
task<bool> connection::send_body(workspace& work, response_sender& sender, progress& p,
                                 std::optional<response>& instead) {
  struct counted {
    progress& of;
    response_sender& from;
    ~counted() {
      of.body_bytes = from.body_bytes();
      if (!from.holds_head()) of.status = from.status();
    }
  } const count{p, sender};
  bool sent = false;
  try {
    sent = co_await sender.send();
  } catch (const cancelled&) {
    if (!p.scope->absorbs_cancel()) throw;
    if (sender.holds_head() && p.scope->expired()) instead = response::error(503, too_late);
  } catch (...) {  // cancels were caught above
    const bool client_is_gone = work.output.failed() && !work.output.file_failed();
    if (!client_is_gone && sender.holds_head())
      instead = response_for_failure(work);
    else if (!client_is_gone && !work.input.broken)
      report_failure(work.request);
  }
  p.scope->close();
  co_return sent;
}

task<connection::next_step> connection::switch_protocols(workspace& work, protocol_handler& protocol) {
  const std::error_code sent = co_await work.output.flush();
  if (sent) co_return next_step::reset;
  const bool ended_well = co_await run_protocol(protocol, work.input, work.request);
  in_response_ = !ended_well;
  co_return ended_well ? next_step::linger : next_step::reset;
}

// A task of a handler may read the body and ask for it with 100, while another sends a hint.
task<bool> connection::send_interim(int status, std::span<const field> fields) {
  workspace& work = *work_;
  std::string head;
  head_writer writer(head);
  writer.status_line(status);
  writer.fields(fields);
  writer.end();
  const auto turn = co_await work.interim.scoped_lock();
  if (work.input.before_response == nullptr) co_return false;  // the response has begun
  if (work.request.version() == version::http_1_0 || work.output.failed()) co_return false;
  work.output.buffer().append(head);
  const std::error_code sent = co_await work.output.flush();
  co_return !sent;
}

task<> connection::interim_sent(workspace& work) { const auto turn = co_await work.interim.scoped_lock(); }

void connection::tell_observer(const workspace& work, const progress& p) const noexcept {
  server_.options.observer->answered({work.request, p.status, p.body_bytes, p.clock.passed(), p.complete});
}

}  // namespace gyre::http
