// src/client/client_exchange.cpp: attempts to get a response, each on a connection.
#include "client_exchange.hpp"

#include <gyre/coro/scope_exit.hpp>
#include <gyre/http/head_writer.hpp>
#include <gyre/http/value_from_text.hpp>
#include <gyre/io/wall_clock.hpp>
#include <gyre/loop/sleep.hpp>
#include <gyre/tasks/as_expected.hpp>
#include <gyre/tls/tls_error.hpp>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

namespace gyre::http {
namespace {

constexpr unsigned max_interim = 100;

std::string_view name_of(phase where) noexcept {
  switch (where) {
    case phase::queue:
      return "waiting for a connection";
    case phase::connect:
      return "connecting";
    case phase::tls:
      return "TLS handshake";
    case phase::sending:
      return "sending the request";
    case phase::first_byte:
      return "waiting for the response";
    case phase::body:
      return "receiving the body";
    case phase::backoff:
      return "waiting for the next attempt";
  }
  return "";
}

}  // namespace

client_exchange::client_exchange(client_state& of) : state_(of), input_(of.options().limits.head) {}

void client_exchange::recycle() noexcept {
  abandon_body();
  clock_.end();
  input_.end();
  std::string().swap(answer_);
  request.clear();
  source.reset();
  source_length.reset();
  observer.reset();
  decoder_.reset();
  expects_continue = source_used_ = answered_ = on_reused_ = false;
  state_.give_back(*this);
}

void client_exchange::answer(int status, std::span<const field> fields, std::string_view body) {
  constexpr std::array<std::string_view, 3> framing{"Content-Length", "Transfer-Encoding", "Content-Encoding"};
  if (status < 200) throw std::invalid_argument("client_request::answer: the status must be at least 200");
  answer_.clear();
  head_writer writer(answer_);
  writer.status_line(status);
  for (const field& each : fields)
    if (std::ranges::none_of(framing, [&](std::string_view name) { return equal_ignoring_case(each.name, name); }))
      writer.field(each.name, each.value);
  writer.field("Content-Length", std::uint64_t{body.size()});
  writer.end();
  answer_ += body;
  sent_ = true;
  input_.begin();
  input_.add(answer_);
  (void)input_.parse_head();
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
  std::string text = subject().append(" (").append(name_of(clock_.current())).append(")");
  throw timed_out(clock_.is_total_over() ? clock_.total() : clock_.limit(), text);
}

void client_exchange::fail(std::error_code reason) const {
  if (clock_.expired()) fail_late();
  const bool ended = reason == stream_errc::end_of_stream || reason == tls::tls_errc::truncated;
  if (ended) fail(input_.received_any() ? client_errc::cut_off : client_errc::no_response);
  throw io_error(reason, request.method, request.whole_url());
}

task<> client_exchange::run() {
  clock_.set_total(total);
  identified_ = true;
  for (unsigned followed = 0;; ++followed) {
    co_await run_one();
    if (max_redirects == 0 || !is_redirect()) co_return;
    follow_redirect(followed);
  }
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
    nothing_written_ = true;
    co_await acquire();
    begin_attempt();
    std::error_code failure;
    if (is_small())
      failure = co_await converse();
    else
      failure = co_await converse_while_sending();
    const bool stale =
        on_reused_ && !clock_.expired() && (failure ? !input_.received_any() : input_.head().status() == 408);
    // A 408 may also be the answer of an application that has acted on the request.
    if (stale && can_repeat(failure && nothing_written_)) {
      clock_.end();
      conn_.reset();
      ++state_.retried;
      continue;
    }
    if (failure) fail(failure);
    co_return take_final_head();
  }
}

