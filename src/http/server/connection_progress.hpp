// src/http/server/connection_progress.hpp: the state of one request on its way through a connection.
#pragma once

#include <gyre/loop/deadline.hpp>

#include "connection.hpp"

#include <chrono>
#include <cstdint>

namespace gyre::http {

/// Measures the time from construction on. Reads the clock only if the result is wanted.
class stopwatch {
 public:
  explicit stopwatch(bool wanted) noexcept : began_(wanted ? now() : time_point()), wanted_(wanted) {}
  [[nodiscard]] std::chrono::nanoseconds passed() const noexcept {
    return wanted_ ? now() - began_ : std::chrono::nanoseconds();
  }

 private:
  time_point began_;
  bool wanted_;
};

/// The state of one request.
struct connection::progress {
  stopwatch clock;
  int status = 503;  // for a request that ended before it had an answer
  std::uint64_t body_bytes = 0;
  bool complete = false;
  exchange_scope* scope = nullptr;
};

/// Reports a request to the observer when it ends, also when the connection is cancelled.
class connection::observer_guard {
 public:
  observer_guard(const connection& c, const workspace& work, const progress& p) noexcept
      : connection_(c), work_(work), progress_(p) {}
  observer_guard& operator=(observer_guard&&) = delete;
  ~observer_guard() {
    if (connection_.server_.options.observer != nullptr) connection_.tell_observer(work_, progress_);
  }

 private:
  const connection& connection_;
  const workspace& work_;
  const progress& progress_;
};

}  // namespace gyre::http
