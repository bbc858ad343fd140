// src/http/exchange/served_exchange.cpp: from the handler to the end of its response.
#include <gyre/coro/cancelled.hpp>
#include <gyre/http/field.hpp>
#include <gyre/http/field_line.hpp>
#include <gyre/http/status_error.hpp>

#include "handler_failure.hpp"
#include "protocol_switch.hpp"
#include "served_exchange.hpp"

#include <algorithm>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace gyre::http {
namespace {

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

// Called while the exception is being handled.
std::optional<response> response_to_current_exception(served_request& asked) {
  try {
    throw;
  } catch (const status_error& error) {
    return response::error(error);
  } catch (...) {  // not a cancel
    // The client left in the middle of the request body.
    if (asked.body().failed()) return std::nullopt;
    report_failure(asked);
    return response::error(500);
  }
}

}  // namespace

std::optional<response> served_exchange::response_for_failure(served_request& asked) noexcept {
  try {
    return response_to_current_exception(asked);
  } catch (...) {  // no memory
    return std::nullopt;
  }
}

void served_exchange::note_client_left() noexcept { status_ = client_has_left; }

void served_exchange::tell_observer() const noexcept {
  const std::chrono::nanoseconds passed = began_ == time_point() ? std::chrono::nanoseconds() : now() - began_;
  app_.options.observer->answered({request_, status_, body_bytes_, passed, complete_});
}

task<served_exchange::end> served_exchange::answer(std::optional<started_response> started, end_source& client) {
  std::optional<task<response>> handler;  // its frame lives until the response has been sent
  exchange_scope scope(co_await this_task_context{}, client, app_.options.timeouts);
  scope_ = &scope;
  limit_ = scope.limit();
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
    made = response_for_failure(request_);
  }
  if (scope.cancelled()) {  // further awaits would fail, so only a response that is ready at once is sent
    if (scope.client_left())
      made.reset();
    else if (made && takes_time(made->state()))
      made = response::error(503, too_late);
    scope.close();
  }
  if (made) co_return co_await send(*made);
  status_ = client_has_left;
  scope.close();
  co_return end::unanswered;
}

// For responses that read the body or need its end. Called before their head is sent: after that it is too late for
// 100.
task<> served_exchange::ask_for_body() {
  try {
    co_await request_.body().ask_for_it();
  } catch (const cancelled&) {
    if (!scope_->absorbs_cancel()) throw;
  }
}

task<served_exchange::end> served_exchange::send(response& r) {
  bool takes_over = begins_protocol(r, request_);
  response_state& state = r.state();
  const bool reads_on = state.source == body_origin::producer;
  while (!reads_on && request_.has_adopted()) {
    co_await request_.end_adopted();
    request_.give_up_adopted();
  }
  const bool wants_body = takes_over || (reads_on && state.status < 400);
  if (wants_body && has_unread_body()) co_await ask_for_body();
  if (takes_over) {
    if (has_unread_body()) scope_->close();
    const exchange_link::takeover possible = co_await link_.prepare_takeover(limit_);
    if (possible == exchange_link::takeover::gone) co_return end::cut_off;
    if (possible == exchange_link::takeover::obstructed) {
      takes_over = false;
      state.drop_body();
      state.status = 400;
    }
  }
  if (link_.end_interim()) co_await link_.interim_ended();
  const response_plan plan(state, request_.method() == "HEAD", request_.method() == "CONNECT");
  const exchange_link::begun begun =
      link_.begin(state, plan, {.reads_on = reads_on, .takes_over = takes_over, .in_time = !scope_->expired()});
  if (!link_.holds_head()) status_ = state.status;
  if (takes_over) {
    scope_->close();
    complete_ = true;
    const bool ended_well = co_await link_.take_over(*state.protocol);
    co_return ended_well ? end::switched : end::cut_off;
  }
  if (begun != exchange_link::begun::head)
    scope_->close();
  else if (!reads_on || state.ends_by_itself)
    scope_->ignore_client();
  if (begun != exchange_link::begun::head && plan.has_body) body_bytes_ = state.bytes().size();
  std::optional<response> instead;
  complete_ = begun == exchange_link::begun::all;
  if (!complete_) complete_ = co_await send_rest(state, plan, begun, instead);
  if (instead) {
    keep_fields(instead->state(), state);
    co_return co_await send(*instead);
  }
  if (!complete_ && link_.holds_head()) {
    status_ = client_has_left;
    co_return end::unanswered;
  }
  co_return complete_ ? end::complete : end::cut_off;
}

// Counts the bytes of a body. A complete body counts in full. For one that was cut off, at most the bytes taken count,
// not those still waiting.
class served_exchange::sent_count {
 public:
  sent_count(served_exchange& of, const response_state& answer) noexcept : of_(of), answer_(answer) {}
  sent_count& operator=(sent_count&&) = delete;
  ~sent_count() {
    of_.body_bytes_ = complete ? written : std::min(written, of_.link_.taken());
    if (!of_.link_.holds_head()) of_.status_ = answer_.status;
  }
  std::uint64_t written = 0;
  bool complete = false;

 private:
  served_exchange& of_;
  const response_state& answer_;
};

// Sends a body that takes time, or whose source must be gone before the connection closes. Returns false if it was cut
// off. Sets `instead` when it failed before anything was sent.
task<bool> served_exchange::send_rest(response_state& answer, const response_plan& plan, exchange_link::begun begun,
                                      std::optional<response>& instead) {
  sent_count count(*this, answer);
  std::error_code failure;
  try {
    if (begun == exchange_link::begun::all_waiting || !plan.has_body) {
      count.written = plan.has_body ? answer.bytes().size() : 0;
      count.complete = true;
      failure = co_await link_.flush();
    } else if (answer.source == body_origin::producer) {
      count.complete = co_await produce(answer, count);
    } else if (answer.source == body_origin::file) {
      count.written = answer.length.value_or(0);
      failure = co_await link_.send_file(answer.file_descriptor(), answer.file_offset, count.written);
      count.complete = !failure;
    } else {
      count.written = answer.bytes().size();
      failure = co_await link_.send_bytes(answer.bytes());
      count.complete = !failure;
    }
  } catch (const cancelled&) {
    count.complete = false;
    if (!scope_->absorbs_cancel()) throw;
    if (link_.holds_head() && scope_->expired()) instead = response::error(503, too_late);
  } catch (...) {  // cancels were caught above
    count.complete = false;
    if (!link_.is_gone() && link_.holds_head())
      instead = response_for_failure(request_);
    else if (!link_.is_gone() && !request_.body().failed())
      report_failure(request_);
  }
  scope_->close();
  co_return count.complete && !failure;
}

task<bool> served_exchange::produce(response_state& answer, sent_count& count) {
  body_writer writer(link_.sink(), answer.length.value_or(body_writer::any_length));
  struct counting {
    sent_count& count;
    const body_writer& writer;
    ~counting() { count.written = writer.written(); }
  } const counted{count, writer};
  co_await link_.produce(*answer.producer, writer);
  if (link_.is_gone() || writer.is_cut_off()) co_return false;
  if (answer.length && writer.written() != *answer.length)
    throw std::logic_error("the body of the response is shorter than was announced");
  link_.finish();
  co_return true;
}

}  // namespace gyre::http
