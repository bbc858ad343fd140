// src/client/client_exchange.cpp: attempts to get a response, each on a channel.
#include "client_exchange.hpp"

#include <gyre/http/head_writer.hpp>
#include <gyre/io/wall_clock.hpp>
#include <gyre/loop/sleep.hpp>
#include <gyre/tasks/task_group.hpp>
#include <gyre/tls/tls_error.hpp>

#include "connecting.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

namespace gyre::http {
namespace {

constexpr unsigned max_interim = 100;

// In the order of `phase`.
constexpr std::array<std::string_view, 7> phase_names{"waiting for a connection",
                                                      "connecting",
                                                      "TLS handshake",
                                                      "sending the request",
                                                      "waiting for the response",
                                                      "receiving the body",
                                                      "waiting for the next attempt"};

bool contains(std::string_view list, std::string_view protocol) noexcept {
  for (auto each = next_in_list(list); !each.empty(); each = next_in_list(list))
    if (equal_ignoring_case(each, protocol)) return true;
  return false;
}

}  // namespace

client_exchange::client_exchange(client_state& of)
    : state_(of),
      slot_(of),
      channel_(of.options().limits.head),
      clock_(channel_),
      sender_(channel_, clock_, of.options().timeouts, request, body),
      decoded_(of.options().limits) {}

void client_exchange::recycle() noexcept {
  abandon_body();
  if (sending_) sending_.detach();
  if (sends_) {
    recycled_ = true;
    return;
  }
  send_failure_ = nullptr;
  clock_.end();
  channel_.end();
  std::string().swap(answer_);
  request.clear();
  body.drop();
  observer.reset();
  decoded_.end();
  expects_continue = full_duplex = answered_ = on_reused_ = false;
  state_.give_back(*this);
}

void client_exchange::answer(int status, std::span<const field> fields, std::string_view text) {
  constexpr std::array<std::string_view, 3> framing{"Content-Length", "Transfer-Encoding", "Content-Encoding"};
  if (status < 200) throw std::invalid_argument("client_request::answer: the status must be at least 200");
  answer_.clear();
  head_writer writer(answer_);
  writer.status_line(status);
  for (const field& each : fields)
    if (std::ranges::none_of(framing, [&](std::string_view name) { return equal_ignoring_case(each.name, name); }))
      writer.field(each.name, each.value);
  writer.field("Content-Length", std::uint64_t{text.size()});
  writer.end();
  answer_ += text;
  sender_.set_complete();
  channel_.set_response(answer_);
  (void)channel_.find_head();
  take_final_head();
}

std::string client_exchange::subject() const {
  std::string text(request.method);
  return text.append(" ").append(request.whole_url());
}

void client_exchange::fail(client_errc reason, std::string_view detail) const {
  throw client_error(reason, request.method, request.whole_url(), detail);
}

void client_exchange::fail_late() const {
  std::string text =
      subject().append(" (").append(phase_names.at(static_cast<std::size_t>(clock_.current()))).append(")");
  throw timed_out(clock_.is_total_over() ? clock_.total() : clock_.limit(), text);
}

void client_exchange::fail(std::error_code reason) const {
  if (clock_.expired()) fail_late();
  const bool ended = reason == stream_errc::end_of_stream || reason == tls::tls_errc::truncated;
  if (ended) fail(channel_.received_any() ? client_errc::cut_off : client_errc::no_response);
  throw io_error(reason, request.method, request.whole_url());
}

void client_exchange::begin() noexcept {
  clock_.set_total(total);
  identified_ = true;
}

bool client_exchange::follow_redirects(unsigned followed) {
  if (max_redirects == 0 || !is_redirect()) return false;
  follow_redirect(followed);
  return true;
}

// Until there is a response that is not worth a retry.
task<> client_exchange::run_one() {
  state_.count_request();
  for (unsigned attempts = 1;; ++attempts) {
    std::exception_ptr failure;
    std::error_code code;
    try {
      co_await attempt();
    } catch (const io_error& error) {
      failure = std::current_exception();
      code = error.code();
      give_up_connection();
    }
    const auto delay = retry_delay(attempts, failure ? &code : nullptr);
    if (!delay && failure) std::rethrow_exception(failure);
    if (!delay) co_return;
    abandon_body();
    ++state_.retried;
    co_await sleep(*delay);
  }
}

// Without the connection that a server has closed while it was idle, which costs no attempt.
task<> client_exchange::attempt() {
  for (;;) {
    answered_ = false;  // so that a connection that is only being made is never kept
    sender_.note_nothing_written(true);
    if (!acquire_at_once()) co_await acquire();
    begin_attempt();
    std::error_code failure;
    if (is_small())
      failure = co_await converse();
    else if (full_duplex && request.upgrade.empty())
      failure = co_await converse_in_full_duplex();
    else
      failure = co_await converse_while_sending();
    const bool stale =
        on_reused_ && !clock_.expired() && (failure ? !channel_.received_any() : channel_.status() == 408);
    // A 408 may also be the answer of an application that has acted on the request.
    if (stale && can_repeat(failure && sender_.nothing_written())) {
      clock_.end();
      channel_.close();
      ++state_.retried;
      continue;
    }
    if (failure) fail(failure);
    std::exception_ptr refused;
    try {
      co_return take_final_head();
    } catch (...) {  // thrown again, once no task uses the source of the request's body
      refused = std::current_exception();
    }
    if (sends_) co_await end_sending();
    std::rethrow_exception(refused);
  }
}

void client_exchange::begin_attempt() {
  sender_.begin(expects_continue);
  answered_ = false;
  interim_ = 0;
  on_reused_ = channel_.on_reused_connection();
  const std::optional<std::uint64_t> length =
      body.source ? body.length : std::optional<std::uint64_t>(request.body.size());
  cookie_text_.clear();
  if (state_.options().cookies && !request.has_cookie)
    state_.cookies.append_for(request.url, io::wall_clock().tv_sec, cookie_text_);
  request.write_head(channel_.begin(!length), state_.fields(),
                     {.length = length,
                      .proxy = reads_requests(proxy_, request.url) ? proxy_ : nullptr,
                      .asks_for_codings = asked_for_codings(),
                      .cookies = cookie_text_,
                      .expects_continue = expects_continue && (body.source || !request.body.empty())});
}

task<std::error_code> client_exchange::converse() {
  const client_timeouts& limits = state_.options().timeouts;
  clock_.begin(phase::sending, limits.between_bytes);
  const write_outcome written = co_await channel_.send_whole(request.body);
  if (!written.error) sender_.set_complete();
  if (written.error && clock_.expired()) co_return written.error;
  // A server that takes no more may have sent a response before.
  clock_.begin(phase::first_byte, limits.first_byte);
  const std::error_code failure = co_await receive_head();
  if (failure && !channel_.received_any()) sender_.note_nothing_written(written.nothing_written);
  co_return failure&& written.error && !clock_.expired() ? written.error : failure;
}

task<std::error_code> client_exchange::converse_while_sending() {
  clock_.begin_unlimited(phase::sending);  // ends the last phase, which may have expired
  std::error_code failure;
  bool late = false;
  auto both = [&](task_group& group) -> task<> {
    auto sending = group.spawn(sender_.send(), {.name = "sending a request"});
    failure = co_await receive_head();
    if (sending.done()) co_return;
    if (!sender_.response_came(channel_.status()) || failure) sending.cancel();
    if (failure) co_return;
    const bool complete = channel_.begin_body(request.method) == parse_error::none && channel_.has_whole_body();
    auto finishing = sender_.finish(sending, complete);
    late = co_await std::move(finishing);
  };
  co_await task_group::scope(both);
  if (late) fail_late();
  if (failure && !channel_.received_any() && sender_.error()) co_return sender_.error();
  co_return failure;
}

task<std::error_code> client_exchange::receive_head() {
  for (;;) {
    const parse_state state = channel_.find_head();
    if (state == parse_state::failed) fail(client_errc::bad_response, describe(channel_.head_error()));
    if (state == parse_state::incomplete) {
      if (clock_.expired()) co_return time_limit_passed();
      const std::error_code failure = co_await channel_.receive_more();
      if (failure) co_return failure;
      continue;
    }
    const int status = channel_.status();
    if (status >= 200 || status == switching_protocols) co_return std::error_code();
    if (++interim_ > max_interim) fail(client_errc::too_many_interim);
    if (observer) {
      const bool waits = clock_.current() == phase::first_byte;  // the observer's time is not the server's
      if (waits) clock_.pause();
      co_await observer->see(status, channel_.fields());
      if (waits && clock_.current() == phase::first_byte) clock_.resume();
    }
    if (status == 100) sender_.go_on();
    channel_.drop_head();
  }
}

void client_exchange::take_final_head() {
  const parse_error error = channel_.begin_body(request.method);
  if (error != parse_error::none) fail(client_errc::bad_response, describe(error));
  if (switched()) check_switch();
  answered_ = true;
  if (state_.options().cookies)
    for (const field& each : channel_.fields())
      if (equal_ignoring_case(each.name, "Set-Cookie"))
        state_.cookies.store(request.url, each.value, io::wall_clock().tv_sec);
  // Only a response to a request in which the client itself has asked for codings is decoded.
  if (asked_for_codings() && channel_.framing().body != body_kind::none)
    decoded_.begin(channel_.fields());
  else
    decoded_.end();
  clock_.end();
  // Then the connection serves the next request, however long the program keeps the response.
  if (channel_.has_whole_body() && !switched()) finish_connection();
}

// A server that switches to something else speaks a protocol that this program does not know. RFC 9110 §7.8.
void client_exchange::check_switch() const {
  std::string_view chosen = channel_.framing().upgrade;
  bool good = sender_.is_complete() && !chosen.empty() && !channel_.framing().several_upgrades;
  for (auto each = next_in_list(chosen); !each.empty(); each = next_in_list(chosen))
    good = good && contains(request.upgrade, each);
  if (!good) fail(client_errc::unexpected_switch, channel_.framing().upgrade);
}

any_stream client_exchange::take_stream() {
  if (!channel_.is_open()) return {};
  any_stream stream = channel_.take_stream();
  give_up_connection();
  return stream;
}

bool client_exchange::asked_for_codings() const noexcept {
  return state_.options().decompress && !request.has_accept_encoding && !request.has_range;
}

}  // namespace gyre::http
