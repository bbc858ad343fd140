// gyre/testing/http_mock_server.hpp: an HTTP server in memory that answers what a test says.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/coro/task.hpp>
#include <gyre/http/handler.hpp>
#include <gyre/stream/any_stream.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gyre::testing {

struct http_mock_state;

/// A request that a mock server has received.
struct http_mock_request {
  std::string origin = {};  ///< "https://api.test": where the client wanted to send it
  std::string method = {};
  std::string target = {};
  std::vector<std::pair<std::string, std::string>> fields = {};
  std::string body = {};  ///< empty if a handler answered, which reads it itself
  int connection = 0;     ///< 1 for the first one

  /// The value of the first field with this name, or empty when there is none.
  [[nodiscard]] GYRE_API std::string_view field(std::string_view name) const noexcept;
};

/// Opens connections to a mock server. Copies are equal. Requests for https are not encrypted on them.
class http_mock_connector {
 public:
  static constexpr bool secure = true;
  explicit http_mock_connector(http_mock_state* state) noexcept : state_(state) {}
  /// Errors: io_error connection_refused, after http_mock_server::refuse.
  template <class Url>
  [[nodiscard]] GYRE_CORO_WRAPPER task<any_stream> operator()(const Url& to) const {
    return connect(std::string(to.origin()));
  }

 private:
  [[nodiscard]] GYRE_API task<any_stream> connect(std::string origin) const;
  http_mock_state* state_;
};

/// An HTTP server in memory, for tests of code that sends requests:
///
///   testing::http_mock_server server;
///   server.reply(503).reply(200, "hello");
///   http::client client({.retries = {.attempts = 2}, .connector = server.connector()});
///   auto response = co_await client.get("https://api.test/");
///   EXPECT_EQ(server.requests().size(), 2U);
///
/// Requests are answered by the replies, in the order in which they arrive. When none is left, the handler answers, or
/// status 501 with a sentence that names the request.
/// Lifetime: outlives the requests. A connection that is closed by its client still needs some turns of the loop.
/// Thread: that of the loop it is used on. Time: works on virtual time, so tests of time-outs and retries take none.
class GYRE_API http_mock_server {
 public:
  http_mock_server();
  explicit http_mock_server(http::handler routes);
  http_mock_server& operator=(http_mock_server&&) = delete;
  ~http_mock_server();

  /// For client_options::connector. Lifetime: of the server.
  [[nodiscard]] http_mock_connector connector() noexcept { return http_mock_connector(state_); }

  /// Answers the next request that has no reply yet.
  http_mock_server& reply(http::response answer);
  http_mock_server& reply(int status, std::string_view text = {});

  /// A connection goes on, or ends, after bytes of the test's own.
  enum class then : std::uint8_t { stay_open, close, reset };
  /// Sends bytes unchanged: responses that are cut off, malformed or strange.
  http_mock_server& reply_bytes(std::string bytes, then after = then::close);
  /// Never answers. The connection stays open until the client leaves.
  http_mock_server& stall();
  /// Refuses the next connection that is not refused yet.
  http_mock_server& refuse();

  /// Waits until no connection is open. A client closes its idle ones when it is destroyed.
  ///
  /// Cancel: nothing happens.
  [[nodiscard]] task<> closed();

  /// All requests so far.
  [[nodiscard]] const std::vector<http_mock_request>& requests() const noexcept;
  /// Connections so far, without the refused ones.
  [[nodiscard]] int connections() const noexcept;
  /// Replies that no request has got yet.
  [[nodiscard]] std::size_t replies_left() const noexcept;

 private:
  http_mock_state* state_;
};

}  // namespace gyre::testing
