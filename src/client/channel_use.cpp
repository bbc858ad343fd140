// src/client/channel_use.cpp: where an exchange gets its channels from, and what becomes of them.
#include <gyre/http/value_from_text.hpp>
#include <gyre/loop/timeout_op.hpp>
#include <gyre/tasks/timeout.hpp>

#include "client_exchange.hpp"
#include "connecting.hpp"

#include <algorithm>
#include <utility>

namespace gyre::http {

// Returns whether there was a slot.
bool client_exchange::join_origin() {
  const bool direct = !state_.options().unix_socket.empty() || state_.options().connector;
  proxy_ = direct ? nullptr : state_.options().proxies.find(request.url);
  const bool anonymous = hides_identity();
  if (proxy_ == nullptr && !anonymous) return slot_.join(request.url.origin());
  std::string key(request.url.origin());
  if (proxy_ != nullptr) key.append(" through ").append(proxy_->origin());
  if (anonymous) key.append(" without a certificate");
  return slot_.join(key);
}

// A redirect has led to another origin, which must not learn the certificate of the client.
bool client_exchange::hides_identity() {
  return !identified_ && request.url.scheme() == "https" && state_.tls_config().has_identity();
}

// The usual case: a slot is free, and a plain connection is idle. Returns false when acquire() has to go on, perhaps
// with an idle connection that a task still watches.
bool client_exchange::acquire_at_once() {
  if (!slot_ && !join_origin()) return false;
  if (!slot_.is_held() || state_.closed()) return false;
  while (client_connection* const popped = state_.pop_idle(slot_.origin())) {
    connection_owner idle(popped);
    const bool waits = idle->watched_by_task();
    if (!waits && !idle->unwatch_now()) continue;
    channel_.open(std::move(idle));
    return !waits;
  }
  return false;
}

task<> client_exchange::acquire() {
  if (!slot_.is_held()) co_await wait_for_slot();
  if (state_.closed()) fail(client_errc::client_closed);
  for (;;) {
    connection_owner idle =
        channel_.is_open() ? channel_.take_connection() : connection_owner(state_.pop_idle(slot_.origin()));
    if (!idle) break;
    bool quiet = false;
    if (idle->watched_by_task())
      quiet = co_await idle->unwatch();
    else
      quiet = idle->unwatch_now();
    if (quiet) co_return channel_.open(std::move(idle));
  }
  const new_connection wanted{state_, request, proxy_, clock_, identified_};
  auto connecting = connect(wanted);
  channel_.open(co_await std::move(connecting));
}

task<> client_exchange::wait_for_slot() {
  const std::chrono::nanoseconds limit = state_.options().timeouts.queue;
  try {
    auto slot = gyre::timeout(clock_.clamped(limit), slot_.wait());
    co_await std::move(slot);
  } catch (const timed_out&) {
    throw timed_out(clock_.is_total_over() ? clock_.total() : limit, subject() + " (waiting for a connection)");
  }
}

// Safe to call again.
void client_exchange::finish_connection() noexcept {
  if (!channel_.is_open() || sends_) return;
  clock_.end();
  if (sender_.is_complete() && channel_.is_reusable() && !request.closes && !switched())
    state_.keep(slot_.origin(), channel_.take_connection(), how_long_to_keep());
  channel_.close();
  slot_.release();
}

void client_exchange::give_up_connection() noexcept {
  clock_.end();
  if (sends_) {
    gives_up_ = true;
    if (sending_ && !sending_.done()) sending_.cancel();
    return;
  }
  channel_.close();
  slot_.release();
}

// Two seconds less than the server says, because it closes when a request may be on its way. Half of a shorter time.
std::chrono::nanoseconds client_exchange::how_long_to_keep() const noexcept {
  const std::chrono::nanoseconds own = state_.options().limits.idle;
  const field* const hint = find_field(channel_.fields(), "Keep-Alive");
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
  if (sends_) return give_up_connection();
  if (!channel_.is_open()) return slot_.release();
  std::size_t max_dropped = std::size_t{64} << 10U;
  try {
    while (answered_ && max_dropped > 0 && !channel_.at_end() && channel_.body_error() == parse_error::none) {
      const std::size_t dropped = channel_.take(max_dropped).size();
      max_dropped -= dropped;
      if (dropped == 0 && !channel_.at_end() && !channel_.receive_arrived()) break;
    }
  } catch (const std::exception&) {
    answered_ = false;
  }
  if (answered_ && channel_.at_end() && channel_.body_error() == parse_error::none)
    finish_connection();
  else
    give_up_connection();
}

}  // namespace gyre::http
