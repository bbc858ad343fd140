// src/testing/http_direct_state.cpp: an exchange whose link, body and end are queues in memory.
#include "http_direct_state.hpp"

#include <gyre/http/field_line.hpp>
#include <gyre/http/http_date.hpp>
#include <gyre/io/file_bytes.hpp>
#include <gyre/io/io_error.hpp>
#include <gyre/io/wall_clock.hpp>
#include <gyre/loop/as_expected.hpp>

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace gyre::testing {
namespace {

using named_values = std::vector<std::pair<std::string, std::string>>;

std::vector<http::field> views_of(const named_values& all) {
  std::vector<http::field> views;
  for (const auto& [name, value] : all) views.push_back({name, value});
  return views;
}

named_values copies_of(std::span<const http::field> all) {
  named_values copies;
  for (const http::field& each : all) copies.emplace_back(each.name, each.value);
  return copies;
}

// The fields that a server adds in every protocol. Those of framing are not among them.
named_values fields_of(const http::response_state& answer, const http::response_plan& plan, std::string_view server) {
  named_values own;
  for (const http::field& each : answer.all_fields()) own.emplace_back(each.name, each.value);
  const auto has = [&](std::string_view name) {
    return std::any_of(own.begin(), own.end(),
                       [&](const auto& each) { return http::equal_ignoring_case(each.first, name); });
  };
  named_values all;
  const auto date = http::format_date(io::wall_clock().tv_sec);
  if (!has("Date")) all.emplace_back("Date", std::string(date.data(), date.size()));
  if (!server.empty() && !has("Server")) all.emplace_back("Server", server);
  if (!answer.media_type.empty()) all.emplace_back("Content-Type", answer.media_type);
  std::move(own.begin(), own.end(), std::back_inserter(all));
  if (plan.length) all.emplace_back("Content-Length", std::to_string(*plan.length));
  return all;
}

}  // namespace

http_direct_state::http_direct_state(std::shared_ptr<http::application> app, http_direct_request&& request)
    : app_(std::move(app)), asked_(std::move(request)), fields_(views_of(asked_.fields)) {
  if (const http::field* const length = http::find_field(fields_, "Content-Length"))
    length_ = http::value_from_text<std::uint64_t>(length->value);
  else if (!asked_.streams)
    length_ = asked_.body.size();
  sent_ = asked_.body.size();
  arrived_ = std::move(asked_.body);
  body_ended_ = length_ ? sent_ >= *length_ : !asked_.streams;
  const http::field* const expectation = http::find_field(fields_, "Expect");
  waits_for_100_ =
      expectation != nullptr && !body_ended_ && http::equal_ignoring_case(expectation->value, "100-continue");
}

void http_direct_state::begin_request() {
  const http::field* const host = http::find_field(fields_, "Host");
  request_.begin(*app_, {.method = asked_.method,
                         .target = asked_.target,
                         .host = host == nullptr ? std::string_view() : host->value,
                         .fields = fields_,
                         .version = asked_.version,
                         .peer = asked_.peer,
                         .body = request_body_,
                         .link = *this});
}

task<> http_direct_state::serve(std::shared_ptr<http_direct_state> self) {
  std::exception_ptr failure;  // thrown again, also a cancel
  std::exception_ptr outcome = std::make_exception_ptr(
      io_error(std::make_error_code(std::errc::operation_canceled), "receive", "the answer of the application"));
  try {
    std::exception_ptr reason = co_await self->answer();
    outcome = std::move(reason);
  } catch (...) {
    failure = std::current_exception();
  }
  while (self->request_.has_adopted()) {
    co_await self->request_.end_adopted();
    self->request_.give_up_adopted();
  }
  self->conclude(std::move(outcome));
  if (failure) std::rethrow_exception(failure);
}

// Returns why there is no complete answer, or null.
task<std::exception_ptr> http_direct_state::answer() {
  std::optional<http::started_response> started;
  begin_request();
  try {
    started.emplace(app_->options.routes.start(request_));
  } catch (...) {  // nothing was awaited, so this is not a cancel
    if (auto failure = http::served_exchange::response_for_failure(request_)) started.emplace(*std::move(failure));
  }
  http::served_exchange here(*app_, request_, *this);
  here.start_clock(now());
  using end = http::served_exchange::end;
  const end reached = co_await here.answer(std::move(started), *this);
  if (reached == end::complete) {
    end_answer();
    co_return nullptr;
  }
  if (switches_)
    co_return std::make_exception_ptr(std::logic_error(
        "the application switches to another protocol, for which a direct exchange has no connection"));
  const std::error_code reason = reached == end::unanswered ? make_error_code(stream_errc::end_of_stream)
                                                            : std::make_error_code(std::errc::connection_reset);
  co_return std::make_exception_ptr(io_error(reason, "receive", "the answer of the application"));
}

// ---- The link.

task<bool> http_direct_state::send_interim(int status, std::span<const http::field> fields) {
  if (has_begun_ || was_reset_ || asked_.version == http::version::http_1_0) co_return false;
  hand_over({.kind = part::interim, .status = status, .fields = copies_of(fields)});
  co_return true;
}

task<http::exchange_link::takeover> http_direct_state::prepare_takeover(io::monotonic_time /*limit*/) {
  switches_ = true;
  co_return takeover::gone;
}

bool http_direct_state::end_interim() noexcept {
  has_begun_ = true;
  return false;
}

task<> http_direct_state::interim_ended() { co_return; }

http::exchange_link::begun http_direct_state::begin(http::response_state& answer, const http::response_plan& plan,
                                                    const circumstances& /*how*/) {
  constexpr std::size_t small = std::size_t{16} << 10U;
  held_head_ = {.kind = part::head, .status = answer.status, .fields = fields_of(answer, plan, app_->options.name)};
  if (plan.has_body && answer.source == http::body_origin::producer) return begun::head;
  release_head();
  if (plan.has_body && !(answer.is_in_memory() && answer.bytes().size() <= small)) return begun::head;
  if (plan.has_body) hand_over(answer.bytes());
  end_answer();
  return begun::all;
}

void http_direct_state::release_head() {
  if (held_head_) hand_over(std::move(*held_head_));
  held_head_.reset();
}

GYRE_CORO_WRAPPER task<std::error_code> http_direct_state::send_bytes(std::string_view whole_body) {
  return hand_over_in_turn(whole_body);
}

task<std::error_code> http_direct_state::send_file(int file, std::uint64_t offset, std::uint64_t count) {
  try {
    if (count > 0) co_await response_body_.send_file(file, offset, count);
  } catch (const io_error& error) {
    if (!was_reset_) throw io_error(error.code(), "send_file", io::path_of_file(file));
  }
  co_return gone();
}

task<> http_direct_state::produce(http::body_producer& from, http::body_writer& writer) {
  if (!was_reset_) co_await from.produce(writer);
}

void http_direct_state::finish() {
  release_head();
  end_answer();
}

task<std::error_code> http_direct_state::flush() {
  while (unread_ > max_unread && !was_reset_) {
    room_for_response_.clear();
    co_await room_for_response_.wait();
  }
  co_return gone();
}
task<bool> http_direct_state::take_over(http::protocol_handler& /*protocol*/) { co_return false; }

// ---- The body of the response.

task<> http_direct_state::response_sink::write(std::string_view piece) {
  if (!piece.empty()) of_.release_head();
  const std::error_code outcome = co_await of_.hand_over_in_turn(piece);
  if (outcome) throw io_error(outcome, "write", "the response's body");
}

void http_direct_state::response_sink::append(std::string_view piece) {
  of_.release_head();
  of_.hand_over(piece);
}

task<> http_direct_state::response_sink::flush() {
  of_.release_head();
  const std::error_code outcome = co_await of_.flush();
  if (outcome) throw io_error(outcome, "write", "the response's body");
}

void http_direct_state::response_sink::add_trailer(std::string_view name, std::string_view value) {
  of_.response_trailers_.emplace_back(name, value);
}

// ---- From the handler to the client.

void http_direct_state::hand_over(http_direct_part&& next) {
  if (was_reset_) return;
  unread_ += next.bytes.size();
  handed_over_ += next.bytes.size();
  parts_.push_back(std::move(next));
  part_came_.set();
}

void http_direct_state::hand_over(std::string_view piece) {
  if (!piece.empty()) hand_over({.kind = part::body, .bytes = std::string(piece)});
}

task<std::error_code> http_direct_state::hand_over_in_turn(std::string_view bytes) {
  while (!bytes.empty() && !was_reset_) {
    const std::string_view piece = bytes.substr(0, max_unread - std::min(unread_, max_unread));
    hand_over(piece);
    bytes.remove_prefix(piece.size());
    if (bytes.empty()) break;
    room_for_response_.clear();
    co_await room_for_response_.wait();
  }
  co_return gone();
}

void http_direct_state::end_answer() {
  if (std::exchange(answer_ended_, true)) return;
  hand_over({.kind = part::end, .fields = std::exchange(response_trailers_, {})});
}

void http_direct_state::conclude(std::exception_ptr failure) noexcept {
  over_ = true;
  failure_ = std::move(failure);
  part_came_.set();
  room_for_request_.set();
}

std::error_code http_direct_state::gone() const noexcept {
  return was_reset_ ? std::make_error_code(std::errc::connection_reset) : std::error_code();
}

task<http_direct_part> http_direct_state::receive() {
  while (parts_.empty()) {
    if (failure_) std::rethrow_exception(failure_);
    if (over_) throw io_error(make_error_code(stream_errc::end_of_stream), "receive", "the answer");
    part_came_.clear();
    co_await part_came_.wait();
  }
  http_direct_part next = std::move(parts_.front());
  parts_.pop_front();
  unread_ -= next.bytes.size();
  if (unread_ <= max_unread) room_for_response_.set();
  co_return next;
}

}  // namespace gyre::testing
