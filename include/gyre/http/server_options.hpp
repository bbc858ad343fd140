// gyre/http/server_options.hpp: what a server answers, where it listens, and its limits.
#pragma once

#include <gyre/http/exchange_observer.hpp>
#include <gyre/http/handler.hpp>
#include <gyre/http/route_factory.hpp>
#include <gyre/http/server_limits.hpp>
#include <gyre/net/secure_session.hpp>
#include <gyre/net/tcp_listener.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace gyre::http {

/// A TLS handshake that has failed, for logs and counters.
struct failed_handshake {
  const address& peer;
  std::string_view reason;  ///< for people: "handshake failed: unsupported protocol"
};

/// Called for each connection whose handshake fails: the client speaks another protocol or version, refuses or lacks a
/// certificate, leaves, or takes too long. Not called for a client that leaves without having sent a byte, nor for
/// handshakes that a drain ends. Anybody may cause many failures, so a log should limit its lines.
/// Thread: that of the connection.
struct handshake_observer {
  virtual ~handshake_observer() = default;
  /// Lifetime: `what` is valid during the call.
  virtual void handshake_failed(const failed_handshake& what) noexcept = 0;
};

class shared_connection_count;

struct server_options {
  /// The address: "127.0.0.1:8080", ":8080", "[::]:80", or "unix:" and a path. The kernel chooses a port for port 0. An
  /// empty string means that the server does not listen: it only gets connections from serve_connection.
  std::string listen = "127.0.0.1:8080";
  /// Answers the requests. With several threads, all loops call it at the same time: handlers must share nothing that
  /// is not thread-safe. A router and the middleware of this library are thread-safe.
  handler routes = {};
  /// Instead of `routes`: called on each loop, for handlers that share nothing with those of the other loops.
  route_factory make_routes = {};
  /// The number of loops of the runtime that serve, beginning with that of server::run. The runtime starts loops that
  /// are missing; 0 means all of its loops. The limits hold for all loops together. See accept_mode.
  std::size_t threads = 1;
  accept_mode accept = accept_mode::reuse_port;  ///< with several threads
  server_limits limits = {};
  server_timeouts timeouts = {};
  listen_options socket = {};
  /// Value of the Server field. No field is sent when it is empty. A response with a Server field keeps its own.
  std::string name = {};
  /// Must outlive the server. With several threads, all loops call it at the same time; see loop_local.
  exchange_observer* observer = nullptr;
  /// Encrypts the connections that the server accepts: see tls::server_sessions. Defaults to plain text.
  security encryption = {};
  /// Called for each handshake that fails. Must outlive the server. With several threads, all loops call it at the same
  /// time. Defaults to null.
  handshake_observer* failed_handshakes = nullptr;
  /// Shared connection counter. Servers that share one enforce their limits together. Must outlive them. Defaults to
  /// null: this server counts alone.
  shared_connection_count* counted_with = nullptr;
  /// A stop request (SIGTERM, request_stop) makes server::run and serve_connection drain and return. False means that
  /// they run until they are cancelled: an admin server that answers while others drain.
  bool observe_stop = true;
};

}  // namespace gyre::http
