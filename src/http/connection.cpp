// src/http/connection.cpp: the life of a connection: wait, parse, answer, again.
#include <gyre/coro/cancelled.hpp>
#include <gyre/http/status.hpp>
#include <gyre/http/status_error.hpp>
#include <gyre/loop/deadline.hpp>

#include "connection.hpp"
#include "protocol_switch.hpp"
#include "request_name.hpp"
#include "response_sender.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace gyre::http {
namespace {

constexpr std::uint64_t skipped_at_most = std::uint64_t{64} << 10U;  // of a body that the handler did not want
constexpr std::chrono::nanoseconds longest_wait = std::chrono::hours(24);
constexpr int client_has_left = 499;
constexpr std::string_view too_late = "this took too long";

bool takes_time(const response_state& answer) noexcept {
  return answer.source == body_source::producer || answer.source == body_source::file;
}

// What stands before a request and means nothing: RFC 9112 §2.2.
std::string_view behind_empty_lines(std::string_view received) noexcept {
  while (received.starts_with("\r\n")) received.remove_prefix(2);
  return received;
}

// From when to when, without a look at the clock when nobody wants to know.
class stopwatch {
 public:
  explicit stopwatch(bool wanted) noexcept : began_(wanted ? now() : time_point()), wanted_(wanted) {}
  [[nodiscard]] std::chrono::nanoseconds passed() const noexcept {
    return wanted_ ? now() - began_ : std::chrono::nanoseconds();
  }

 private:
  time_point began_;
  bool wanted_;
};

}  // namespace

// Of one request, on its way through.
struct connection::progress {
  stopwatch clock;
  bool keep_alive = false;  // the client wants to send more
  bool http_1_0 = false;
  int status = 503;  // of a request that was ended before there was an answer
  std::uint64_t body_bytes = 0;
  bool complete = false;
  exchange_scope* scope = nullptr;
};

// Tells the observer of a request when it is over, however that comes: who cancels the connection ends it too.
class connection::told_at_end {
 public:
  told_at_end(const connection& c, const workspace& work, const progress& p) noexcept
      : connection_(c), work_(work), progress_(p) {}
  told_at_end(const told_at_end&) = delete;
  told_at_end& operator=(const told_at_end&) = delete;
  ~told_at_end() {
    if (connection_.server_.options.observer != nullptr) connection_.tell_observer(work_, progress_);
  }

 private:
  const connection& connection_;
  const workspace& work_;
  const progress& progress_;
};

connection::connection(server_state& server, transport& carrier, const address& peer) noexcept
    : next(server.connections), server_(server), transport_(carrier), peer_(peer) {
  if (next != nullptr) next->link = &next;
  link = &server.connections;
  server.connections = this;
  ++server.open;
}

connection::~connection() {
  *link = next;
  if (next != nullptr) next->link = link;
  --server_.open;
}

task<> connection::run() {
  next_step step = next_step::go_on;
  const server_timeouts& limits = server_.options.timeouts;
  std::optional<time_point> idle_until;  // once something has come that is no request
  while (step == next_step::go_on) {
    buffer_lease received;
    std::chrono::nanoseconds patience = server_.draining ? limits.last_request
                                        : requests_ == 0 ? limits.head
                                                         : limits.idle;
    if (idle_until) {
      patience = std::min<std::chrono::nanoseconds>(patience, *idle_until - now());
      if (patience <= patience.zero()) co_return;
    }
    idle_ = true;
    const transfer outcome = co_await transport_.receive(received, patience);
    idle_ = false;
    if (outcome != transfer::done) co_return;
    const std::uint64_t before = requests_;
    const workspaces::lent work(server_.work, server_.options.limits, limits, transport_);
    (*work).input.append(received.text());
    received.release();
    step = co_await serve_available(*work);
    if (requests_ != before)
      idle_until.reset();
    else if (server_.draining)
      co_return;
    else if (!idle_until)
      idle_until = now() + std::min(patience, longest_wait);
  }
  if (step == next_step::reset) transport_.reset_at_end();
  if (step == next_step::linger) co_await finish();
}