void client_exchange::begin_attempt() {
  answered_ = sent_ = early_ = nothing_written_ = writes_bulk_ = false;
  interim_ = 0;
  write_error_ = {};
  input_.begin();
  on_reused_ = conn_->reused;
  const std::optional<std::uint64_t> length =
      source ? source_length : std::optional<std::uint64_t>(request.body.size());
  cookie_text_.clear();
  if (state_.options().cookies && !request.has_cookie)
    state_.cookies.append_for(request.url, io::wall_clock().tv_sec, cookie_text_);
  request.write_head(head_, state_.options().user_agent,
                     {.length = length,
                      .proxy = reading_proxy(),
                      .cookies = cookie_text_,
                      .accept = state_.options().accept,
                      .codings = asked_for_codings() ? known_codings() : std::string_view(),
                      .expects_continue = expects_continue && (source || !request.body.empty())});
}

task<std::error_code> client_exchange::converse() {
  const client_timeouts& limits = state_.options().timeouts;
  clock_.begin(phase::sending, limits.between_bytes, *conn_);
  const write_outcome written = co_await conn_->write(head_, request.body);
  sent_ = !written.error;
  if (written.error && clock_.expired()) co_return written.error;
  // A server that takes no more may have sent a response before.
  clock_.begin(phase::first_byte, limits.first_byte, *conn_);
  const std::error_code failure = co_await receive_head();
  if (failure && !input_.received_any()) nothing_written_ = written.nothing_written;
  co_return failure&& written.error && !clock_.expired() ? written.error : failure;
}

task<std::error_code> client_exchange::receive_head() {
  for (;;) {
    const parse_state state = input_.parse_head();
    if (state == parse_state::failed) fail(client_errc::bad_response, describe(input_.head().error()));
    if (state == parse_state::incomplete) {
      if (const std::error_code failure = co_await receive_more()) co_return failure;
      continue;
    }
    const int status = input_.head().status();
    if (status >= 200 || status == switching_protocols) co_return std::error_code();
    if (++interim_ > max_interim) fail(client_errc::too_many_interim);
    if (observer) {
      const bool waits = clock_.current() == phase::first_byte;  // the observer's time is not the server's
      if (waits) clock_.pause();
      co_await observer->see(status, input_.head().fields());
      if (waits && clock_.current() == phase::first_byte) clock_.resume();
    }
    if (status == 100) go_on_.set();
    input_.drop_head();
  }
}

task<std::error_code> client_exchange::receive_more() {
  input_.release_lease();
  if (clock_.expired()) co_return time_limit_passed();
  if (conn_->lends()) {
    auto lease = co_await as_expected(conn_->receive_lease());
    if (!lease) co_return lease.error();
    if (lease->empty()) co_return stream_errc::end_of_stream;
    input_.add(std::move(*lease));
  } else {
    if (buffer_ == nullptr) buffer_ = std::make_unique<char[]>(record);
    auto reading = conn_->read_some(std::as_writable_bytes(std::span(buffer_.get(), record)));
    const auto count = co_await as_expected(std::move(reading));
    if (!count) co_return count.error();
    if (*count == 0) co_return stream_errc::end_of_stream;
    input_.add(std::string_view(buffer_.get(), *count));
  }
  co_return std::error_code();
}

void client_exchange::take_final_head() {
  const parse_error error = input_.begin_body(request.method);
  if (error != parse_error::none) fail(client_errc::bad_response, describe(error));
  if (switched()) check_switch();
  answered_ = true;
  if (state_.options().cookies)
    for (const field& each : input_.head().fields())
      if (equal_ignoring_case(each.name, "Set-Cookie"))
        state_.cookies.store(request.url, each.value, io::wall_clock().tv_sec);
  choose_decoder();
  clock_.end();
  // Then the connection serves the next request, however long the program keeps the response.
  if (input_.has_whole_body() && !switched()) finish_connection();
}

std::optional<std::uint64_t> client_exchange::length() const noexcept {
  const framing& framed = input_.framing();
  if (framed.body == body_kind::none) return 0;
  if (decoder_ || framed.body != body_kind::sized) return std::nullopt;
  return framed.length;
}

void client_exchange::check_arrived() const {
  const parse_error error = input_.look_ahead();
  if (error != parse_error::none) fail(client_errc::bad_response, describe(error));
}

