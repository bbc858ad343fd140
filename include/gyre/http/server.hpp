// gyre/http/server.hpp: serves HTTP/1.1 and HTTP/1.0 over any byte stream. RFC 9110, RFC 9112.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/coro/owned.hpp>
#include <gyre/coro/task.hpp>
#include <gyre/http/handler.hpp>
#include <gyre/http/route_factory.hpp>
#include <gyre/http/server_limits.hpp>
#include <gyre/net/secure_session.hpp>
#include <gyre/net/tcp_listener.hpp>
#include <gyre/stream/any_stream.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace gyre::http {

/// A finished request, for logs and counters.
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

struct server_state;

/// A server on one loop, or on several.
///
/// Handlers run in the task of their connection. They are cancelled when their client leaves, when a client that has
/// closed its sending side has waited for `timeouts.half_closed`, when their time is over, and at the end of a drain.
/// An exception becomes 500 and goes to the loop's exception handler, which prints it.
/// Using a moved-from server stops the program with a message.
/// Thread: belongs to the loop on which it was made.
class GYRE_API server {
 public:
  /// Listens. Errors: io_error "listen 127.0.0.1:80: Permission denied"; std::invalid_argument without routes, for
  /// limits that let no request through, such as 0 connections, for a negative time-out, and for a name that is no
  /// field value.
  explicit server(server_options options);
  /// Accepts and serves until the program is asked to stop (SIGINT and SIGTERM under run_main, request_stop) or the
  /// server is cancelled. Then it drains: requests that have begun are answered, with "Connection: close"; idle
  /// connections are closed; requests that take longer than timeouts.drain are cancelled. After a stop request run()
  /// returns normally. A server that starts after the request drains at once.
  ///
  /// Cancel: drains, then throws `cancelled`. When the program is forced to end (see run_options), the drain is over at
  /// once.
  /// With several threads, an error on one loop ends the server on all.
  /// Errors: io_error when accepting fails for good, or another loop cannot listen; std::logic_error when the server
  /// does not listen; std::invalid_argument for several threads outside of a runtime; whatever make_routes throws.
  [[nodiscard]] task<> run();

  /// Serves one connection of any kind, such as TLS or memory. Returns when it has ended.
  ///
  /// A generic stream reports its end only to a reader, so the server reads up to 64 KiB ahead while a handler runs. If
  /// more is pending, a disconnect is noticed only after the handler has read some of it or has answered.
  ///
  /// After a stop request the connection drains as in run(), and this returns normally. It does not count as a server
  /// that observes the request: the caller's accept loop does that, with stop_requested().
  /// Cancel: the connection is cut off. Errors: none; errors of the connection end it.
  [[nodiscard]] task<> serve_connection(any_stream stream, address peer = {});

  /// The address that the server listens on, with the port that the kernel chose: "127.0.0.1:34567", "unix:/run/x".
  [[nodiscard]] const std::string& where() const noexcept;
  /// Number of open connections. With several threads: of all servers that share the counter.
  [[nodiscard]] std::size_t connections() const noexcept;
  /// True once the server has begun to drain.
  [[nodiscard]] bool draining() const noexcept;

 private:
  [[nodiscard]] server_state& state() const noexcept;
  static void destroy(server_state* state) noexcept;
  owned<server_state*, &destroy> state_;
};

/// Makes a server and runs it.
///
/// Cancel: drains, same as server::run. Errors: same as server and server::run.
[[nodiscard]] GYRE_API task<> serve(server_options options);

}  // namespace gyre::http
