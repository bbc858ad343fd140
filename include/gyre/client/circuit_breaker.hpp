// gyre/client/circuit_breaker.hpp: sends no requests to a server that keeps failing.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/client/client_middleware.hpp>

#include <chrono>

namespace gyre::http {

struct circuit_breaker_options {
  /// An origin is left alone after so many failures in a row: errors, time-outs, and statuses from 500 on.
  unsigned failures = 5;
  /// For so long. Then a single request finds out whether it works again.
  std::chrono::nanoseconds pause = std::chrono::seconds(30);
};

/// Fails requests at once, with client_errc::circuit_open, while their origin has a pause. Each origin counts for
/// itself. Cancelled requests do not count. Errors: std::invalid_argument for 0 failures.
///
/// Clients that are given copies of one middleware, also clients of several loops, share the counts: a server that
/// fails gets a pause from all loops, and one request of all of them finds out. Thread: any.
[[nodiscard]] GYRE_API client_middleware circuit_breaker(circuit_breaker_options options = {});

}  // namespace gyre::http
