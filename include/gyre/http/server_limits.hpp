// gyre/http/server_limits.hpp: what a server takes from a client, and how long it waits for it.
#pragma once

#include <gyre/http/head_parser.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>

namespace gyre::http {

struct server_limits {
  head_limits head = {};                         ///< more is answered with 414 or 431
  std::uint64_t body = std::uint64_t{2} << 20U;  ///< bytes, more: 413; body_reader::set_limit raises it for a route
  std::size_t connections = 65'536;              ///< in all; further ones are answered with 503 and closed
  /// The same for those from one IPv4 address, or from one /64 network of IPv6. A value that is set holds for every client.
  /// Defaults to 1,024 for clients on the internet and to no limit for loopback, private, shared (100.64.0.0/10) and
  /// link-local addresses, which a reverse proxy or a container's gateway has.
  std::optional<std::size_t> connections_per_address = {};
  static constexpr std::size_t default_connections_per_address = 1024;
  std::uint64_t requests_per_connection = 1'000'000;  ///< the last one is answered with "Connection: close"
};

/// A time-out that never comes is std::chrono::nanoseconds::max().
struct server_timeouts {
  /// From the first byte of a head, or from the beginning of the connection, to the end of the head. Later: 408, or nothing
  /// for a connection that never sent a byte.
  std::chrono::nanoseconds head = std::chrono::seconds(15);
  /// Between two requests; then the connection is closed. Empty lines are no request, and have the time once more in all.
  std::chrono::nanoseconds idle = std::chrono::seconds(75);
  /// For each 16 KiB of a body, with what is around its chunks, that a handler waits for; so no sender can be slower than that
  /// for long. Later: 408.
  std::chrono::nanoseconds body = std::chrono::seconds(30);
  /// For each 64 KiB of a response that the client has to take; one that stops is noticed after one to two of it. Later:
  /// the connection is reset.
  std::chrono::nanoseconds write = std::chrono::seconds(30);
  /// From the call of the handler to the end of its response. Later: 503, or a response cut off.
  std::chrono::nanoseconds handler = std::chrono::nanoseconds::max();
  /// For the answer to a client that has closed its sending side: it may have left, or only have nothing more to ask. Then it
  /// counts as gone. A file or a value that is being sent goes on for as long as the client takes it.
  std::chrono::nanoseconds half_closed = std::chrono::seconds(1);
  /// For requests that are being answered when the server is told to stop; then they are cancelled.
  std::chrono::nanoseconds drain = std::chrono::seconds(10);
  /// For idle connections at that time: a request that is on its way is still answered.
  std::chrono::nanoseconds last_request = std::chrono::milliseconds(250);
};

}  // namespace gyre::http
