// src/client/retry.cpp: which requests are sent again, and when. RFC 9110 §9.2.2, RFC 9112 §9.3.1.
#include <gyre/http/http_date.hpp>
#include <gyre/http/value_from_text.hpp>
#include <gyre/io/wall_clock.hpp>

#include "client_exchange.hpp"

#include <algorithm>

namespace gyre::http {
namespace {

bool is_temporary(std::error_code failure) noexcept {
  if (failure == client_errc::no_response || failure == client_errc::cut_off) return true;
  for (const std::errc each :
       {std::errc::connection_refused, std::errc::connection_reset, std::errc::connection_aborted,
        std::errc::broken_pipe, std::errc::timed_out, std::errc::host_unreachable, std::errc::network_unreachable,
        std::errc::network_down, std::errc::network_reset, std::errc::resource_unavailable_try_again})
    if (failure == each) return true;
  return false;
}

bool is_temporary(int status) noexcept { return status == 429 || status == 502 || status == 503 || status == 504; }

}  // namespace

bool client_exchange::can_repeat(bool nothing_written) noexcept {
  if (!nothing_written && !request.is_idempotent()) return false;
  try {
    return body.rewind();
  } catch (...) {  // it cannot, for whatever reason
    return false;
  }
}

std::optional<std::chrono::nanoseconds> client_exchange::retry_after() const {
  const field* const wanted = find_field(channel_.fields(), "Retry-After");
  if (wanted == nullptr) return std::nullopt;
  if (const auto seconds = value_from_text<std::uint32_t>(wanted->value)) return std::chrono::seconds(*seconds);
  const unix_seconds now = io::wall_clock().tv_sec;
  const auto date = parse_date(wanted->value, now);
  if (!date) return std::nullopt;
  constexpr unix_seconds year = 31'536'000;
  return std::chrono::seconds(std::clamp<unix_seconds>(*date - now, 0, year));
}

std::optional<std::chrono::nanoseconds> client_exchange::retry_delay(unsigned attempts,
                                                                     const std::error_code* failure) {
  const retry_policy& policy = state_.options().retries;
  if (attempts >= policy.attempts || state_.closed()) return std::nullopt;
  if (failure != nullptr ? !is_temporary(*failure) : !is_temporary(channel_.status())) return std::nullopt;
  constexpr unsigned max_doublings = 30;
  const double max_backoff = static_cast<double>(policy.max_backoff.count());
  const double doubled = static_cast<double>(policy.backoff.count()) * (1U << std::min(attempts - 1, max_doublings));
  const double chosen = std::min(doubled, max_backoff) * (0.5 + 0.5 * state_.random());
  std::chrono::nanoseconds delay(static_cast<std::int64_t>(chosen));
  if (failure == nullptr) {
    const auto asked = retry_after();
    if (asked && *asked > policy.max_retry_after) return std::nullopt;
    if (asked) delay = std::max(delay, *asked);
  }
  if (clock_.left() <= delay) return std::nullopt;  // the total ends before
  if (!state_.may_retry() || !can_repeat(sender_.nothing_written())) return std::nullopt;
  return delay;
}

}  // namespace gyre::http
