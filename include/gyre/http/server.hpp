// gyre/http/server.hpp: serves HTTP/1.1 and HTTP/1.0 over any byte stream. RFC 9110, RFC 9112.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/coro/owned.hpp>
#include <gyre/coro/task.hpp>
#include <gyre/http/server_options.hpp>
#include <gyre/net/address.hpp>
#include <gyre/stream/any_stream.hpp>

#include <cstddef>
#include <string>

namespace gyre::http {

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
  /// limits that let no request through, such as 0 connections, for a negative time-out, for a name that is no field
  /// value, and for encryption that offers another protocol than "http/1.1".
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
