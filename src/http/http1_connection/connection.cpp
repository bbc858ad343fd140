// src/http/http1_connection/connection.cpp: answers the requests that have arrived, and waits for the rest.
#include <gyre/coro/scope_exit.hpp>
#include <gyre/http/status.hpp>
#include <gyre/loop/deadline.hpp>
#include <gyre/loop/yield.hpp>

#include "connection.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace gyre::http {
namespace {

constexpr std::chrono::nanoseconds max_wait = std::chrono::hours(24);

// Skips empty lines before a request; they have no meaning: RFC 9112 §2.2.
std::string_view behind_empty_lines(std::string_view received) noexcept {
  while (received.starts_with("\r\n")) received.remove_prefix(2);
  return received;
}

// A client that pipelines must not monopolize the loop. A further request takes two or three operations of the budget
// of this resumption, which is 64, so that others run after at most 32 requests.
bool may_serve_another(int operations) noexcept {
  for (; operations > 0; --operations)
    if (!event_loop::may_continue_inline()) return false;
  return true;
}

}  // namespace

// A response that is cut off must not look complete. This matters most for one that ends with the
// connection: RFC 9112 §8. Since a cancel ends the connection too, the check is made when the workspace is
// given back, for whatever reason.
class connection::reset_on_abort {
 public:
  reset_on_abort(connection& served, workspace& work) noexcept : served_(served), work_(work) {
    served_.in_response_ = false;
  }
  reset_on_abort(const reset_on_abort&) = delete;
  reset_on_abort& operator=(const reset_on_abort&) = delete;
  ~reset_on_abort() {
    if (served_.handed_over_ != nullptr) return;
    if (served_.untold_) [[unlikely]]  // there was no memory to answer the request
      served_.tell_of_unanswered(work_);
    const message_output& output = work_.output;
    if (served_.in_response_ || output.failed() || output.has_unsent()) served_.transport_.reset_at_end();
  }

 private:
  connection& served_;
  workspace& work_;
};

connection::~connection() {
  if (handed_over_ == nullptr) return;  // there was memory for serve_with_waits
  const workspaces::lent back(shared_.work, *std::exchange(handed_over_, nullptr));
  const reset_on_abort after(*this, *back);
}

task<> connection::serve_rest(bool& goes_on) {
  const next_step step = co_await serve_with_waits();
  if (step == next_step::reset) transport_.reset_at_end();
  const bool shuts_down = step == next_step::close && transport_.has_to_shut_down();
  if (step == next_step::linger || shuts_down) co_await finish_connection();
  goes_on = step == next_step::go_on;
}

bool connection::serve_at_once(buffer_lease& received) {
  workspaces::lent work(shared_.work, app().options.limits, app().options.timeouts, transport_);
  (*work).input.append(std::move(received));
  return serve_at_once(work);
}

bool connection::serve_at_once(std::string_view received) {
  workspaces::lent work(shared_.work, app().options.limits, app().options.timeouts, transport_);
  (*work).input.append(received);
  return serve_at_once(work);
}

// serve_with_waits takes over the workspace when this returns false.
inline bool connection::serve_at_once(workspaces::lent& work) {
  const reset_on_abort after(*this, *work);
  reached_ = serve_arrived(*work);
  const bool all = reached_ == stop::at_end_of_input && (*work).input.empty();
  if (all && (*work).output.settle(upcoming::waiting_for_client)) return true;  // sends nearly all responses
  handed_over_ = &work.release();
  return false;
}

// Answers the requests that have arrived, as long as none of them takes time.
connection::stop connection::serve_arrived(workspace& work) {
  for (int operations = 3;; operations = 2) {
    const std::string_view head = work.input.head();
    const parse_state state = head.empty() ? parse_state::incomplete : work.parser.parse(head);
    if (state == parse_state::incomplete) {
      if (work.input.append_rest()) continue;
      return stop::at_end_of_input;
    }
    work.error = state == parse_state::failed ? work.parser.error() : understand_request(work.parser, work.framing);
    if (work.error != parse_error::none) return stop::at_bad_request;
    if (!answer_at_once(work)) return stop::at_slow_answer;
    if (work.input.empty()) return stop::at_end_of_input;
    work.begin_next_request();
    if (!work.output.settle(upcoming::more_output)) return stop::at_full_output;
    if (!may_serve_another(operations)) return stop::at_end_of_budget;
  }
}

