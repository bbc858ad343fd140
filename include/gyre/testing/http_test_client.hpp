// gyre/testing/http_test_client.hpp: calls an HTTP application without a socket.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/coro/task.hpp>
#include <gyre/http/field.hpp>
#include <gyre/http/server_options.hpp>

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gyre::testing {

/// The answer of the application.
struct http_answer {
  int status = 0;
  std::string reason = {};
  std::vector<std::pair<std::string, std::string>> fields = {};
  std::string body = {};
  std::vector<std::pair<std::string, std::string>> trailers = {};

  /// The value of the first field with this name, or empty when there is none.
  [[nodiscard]] GYRE_API std::string_view field(std::string_view name) const noexcept;
};

struct http_test_state;
class http_direct_application;

/// Makes a test client without a connection: http_test_client app(direct, make_routes()).
struct direct_t {
  explicit direct_t() = default;
};
inline constexpr direct_t direct{};

/// An application and an in-memory connection to it. A request passes everything that a real one does, except the
/// kernel.
///
///   http_test_client app(make_routes());
///   const auto answer = co_await app.get("/users/7");
///   EXPECT_EQ(answer.status, 200);
///
/// A direct client has no connection: router, middleware, handlers and static files get the same exchanges, without the
/// text of HTTP/1.1, and a program that makes only such clients does not contain the code for it. So answers have no
/// fields of framing, the limits of heads and connections do not exist, and no other protocol can follow. See
/// http_direct.hpp for bodies in pieces, interim answers and clients that leave.
///
/// Lifetime: handlers that still wait when this is destroyed stay with the loop, which cancels them at its end.
/// Thread: that of the loop it is used on. One request at a time.
class GYRE_API http_test_client {
 public:
  explicit http_test_client(http::handler routes);
  /// Uses the limits, time-outs and observer of `options`, and ignores `options.listen`.
  explicit http_test_client(http::server_options options);
  /// Without a connection.
  http_test_client(direct_t mode, http::handler routes);
  http_test_client(direct_t mode, http::server_options options);
  explicit http_test_client(const http_direct_application& app);
  http_test_client& operator=(http_test_client&&) = delete;
  ~http_test_client();

  /// Sends a request on a connection that is reused as long as the application keeps it open. Adds Host and, with a
  /// body, Content-Length unless they are in `fields`. Skips interim answers (1xx).
  ///
  /// Cancel: the connection is dropped; without one, the client leaves. Errors: io_error when the application closes
  /// the connection without an answer, or cuts the answer off; std::runtime_error for an answer that is not HTTP.
  /// Without a connection also those of http_direct_application::begin, and std::logic_error for a switch to another
  /// protocol.
  task<http_answer> request(std::string method, std::string target,
                            std::vector<std::pair<std::string, std::string>> fields, std::string body);
  task<http_answer> request(std::string method, std::string target);
  task<http_answer> get(std::string target);
  task<http_answer> post(std::string target, std::string body, std::string media_type);

  /// Sends bytes unchanged on a connection of their own, then ends the sending side (unless `half_close` is false).
  /// Returns everything that comes back until the application closes or resets the connection. The application takes
  /// the end of the sending side for a client that left: it cancels a handler that waits.
  ///
  /// Cancel: same as request. Errors: none from the application; std::logic_error without a connection.
  task<std::string> exchange_bytes(std::string bytes, bool half_close = true);

 private:
  http_test_state* state_;
};

}  // namespace gyre::testing
