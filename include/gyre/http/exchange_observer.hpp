// gyre/http/exchange_observer.hpp: learns of finished requests.
#pragma once

#include <gyre/http/request.hpp>

#include <chrono>
#include <cstdint>

namespace gyre::http {

/// A finished request, for logs and counters. `request.route_pattern()` is a label that no client can invent.
struct exchange {
  const http::request& request;
  int status;                ///< of the answer; without one, 499 if the client left, 503 if the server ended it
  std::uint64_t body_bytes;  ///< bytes of the response's body that were handed to the kernel
  std::chrono::nanoseconds duration;  ///< from the end of the request's head
  bool complete;                      ///< the response was sent to its end
};

/// Called at the end of every request, including cancelled ones. Thread: that of the connection.
struct exchange_observer {
  virtual ~exchange_observer() = default;
  virtual void answered(const exchange& what) noexcept = 0;
};

}  // namespace gyre::http