task<connection::next_step> connection::serve_with_waits() {
  const workspaces::lent lent(shared_.work, *std::exchange(handed_over_, nullptr));
  const reset_on_abort after(*this, *lent);
  workspace& work = *lent;
  stop reached = reached_;
  std::uint64_t requests = requests_;
  std::optional<time_point> head_due;
  bool late = false;  // as message_input::late_
  for (;; reached = serve_arrived(work)) {
    if (std::exchange(requests, requests_) != requests_) {
      head_due.reset();
      late = false;
    }
    if (reached == stop::at_bad_request) co_return co_await refuse(work, status_for(work.error), describe(work.error));
    if (reached == stop::at_slow_answer) {
      next_step step = next_step::reset;
      std::exception_ptr failure;  // thrown again, also a cancel
      try {
        if (work.output.has_unsent())
          step = co_await answer_while_sending(work);
        else
          step = co_await answer(work);
      } catch (...) {
        failure = std::current_exception();
      }
      while (work.request.has_adopted()) {
        co_await work.request.end_adopted();
        work.request.give_up_adopted();
      }
      if (failure) std::rethrow_exception(failure);
      if (step == next_step::skip_body) step = co_await skip_body(work);
      if (step != next_step::go_on) co_return step;
      work.begin_next_request();
      if (work.input.empty() || may_serve_another(3)) continue;
      reached = stop::at_end_of_budget;
    }
    const upcoming what = reached == stop::at_full_output ? upcoming::more_output : upcoming::waiting_for_client;
    if (!work.output.settle(what)) {
      const std::error_code sent = co_await work.output.flush();
      if (sent) co_return next_step::reset;
    } else if (reached == stop::at_end_of_budget) {  // otherwise flush() has let others run
      co_await yield_turn();
    }
    if (reached == stop::at_full_output || reached == stop::at_end_of_budget) continue;
    const std::string_view head = work.input.head();
    if (behind_empty_lines(head).empty()) work.input.consume(head.size());
    if (work.input.empty()) co_return next_step::go_on;
    if (!head_due) head_due = now() + std::min(app().options.timeouts.head, max_wait);
    if (now() >= *head_due && std::exchange(late, true)) co_return co_await refuse(work, 408);
    buffer_lease received;
    const std::error_code outcome =
        co_await transport_.receive(received, std::max<std::chrono::nanoseconds>(*head_due - now(), {}));
    if (outcome == time_limit_passed()) co_return co_await refuse(work, 408);
    if (outcome) co_return next_step::close;
    work.input.append(received.text());
  }
}

[[gnu::always_inline]] inline void connection::begin_request(workspace& work) {
  work.input.consume(work.parser.size());
  work.input.before_response = this;
  work.body.begin(work.framing);
  work.request.begin(app(), {.method = work.parser.method(),
                             .target = work.parser.target(),
                             .host = work.framing.host,
                             .upgrade = work.framing.upgrade,
                             .several_upgrades = work.framing.several_upgrades,
                             .fields = work.parser.fields(),
                             .version = work.parser.minor_version() == 0 ? version::http_1_0 : version::http_1_1,
                             .peer = peer_,
                             .body = work.body,
                             .link = *this});
}

sending connection::how_to_send(const workspace& work, bool close) {
  return {.lines = shared_.lines(), .close = close, .http_1_0 = work.parser.minor_version() == 0};
}

// True for a response that is sent with its head, and after which the connection goes on.
[[gnu::always_inline]] inline bool connection::is_simple(const workspace& work,
                                                         const response_state& r) const noexcept {
  constexpr std::size_t max_other_lines = 1024;
  const bool is_file = r.source == body_origin::file;
  if (!is_file && !r.is_in_memory() && r.source != body_origin::none) return false;
  std::uint64_t size = is_file ? r.length.value_or(0) : r.is_in_memory() ? r.bytes().size() : 0;
  if (app().options.observer != nullptr) {  // it learns whether the response was sent
    if (work.output.failed()) return false;
    size += work.output.waiting() + r.fields.size() + max_other_lines;  // one that fills the buffer may have to wait
  }
  return size <= message_output::max_gathered && work.framing.body == body_kind::none && work.framing.keep_alive &&
         work.parser.minor_version() > 0 && !r.close_connection && !last_request() &&
         work.parser.method() != "CONNECT" && !work.request.has_adopted();
}

