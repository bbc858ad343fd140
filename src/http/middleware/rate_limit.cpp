// src/http/middleware/rate_limit.cpp: token buckets in the order of their last use.
#include <gyre/http/rate_limit.hpp>

#include "exchange/client_network.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <functional>
#include <list>
#include <mutex>
#include <stdexcept>
#include <unordered_map>

namespace gyre::http {
namespace {

// Longer than anybody waits, and still representable in nanoseconds.
constexpr double max_retry_after = 1.0e9;

struct bucket {
  std::string key;
  double tokens;
  time_point filled;
};

// As kept: all of a key that is short, otherwise its beginning and a hash. Programs make keys of fields such as
// Authorization, whose length the client chooses.
struct kept_key {
  static constexpr std::size_t max_size = 128;
  explicit kept_key(std::string_view key) noexcept : text(key) {
    if (key.size() <= max_size) return;
    const std::array<std::size_t, 2> rest{key.size(), std::hash<std::string_view>()(key)};
    char* const hash = std::copy_n(key.data(), max_size - sizeof(rest), bytes.data());
    std::memcpy(hash, rest.data(), sizeof(rest));
    text = {bytes.data(), max_size};
  }
  kept_key& operator=(kept_key&&) = delete;
  std::string_view text;
  std::array<char, max_size> bytes;  // of a long key
};

rate_limit_options checked(const rate_limit_options& options) {
  const bool rate_fits = options.rate > 0 && std::isfinite(options.rate);
  const bool burst_fits = options.burst >= 1 && std::isfinite(options.burst);
  if (!rate_fits || !burst_fits || options.keys == 0)
    throw std::invalid_argument("rate_limit: a rate above 0, a burst of at least 1 and room for a key are needed");
  return options;
}

}  // namespace

struct token_buckets::state {
  explicit state(const rate_limit_options& chosen) : options(checked(chosen)) {}

  // Returns the bucket of a key and moves it to the front of the list. A new bucket is full.
  bucket& find(std::string_view key, time_point when) {
    if (const auto known = by_key.find(key); known != by_key.end()) {
      in_order.splice(in_order.begin(), in_order, known->second);
      return in_order.front();
    }
    if (by_key.size() >= options.keys) {
      by_key.erase(in_order.back().key);
      in_order.pop_back();
    }
    in_order.push_front({.key = std::string(key), .tokens = options.burst, .filled = when});
    try {
      by_key.emplace(in_order.front().key, in_order.begin());
    } catch (...) {
      in_order.pop_front();
      throw;
    }
    return in_order.front();
  }

  rate_limit_options options;
  std::mutex mutex;                                                          // guards the buckets
  std::list<bucket> in_order;                                                // most recently used first
  std::unordered_map<std::string_view, std::list<bucket>::iterator> by_key;  // keys are views into the list
};

token_buckets::token_buckets(const rate_limit_options& options) : state_(new state(options)) {}
void token_buckets::destroy(state* buckets) noexcept { delete buckets; }

std::chrono::nanoseconds token_buckets::take(std::string_view key, time_point when) {
  using seconds = std::chrono::duration<double>;
  const rate_limit_options& options = state_->options;
  const kept_key kept(key);
  const std::scoped_lock lock(state_->mutex);
  bucket& of_key = state_->find(kept.text, when);
  const double passed = std::max(0.0, seconds(when - of_key.filled).count());
  of_key.tokens = std::min(options.burst, of_key.tokens + passed * options.rate);
  of_key.filled = std::max(of_key.filled, when);
  constexpr double rounding = 1e-9;  // of sums of fractions: a client that waits as announced is let in
  if (of_key.tokens >= 1 - rounding) {
    of_key.tokens = std::max(0.0, of_key.tokens - 1);
    return std::chrono::nanoseconds::zero();
  }
  return std::chrono::ceil<std::chrono::nanoseconds>(
      seconds(std::min(max_retry_after, (1 - of_key.tokens) / options.rate)));
}

std::size_t token_buckets::size() const noexcept {
  const std::scoped_lock lock(state_->mutex);
  return state_->by_key.size();
}

std::string client_of(const request& r) {
  const address& peer = r.peer();
  if (!peer.is_v6() || is_v4(network_of(peer))) return peer.host();
  return peer.network_v6(8).host() + "/64";
}

response too_many_requests(std::chrono::nanoseconds wait) {
  const auto seconds = std::max<std::int64_t>(1, std::chrono::ceil<std::chrono::seconds>(wait).count());
  return response::error(429).add_field("Retry-After", std::to_string(seconds));
}

}  // namespace gyre::http