task<std::string_view> client_exchange::receive_raw(std::size_t most) {
  check_loop("receive");
  for (;;) {
    const std::string_view piece = input_.take(most);
    if (input_.error() != parse_error::none) {
      give_up_connection();
      fail(client_errc::bad_response, describe(input_.error()));
    }
    if (input_.at_end()) finish_connection();
    if (!piece.empty() || input_.at_end()) co_return piece;
    if (!conn_) fail(client_errc::cut_off);
    std::error_code failure;
    {
      const scope_exit stop_clock([this]() noexcept { clock_.end(); });  // also after a cancel, which loses nothing
      clock_.begin(phase::body, state_.options().timeouts.between_bytes, *conn_);
      failure = co_await receive_more();
    }
    if (!failure || (failure == stream_errc::end_of_stream && input_.end_of_stream())) continue;
    give_up_connection();
    fail(failure);
  }
}

// Safe to call again.
void client_exchange::finish_connection() noexcept {
  if (!conn_) return;
  clock_.end();
  if (sent_ && input_.framing().keep_alive && !input_.has_more() && input_.head().status() != 408 && !request.closes &&
      !switched())
    state_.keep(*origin_, std::move(conn_), how_long_to_keep());
  conn_.reset();
  release_slot();
}

void client_exchange::give_up_connection() noexcept {
  clock_.end();
  conn_.reset();
  release_slot();
}

void client_exchange::release_slot() noexcept {
  if (origin_ == nullptr) return;
  if (std::exchange(has_slot_, false)) origin_->slots.release();
  state_.leave(*std::exchange(origin_, nullptr));
}

// Two seconds less than the server says, because it closes when a request may be on its way. Half of a shorter time.
std::chrono::nanoseconds client_exchange::how_long_to_keep() const noexcept {
  const std::chrono::nanoseconds own = state_.options().limits.idle;
  const field* const hint = find_field(input_.head().fields(), "Keep-Alive");
  if (hint == nullptr) return own;
  std::string_view rest = hint->value;
  for (auto each = next_in_list(rest); !each.empty(); each = next_in_list(rest)) {
    constexpr std::string_view name = "timeout=";
    if (each.size() <= name.size() || !equal_ignoring_case(each.substr(0, name.size()), name)) continue;
    const auto seconds = value_from_text<unsigned>(each.substr(name.size()));
    if (!seconds) continue;
    const std::chrono::nanoseconds said = std::chrono::seconds(*seconds);
    return std::min(own, std::max<std::chrono::nanoseconds>(said - std::chrono::seconds(2), said / 2));
  }
  return own;
}

void client_exchange::abandon_body() noexcept {
  if (!conn_) return release_slot();
  std::size_t most = std::size_t{64} << 10U;
  try {
    while (answered_ && most > 0 && !input_.at_end() && input_.error() == parse_error::none) {
      const std::size_t dropped = input_.take(most).size();
      most -= dropped;
      if (dropped == 0 && !input_.at_end() && !take_arrived()) break;
    }
  } catch (const std::exception&) {
    answered_ = false;
  }
  if (answered_ && input_.at_end() && input_.error() == parse_error::none)
    finish_connection();
  else
    give_up_connection();
}

// Bytes of a socket that have arrived already, perhaps only in the kernel.
bool client_exchange::take_arrived() {
  if (!conn_->lends()) return false;
  input_.release_lease();
  if (buffer_ == nullptr) buffer_ = std::make_unique<char[]>(record);
  conn_->socket().socket().descriptor().readable = true;  // only epoll tells that while nobody reads
  auto arrived = conn_->socket().read_some(std::span<char>(buffer_.get(), record));
  if (!arrived.try_now()) return false;
  const auto count = arrived.take_result();
  if (!count || *count == 0) return false;
  input_.add(std::string_view(buffer_.get(), *count));
  return true;
}

}  // namespace gyre::http