// Until nothing is left of what has been received.
task<connection::next_step> connection::serve_available(workspace& work) {
  std::optional<time_point> head_due;
  for (;;) {
    const std::string_view head = work.input.head();
    const parse_state state = head.empty() ? parse_state::incomplete : work.parser.parse(head);
    if (state == parse_state::failed) co_return co_await refuse(work, status_for(work.parser.error()));
    if (state == parse_state::incomplete) {
      if (!event_loop::current().prefers_submission()) work.output.send_now(false);
      if (!work.output.buffer().empty() && !work.output.failed())
        work.output.end_flush(co_await transport_.write(work.output.begin_flush(), {}, work.output.limit()));
      if (work.output.failed()) co_return next_step::reset;
      if (behind_empty_lines(head).empty()) work.input.consume(head.size());
      if (work.input.empty()) co_return next_step::go_on;
      if (!head_due) head_due = now() + std::min(server_.options.timeouts.head, longest_wait);
      buffer_lease received;
      const transfer outcome =
          co_await transport_.receive(received, std::max<std::chrono::nanoseconds>(*head_due - now(), {}));
      if (outcome == transfer::timed_out) co_return co_await refuse(work, 408);
      if (outcome != transfer::done) co_return next_step::close;
      work.input.append(received.text());
      continue;
    }
    head_due.reset();
    framing body;
    if (const parse_error error = understand_request(work.parser, body); error != parse_error::none)
      co_return co_await refuse(work, status_for(error));
    started_response started;
    if (!answer_at_once(work, body, started)) {
      const next_step step = co_await answer(work, body, std::move(started));
      if (step != next_step::go_on) co_return step;
    } else if (work.output.wants_flush()) {
      const transfer sent = co_await work.output.flush();
      if (sent != transfer::done) co_return next_step::reset;
    }
    work.parser.reset();
    work.input.begin_next_message();
  }
}

void connection::start_request(workspace& work, const framing& body) {
  const head_parser& head = work.parser;
  request& r = work.request;
  r.method_ = head.method();
  r.target_ = head.target();
  r.parts_ = split_target(head.target());
  r.host_ = r.parts_.authority.empty() ? body.host : r.parts_.authority;
  r.rest_ = {};
  r.upgrade_ = body.upgrade;
  r.fields_ = head.fields();
  r.minor_version_ = head.minor_version();
  r.query_parsed_ = false;
  r.path_values_.clear();
  r.decoded_.clear();
  r.attributes_.clear();
  r.query_fields_.clear();
  r.peer_ = peer_;
  r.files_ = &server_.files;
  work.input.consume(head.size());
  work.input.on_continue = this;
  r.body_.start(work.input, body, server_.options.limits.body);
}

bool connection::is_simple(const workspace& work, const framing& body, const response_state& r) const noexcept {
  const bool in_memory = r.source == body_source::value || r.source == body_source::borrowed;
  return (r.source == body_source::none || (in_memory && r.bytes().size() <= message_output::gathered_at_most)) &&
         body.body == body_kind::none && body.keep_alive && work.parser.minor_version() > 0 && !r.close_connection &&
         !last_request() && server_.options.observer == nullptr && work.parser.method() != "CONNECT";
}

// Most responses are small and there as soon as they are asked for: no coroutine is needed for them, and nothing that could
// end them early. False: it is for `answer`, with what was started.
bool connection::answer_at_once(workspace& work, const framing& body, started_response& started) {
  start_request(work, body);
  ++requests_;
  work_ = &work;
  try {
    started = server_.options.routes.start(work.request);
  } catch (...) {  // nothing was awaited: it is no cancel
    started.now = response_for_failure(work);
  }
  if (!started.now || !is_simple(work, body, started.now->state())) return false;
  response_sender sender(work.output, started.now->state(),
                         {.common_fields = server_.common_fields(), .head_only = work.request.method() == "HEAD"});
  (void)sender.begin();
  return true;
}

