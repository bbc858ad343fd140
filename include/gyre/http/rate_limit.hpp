// gyre/http/rate_limit.hpp: limits the rate of requests per client. RFC 6585 §4.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/coro/owned.hpp>
#include <gyre/http/middleware.hpp>
#include <gyre/http/request.hpp>
#include <gyre/loop/deadline.hpp>

#include <chrono>
#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace gyre::http {

struct rate_limit_options {
  double rate = 10;   ///< requests a second, in the long term
  double burst = 20;  ///< requests at once, after a pause
  /// The number of keys remembered. The least recently seen one is forgotten.
  std::size_t keys = 100'000;
};

/// A token bucket for each key. A request takes one token, and buckets refill at the given rate. Of a key of more than
/// 128 bytes, a hash and the first bytes are kept, so that long keys do not fill the memory.
///
/// Thread: any.
class GYRE_API token_buckets {
 public:
  /// Errors: std::invalid_argument when rate or burst is too small to ever let a request pass, or when there are no
  /// keys.
  explicit token_buckets(const rate_limit_options& options);
  /// Takes a token and returns zero. Without a token to take, returns the time until there is one.
  [[nodiscard]] std::chrono::nanoseconds take(std::string_view key, time_point when);
  /// The number of keys remembered.
  [[nodiscard]] std::size_t size() const noexcept;

 private:
  struct state;
  static void destroy(state* buckets) noexcept;
  owned<state*, &destroy> state_;
};

/// The client's IPv4 address, or the first 64 bits of its IPv6 address, because one household has all of those. Empty
/// for other connections.
[[nodiscard]] GYRE_API std::string client_of(const request& r);

/// 429 with Retry-After, rounded up. Units: seconds.
[[nodiscard]] GYRE_API response too_many_requests(std::chrono::nanoseconds wait);

/// Answers 429 to requests that arrive faster than the rate, counted for each key that `key(request&)` returns. A
/// request with an empty key is not limited. Use another key than the address behind a proxy, where every request comes
/// from one address.
///
/// Copies of the middleware share their buckets. So the limit holds for all loops of a server if they share the router,
/// or if make_routes copies one middleware into each router. Errors: same as token_buckets; per request: whatever
/// `key` throws.
template <class F>
  requires requires(F& key, request& r) {
    { key(r) } -> std::convertible_to<std::string>;
  }
[[nodiscard]] middleware rate_limit(const rate_limit_options& options, F key) {
  struct limiter {
    token_buckets buckets;
    F key;
    task<response> refuse(std::chrono::nanoseconds wait) { co_return too_many_requests(wait); }
    GYRE_CORO_WRAPPER task<response> operator()(request& r, next_handler next) {
      const std::string who = key(r);
      const auto wait = who.empty() ? std::chrono::nanoseconds::zero() : buckets.take(who, now());
      if (wait > std::chrono::nanoseconds::zero()) return refuse(wait);
      return next(r);
    }
  };
  return limiter{token_buckets(options), std::move(key)};
}

/// The same, with client_of as the key. Errors: same as token_buckets.
[[nodiscard]] inline middleware rate_limit(const rate_limit_options& options = {}) {
  return rate_limit(options, [](request& r) { return client_of(r); });
}

}  // namespace gyre::http
