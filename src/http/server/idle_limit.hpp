// src/http/server/idle_limit.hpp: how long a connection may wait for its next request.
#pragma once

#include <gyre/io/backend.hpp>

#include "server_state.hpp"

#include <algorithm>
#include <cstdint>

namespace gyre::http {

/// Computes the ends of the waits of one connection for requests. Bytes that are no request (empty lines) set an end to
/// all waits until a request comes.
class idle_limit {
 public:
  /// Begins a wait at `now`, after that many requests. Returns its end, io::wait_forever for none.
  io::monotonic_time begin(const server_state& server, std::uint64_t requests, io::monotonic_time now) noexcept {
    return until_ = std::min(last_, now + std::min(patience(server, requests), io::wait_forever - now));
  }
  /// The end of the last wait that was begun.
  [[nodiscard]] io::monotonic_time until() const noexcept { return until_; }
  /// True when no further wait may begin.
  [[nodiscard]] bool is_over(io::monotonic_time now) const noexcept { return last_ <= now; }

  /// A wait that begins before the next request ends at `last` at the latest.
  void set_last(io::monotonic_time last) noexcept { last_ = last; }
  void came_request() noexcept { last_ = io::wait_forever; }
  void came_others(const server_state& server, std::uint64_t requests, io::monotonic_time now) noexcept {
    constexpr io::monotonic_time max_wait = 86'400'000'000'000;  // a day
    if (last_ == io::wait_forever) last_ = now + std::min(patience(server, requests), max_wait);
  }

 private:
  static io::monotonic_time patience(const server_state& server, std::uint64_t requests) noexcept {
    const server_timeouts& limits = server.app.options.timeouts;
    return (server.app.draining ? limits.last_request : requests == 0 ? limits.head : limits.idle).count();
  }

  io::monotonic_time last_ = io::wait_forever;
  io::monotonic_time until_ = io::wait_forever;
};

}  // namespace gyre::http