task<connection::next_step> connection::answer(workspace& work, const framing& body, started_response started) {
  progress p{.clock = stopwatch(server_.options.observer != nullptr),
             .keep_alive = body.keep_alive,
             .http_1_0 = work.request.minor_version() == 0};
  const told_at_end observer(*this, work, p);
  // Responses to requests before this one do not wait for it.
  if (!work.output.buffer().empty()) {
    work.output.flush_when_waiting();
    if (!work.output.flushes_when_waiting()) {
      const transfer sent = co_await work.output.flush();
      if (sent != transfer::done) {
        p.status = client_has_left;
        co_return next_step::reset;
      }
    }
  }
  exchange_scope scope(co_await this_task_context{}, transport_, server_.options.timeouts);
  p.scope = &scope;
  std::optional<response> made;
  try {
    if (started.later)
      made = co_await *std::move(started.later);
    else
      made = std::move(started.now);
  } catch (const cancelled&) {
    if (!scope.absorbs_cancel()) throw;
    made = response::error(503, too_late);
  } catch (...) {  // what is left is no cancel
    made = response_for_failure(work);
  }
  if (scope.cancelled()) {  // awaits would fail; what there is to be said at once is said
    if (scope.client_left())
      made.reset();
    else if (made && takes_time(made->state()))
      made = response::error(503, too_late);
    scope.close();
  }
  if (made) co_return co_await send(work, *made, p);
  p.status = client_has_left;
  co_return next_step::close;
}

// Called while the exception is handled. Nothing: there is nobody to be answered.
std::optional<response> connection::response_for_failure(workspace& work) noexcept {
  try {
    throw;
  } catch (const status_error& error) {
    return response::error(error);
  } catch (...) {
    if (work.input.broken) return std::nullopt;  // the client left in the middle of its body
    const std::string name = name_of(work.request);
    event_loop::report({std::current_exception(), name, std::source_location::current()});
    return response::error(500);
  }
}

bool connection::needs_skip(workspace& work) noexcept { return !work.request.body().at_end() && !work.input.broken; }

// For those that read the body, or need its end, when the head of the response has been sent: then it is too late to say 100.
task<> connection::ask_for_body(workspace& work, progress& p) {
  try {
    co_await work.request.body().ask_for_it();
  } catch (const cancelled&) {
    if (!p.scope->absorbs_cancel()) throw;
  }
}

// What the handler has left of the body; behind it is the next request.
task<> connection::skip_body(workspace& work, progress& p) {
  bool skipped = false;
  try {
    skipped = co_await work.request.body().skip(skipped_at_most);
  } catch (const cancelled&) {
    if (!p.scope->absorbs_cancel()) throw;
  }
  if (!skipped) work.input.broken = true;
}

task<connection::next_step> connection::send(workspace& work, response& r, progress& p) {
  bool takes_over = begins_protocol(r, work.request);
  response_state& state = r.state();
  // A body made piece by piece may read the request's meanwhile.
  const bool skips_later = state.source == body_source::producer;
  const bool wants_body = takes_over || (skips_later && state.status < 400);
  if (wants_body && needs_skip(work)) co_await ask_for_body(work, p);
  if (!skips_later && needs_skip(work)) co_await skip_body(work, p);
  if (takes_over && work.input.broken) {  // where the other protocol would begin is not known
    takes_over = false;
    state.drop_body();
    state.status = 400;
  }
  work.input.on_continue = nullptr;  // nothing may come in between any more
  const bool last = work.input.broken || last_request() || state.close_connection;
  const sending how{.common_fields = server_.common_fields(),
                    .head_only = work.request.method() == "HEAD",
                    .close = last || !p.keep_alive,
                    .http_1_0 = p.http_1_0,
                    .connect = work.request.method() == "CONNECT"};
  response_sender sender(work.output, state, how);
  const bool whole = sender.begin();
  p.status = state.status;
  if (takes_over) {
    p.scope->close();
    p.complete = true;
    co_return co_await switch_protocols(work, *state.protocol);
  }
  if (whole)
    p.scope->close();
  else if (state.source != body_source::producer || state.ends_by_itself)
    p.scope->ignore_client();
  p.body_bytes = sender.body_bytes();
  p.complete = whole && !sender.closes();
  if (!p.complete) p.complete = co_await send_body(work, sender, p);
  if (!p.complete) co_return next_step::reset;
  if (skips_later && needs_skip(work)) co_await skip_body(work, p);
  if (!sender.closes() && !work.input.broken) co_return next_step::go_on;
  const transfer flushed = co_await work.output.flush();
  if (flushed != transfer::done) co_return next_step::reset;
  co_return last || work.input.broken || !work.input.empty() ? next_step::linger : next_step::close;
}

