// gyre/testing/http_direct.hpp: calls an HTTP application without any protocol between the test and the application.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/coro/owned.hpp>
#include <gyre/coro/task.hpp>
#include <gyre/http/server_options.hpp>
#include <gyre/http/version.hpp>
#include <gyre/net/address.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace gyre::testing {

struct http_direct_app;
struct http_direct_client;

/// A request to an application.
struct http_direct_request {
  std::string method = "GET";
  std::string target = "/";
  /// Without Host, "Host: test" is added, except for HTTP/1.0. There is no Transfer-Encoding here.
  std::vector<std::pair<std::string, std::string>> fields = {};
  std::string body = {};  ///< the whole body, or its beginning
  /// The rest of the body follows by http_direct_exchange::send. Its length is known if the fields have a
  /// Content-Length. Otherwise that field is added for a body.
  bool streams = false;
  http::version version = http::version::http_1_1;
  address peer = {};
};

/// A part of an answer, in this order: interim answers, the head, pieces of the body, the end.
struct http_direct_part {
  enum class part : std::uint8_t { interim, head, body, end };
  part kind = part::end;
  int status = 0;                                                ///< of an interim answer or a head
  std::vector<std::pair<std::string, std::string>> fields = {};  ///< the same; trailers at the end
  std::string bytes = {};                                        ///< of the body
};

/// A request and its answer. Destroying it before the end of the answer is a client that leaves.
///
/// Thread: that of the loop it is used on. One task sends and one receives at a time.
class GYRE_API http_direct_exchange {
 public:
  /// Returns the next part of the answer.
  ///
  /// Cancel: nothing is lost. Errors: io_error with stream_errc::end_of_stream when the application gives no answer, or
  /// the client has left; with std::errc::connection_reset when the answer is cut off; std::logic_error when the
  /// application switches to another protocol, for which there is no connection here. The handler has ended then.
  [[nodiscard]] task<http_direct_part> receive();

  /// Adds to the body of the request. Waits while the application has 64 KiB that it has not read. No-op after the
  /// answer, as the application reads nothing more.
  ///
  /// Cancel: a part may have been added. Errors: std::logic_error for more than the announced length.
  [[nodiscard]] task<> send(std::string piece);
  /// Ends the body. Not needed after the announced length. Errors: std::logic_error for less than that;
  /// std::invalid_argument for a trailer that is no field.
  void finish(std::vector<std::pair<std::string, std::string>> trailers = {});
  /// The client sends nothing more, but waits for the answer. A body that has not ended is cut off. The application
  /// takes such a client for one that has left, after server_timeouts::half_closed.
  void close_sending() noexcept;
  /// The client leaves: the handler is cancelled.
  void reset() noexcept;

 private:
  friend class http_direct_application;
  explicit http_direct_exchange(http_direct_client* made) noexcept : client_(made) {}
  static void leave(http_direct_client* client) noexcept;
  owned<http_direct_client*, &leave> client_;
};

/// An application whose requests need no connection. Router, middleware, handlers and static files see the same
/// exchanges as those of a server, made without any text of HTTP. The limits of bodies and handlers hold; those of
/// heads and connections do not exist here. For requests that end with one answer see http_test_client.
///
///   http_direct_application app(make_routes());
///   auto exchange = app.begin({.method = "POST", .target = "/upload", .streams = true});
///   co_await exchange.send("first");
///   exchange.finish();
///   const auto head = co_await exchange.receive();
///
/// Give the exchange a name: g++ 12 destroys the temporary of `co_await app.begin(r).receive()` twice (see
/// docs/compilers.md).
///
/// Copies are the same application.
/// Lifetime: handlers that still wait when this is destroyed stay with the loop, which cancels them at its end.
/// Thread: that of the loop it is used on.
class GYRE_API http_direct_application {
 public:
  explicit http_direct_application(http::handler routes);
  /// Uses the routes, the limits of bodies, the time-outs of handlers, the name and the observer of `options`. Errors:
  /// same as http::server.
  explicit http_direct_application(http::server_options options);

  http_direct_application(const http_direct_application& other);
  http_direct_application& operator=(http_direct_application&&) = delete;
  ~http_direct_application();

  /// Begins an exchange, whose handler runs in a task of its own. A request to change the protocol (Upgrade) means
  /// nothing here, as in HTTP/2. Errors: std::invalid_argument for a method, target, field or length that no protocol
  /// carries.
  [[nodiscard]] http_direct_exchange begin(http_direct_request request);

 private:
  http_direct_app* app_;
};

}  // namespace gyre::testing
