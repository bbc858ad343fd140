// src/http/connection_progress.hpp: what is known of a request on its way through a connection.
#pragma once

#include <gyre/loop/deadline.hpp>

#include "connection.hpp"

#include <chrono>
#include <cstdint>

namespace gyre::http {

/// From when to when, without a look at the clock when nobody wants to know.
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

/// Of one request, on its way through.
struct connection::progress {
  stopwatch clock;
  bool keep_alive = false;  // the client wants to send more
  bool http_1_0 = false;
  int status = 503;  // of a request that was ended before there was an answer
  std::uint64_t body_bytes = 0;
  bool complete = false;
  exchange_scope* scope = nullptr;
};

/// Tells the observer of a request when it is over, however that comes: who cancels the connection ends it too.
class connection::told_at_end {
 public:
  told_at_end(const connection& c, const workspace& work, const progress& p) noexcept
      : connection_(c), work_(work), progress_(p) {}
  told_at_end(const told_at_end&) = delete;
  told_at_end& operator=(const told_at_end&) = delete;
  ~told_at_end() {
    if (connection_.server_.options.observer != nullptr) connection_.tell_observer(work_, progress_);
  }

 private:
  const connection& connection_;
  const workspace& work_;
  const progress& progress_;
};

}  // namespace gyre::http