// What takes time, or has to be gone before the connection closes. False: it was cut off.
task<bool> connection::send_body(workspace& work, response_sender& sender, progress& p) {
  struct counted {
    progress& of;
    response_sender& from;
    ~counted() { of.body_bytes = from.body_bytes(); }
  } const count{p, sender};
  bool sent = false;
  try {
    sent = co_await sender.send();
  } catch (const cancelled&) {
    if (!p.scope->absorbs_cancel()) throw;
  } catch (...) {
    const bool client_is_gone = work.output.failed() && !work.output.file_failed();
    if (!client_is_gone && !work.input.broken)
      event_loop::report({std::current_exception(), name_of(work.request), std::source_location::current()});
  }
  p.scope->close();
  co_return sent;
}

task<connection::next_step> connection::refuse(workspace& work, int status) {
  ++requests_;
  response answer = response::error(status);
  // The parser may not have come so far as to know the method.
  const bool head_only = behind_empty_lines(work.input.head()).starts_with("HEAD ");
  start_request(work, {});
  response_sender sender(work.output, answer.state(),
                         {.common_fields = server_.common_fields(), .head_only = head_only, .close = true});
  (void)sender.begin();
  progress p{.clock = stopwatch(false), .status = status, .body_bytes = sender.body_bytes()};
  const told_at_end observer(*this, work, p);
  const transfer flushed = co_await work.output.flush();
  p.complete = flushed == transfer::done;
  co_return p.complete ? next_step::linger : next_step::reset;
}

task<> connection::refuse_service() {
  const workspaces::lent work(server_.work, server_.options.limits, server_.options.timeouts, transport_);
  const next_step step = co_await refuse(*work, 503);
  if (step == next_step::linger) co_await finish();
}

task<connection::next_step> connection::switch_protocols(workspace& work, protocol_handler& protocol) {
  const transfer sent = co_await work.output.flush();
  if (sent != transfer::done) co_return next_step::reset;
  const bool ended_well = co_await speak(protocol, work.input);
  co_return ended_well ? next_step::linger : next_step::reset;
}

task<transfer> connection::send_continue() {
  work_->output.buffer().append("HTTP/1.1 100 Continue\r\n\r\n");
  co_return co_await work_->output.flush();
}

// Closing with input unread would reset the connection, and the client might never see our last words: RFC 9112 §9.6.
task<> connection::finish() {
  constexpr std::chrono::nanoseconds for_each_piece = std::chrono::seconds(2);
  constexpr std::chrono::nanoseconds in_all = std::chrono::seconds(30);
  co_await transport_.shutdown_write();
  const time_point began = now();
  buffer_lease ignored;
  for (;;) {
    const time_point until = began + (server_.draining ? for_each_piece : in_all);
    const auto patience = std::min<std::chrono::nanoseconds>(until - now(), for_each_piece);
    if (patience <= patience.zero()) co_return;
    const transfer outcome = co_await transport_.receive(ignored, patience);
    if (outcome != transfer::done) co_return;
    ignored.release();
  }
}

void connection::tell_observer(const workspace& work, const progress& p) const noexcept {
  server_.options.observer->answered({work.request, p.status, p.body_bytes, p.clock.passed(), p.complete});
}

}  // namespace gyre::http
