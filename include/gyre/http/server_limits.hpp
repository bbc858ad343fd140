// gyre/http/server_limits.hpp: limits and time-outs of a server.
#pragma once

#include <gyre/http/parse_error.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>

namespace gyre::http {

struct server_limits {
  head_limits head = {};  ///< a larger head is answered with 414 or 431
  /// Bytes. A longer body is answered with 413. body_reader::set_limit raises the limit for a route.
  std::uint64_t body = std::uint64_t{2} << 20U;
  std::size_t connections = 65'536;  ///< in total; further ones get 503, or nothing over TLS
  /// Connections from one IPv4 address, or from one /64 network of IPv6. A value that is set applies to every client.
  /// Defaults to 1,024 for clients on the internet. Loopback, private, shared (100.64.0.0/10) and link-local addresses
  /// have no limit by default, because a reverse proxy or a container's gateway has such an address.
  std::optional<std::size_t> connections_per_address = {};
  static constexpr std::size_t default_connections_per_address = 1024;
  /// TLS handshakes in progress, on each loop; one begins with the first byte of its client. A further one makes the
  /// server give up the oldest.
  std::size_t handshakes = 1024;
  std::uint64_t requests_per_connection = 1'000'000;  ///< the last one is answered with "Connection: close"
};

/// std::chrono::nanoseconds::max() means no time-out.
struct server_timeouts {
  /// From the first byte of a head, or from the beginning of the connection, to the end of the head. After that the
  /// server answers 408, or nothing if the connection never sent a byte.
  std::chrono::nanoseconds head = std::chrono::seconds(15);
  /// From the beginning of an encrypted connection to the end of its handshake. Then it is closed.
  std::chrono::nanoseconds handshake = std::chrono::seconds(10);
  /// Between two requests; then the connection is closed. Empty lines are no request: they extend the time once in
  /// total. Responses announce it, in whole seconds (Keep-Alive: timeout=75), so that no client sends a request at the
  /// moment at which the connection closes.
  std::chrono::nanoseconds idle = std::chrono::seconds(75);
  /// For each 16 KiB of a body that a handler waits for, chunk framing included, so no sender can be slower than that
  /// for long. After that the server answers 408. The rest of a body that no handler wants is discarded after the
  /// response has been sent. It has this time in total, but at most 30 s, and ends with the handler's time.
  std::chrono::nanoseconds body = std::chrono::seconds(30);
  /// The client must accept 64 KiB of the response per interval. A stalled client is detected after one to two
  /// intervals. The connection is then reset.
  std::chrono::nanoseconds write = std::chrono::seconds(30);
  /// From the call of the handler to the end of its response. After that the server answers 503, or cuts the response
  /// off.
  std::chrono::nanoseconds handler = std::chrono::nanoseconds::max();
  /// For the answer to a client that has closed its sending side: it may have left, or only have nothing more to ask.
  /// After that it counts as gone. A file or a value that is being sent continues for as long as the client accepts it.
  std::chrono::nanoseconds half_closed = std::chrono::seconds(1);
  /// For requests that are being answered when the server is asked to stop. After that they are cancelled.
  std::chrono::nanoseconds drain = std::chrono::seconds(10);
  /// For idle connections when the server is asked to stop. A request that is already on its way is still answered.
  std::chrono::nanoseconds last_request = std::chrono::milliseconds(250);
};

}  // namespace gyre::http