// Appends the response with its body. Returns false, and appends nothing, if a file has to be waited for.
[[gnu::always_inline]] inline bool connection::append_simple(workspace& work, response_state& r) {
  const response_plan plan(r, work.parser.method() == "HEAD", false);
  const std::size_t before = work.output.buffer().size();
  if (!append_usual_head(work.output.buffer(), r, plan, shared_.lines())) [[unlikely]]
    (void)response_sender(work.output, r, plan, how_to_send(work, false)).begin();
  const bool sends_file = r.source == body_origin::file && plan.has_body;
  if (sends_file && !work.output.append_file(r.file_descriptor(), r.file_offset, plan.length.value_or(0))) {
    work.output.buffer().resize(before);
    return false;
  }
  if (app().options.observer != nullptr) tell_of_simple(work, r.status, plan.has_body ? plan.length.value_or(0) : 0);
  return true;
}

// Starts the handler. Most responses are small and there at once: they need no coroutine and cannot be ended early.
// Returns false when `answer` has to continue.
bool connection::answer_at_once(workspace& work) {
  ++requests_;
  work_ = &work;
  if (app().options.observer != nullptr) {
    began_ = now();
    untold_ = true;
  }
  try {
    begin_request(work);
    work.started.emplace(app().options.routes.start(work.request));
  } catch (...) {  // nothing was awaited, so this is not a cancel
    if (auto failure = served_exchange::response_for_failure(work.request)) work.started.emplace(*std::move(failure));
  }
  response* const made = work.started ? work.started->now() : nullptr;
  if (made == nullptr || made->was_moved_from() || !is_simple(work, made->state())) return false;
  if (!append_simple(work, made->state())) return false;
  work.started.reset();
  return true;
}

task<connection::next_step> connection::refuse(workspace& work, int status, std::string_view reason) {
  ++requests_;
  response answer = response::error(status, reason);
  // Parsing may have failed before the method was known.
  const bool head_only = behind_empty_lines(work.input.head()).starts_with("HEAD ");
  work.framing = {};
  begin_request(work);
  const response_plan plan(answer.state(), head_only, false);
  (void)response_sender(work.output, answer.state(), plan, {.lines = shared_.lines(), .close = true}).begin();
  served_exchange told(app(), work.request, *this);
  const std::uint64_t size = plan.has_body ? answer.state().bytes().size() : 0;
  told.note_answer(status, size, false);
  const std::error_code flushed = co_await work.output.flush();
  told.note_answer(status, size, !flushed);
  co_return !flushed ? next_step::linger : next_step::reset;
}

task<> connection::refuse_service() {
  constexpr std::size_t max_refused = 128;  // connections answered at a time; others are closed without an answer
  if (shared_.refused >= max_refused) co_return;
  const scope_count here(shared_.refused);
  const workspaces::lent work(shared_.work, app().options.limits, app().options.timeouts, transport_);
  next_step step = next_step::close;
  {
    const reset_on_abort after(*this, *work);
    step = co_await refuse(*work, 503);
  }
  if (step == next_step::linger) co_await finish_connection();
}

// Closing with unread input would reset the connection, and the client might never see the response: RFC 9112 §9.6.
task<> connection::finish_connection() {
  constexpr std::chrono::nanoseconds for_each_piece = std::chrono::seconds(2);
  constexpr std::chrono::nanoseconds in_all = std::chrono::seconds(30);
  co_await transport_.shutdown_write();
  const time_point began = now();
  buffer_lease ignored;
  for (;;) {
    const time_point until = began + (app().draining ? for_each_piece : in_all);
    const auto patience = std::min<std::chrono::nanoseconds>(until - now(), for_each_piece);
    if (patience <= patience.zero()) co_return;
    const std::error_code outcome = co_await transport_.receive(ignored, patience);
    if (outcome) co_return;
    ignored.release();
  }
}

}  // namespace gyre::http
