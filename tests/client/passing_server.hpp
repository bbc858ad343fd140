// tests/client/passing_server.hpp: a server that passes on the bodies of an origin, and a client of it.
#pragma once

#include <gyre/http/compress.hpp>

#include "tests/client/checked_messages.hpp"
#include "tests/support/body_ref.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace gyre_test {

/// How a body was passed on.
struct passing {
  std::uint64_t copied = 0;
  bool reader_failed = false;
  bool cancelled = false;
  std::string error = {};
};

/// Passes on the bodies of an origin with client_body::copy_to.
class passing_server {
 public:
  passing_server(std::string origin, http::client_options client = {}, http::server_options options = {},
                 bool compresses = false)
      : origin_(std::move(origin)),
        compresses_(compresses),
        client_(std::move(client)),
        server_(with_routes(std::move(options))) {}
  passing_server(const passing_server&) = delete;
  passing_server& operator=(const passing_server&) = delete;

  [[nodiscard]] const std::string& where() const noexcept { return server_.where(); }
  [[nodiscard]] http::client& client() noexcept { return client_; }
  [[nodiscard]] const std::vector<passing>& passed() const noexcept { return passed_; }
  /// Announces this length instead of the origin's.
  void announce(std::uint64_t length) noexcept { announced_ = length; }
  gyre::task<> run() { co_await server_.run(); }
  void start() { running_ = gyre::spawn(server_.run()); }
  void tell_to_stop() {
    stopping_ = true;
    running_.cancel();
  }
  [[nodiscard]] bool stopping() const noexcept { return stopping_; }
  gyre::task<> stopped() { co_await running_.wait(); }
  gyre::task<> stop() {
    tell_to_stop();
    co_await stopped();
    client_.close_idle();
  }

 private:
  struct body {
    http::client_response from;
    passing_server* server;
    gyre::task<> operator()(http::body_writer& to) {
      passing how{.cancelled = true};
      const auto note = gyre::scope_exit([&]() noexcept { server->passed_.push_back(how); });
      try {
        how.copied = co_await from.body().copy_to(to);
        how.cancelled = false;
      } catch (const std::exception& failure) {
        how = {.reader_failed = from.body().has_failed(), .error = failure.what()};
        throw;
      }
      EXPECT_TRUE(from.body().at_end());
      EXPECT_EQ(from.body().received(), how.copied);
      EXPECT_EQ(to.written(), how.copied);
    }
  };

  http::server_options with_routes(http::server_options options) {
    options.listen = "127.0.0.1:0";
    options.routes = [this] GYRE_CORO_WRAPPER(http::request & request) { return answer(request); };
    if (!compresses_) return options;
    http::router routes;
    routes.use(http::compress());
    routes.get("/{kind}/{seed}/{size}", std::move(options.routes));
    options.routes = std::move(routes);
    return options;
  }
  gyre::task<http::response> answer(http::request& request) {
    auto made = client_.request(request.method(), origin_ + std::string(request.target()));
    http::client_response from = co_await made.send();
    const auto length = from.body().length();
    const std::string type(from.field("Content-Type"));
    body streamed{std::move(from), this};
    auto response = http::response::stream(std::move(streamed), type);
    if (length) response.set_length(announced_.value_or(*length));
    co_return response;
  }

  std::string origin_;
  bool compresses_;
  http::client client_;
  http::server server_;
  gyre::task_handle<void> running_;
  std::vector<passing> passed_;
  std::optional<std::uint64_t> announced_;
  bool stopping_ = false;
};

/// A client of such a server that checks each byte.
class checking_client {
 public:
  explicit checking_client(gyre::tcp_stream stream)
      : stream_(std::make_unique<gyre::tcp_stream>(std::move(stream))), messages_(*stream_) {}
  static gyre::task<checking_client> connect(const passing_server& to) {
    auto stream = co_await gyre::tcp_stream::connect(to.where());
    co_return checking_client(std::move(stream));
  }
  [[nodiscard]] gyre::tcp_stream& stream() noexcept { return *stream_; }

  gyre::task<> ask(ordered_body order, std::string method = "GET", std::string version = "1.1") {
    (void)co_await stream_->write_all(method + " " + order.target() + " HTTP/" + version + "\r\nHost: a\r\n\r\n");
  }
  GYRE_CORO_WRAPPER gyre::task<std::string> head() { return messages_.head(); }
  /// The next bytes belong to another body.
  void begin() noexcept { position_ = 0; }
  /// Reads bytes of the body and checks them, `most` or fewer when the connection ends. Returns the number so far.
  gyre::task<std::size_t> read(unsigned seed, std::size_t most) {
    position_ = co_await messages_.take(seed, position_, most);
    co_return position_;
  }
  /// Asks for a body, and expects it.
  gyre::task<> fetch(ordered_body order) {
    begin();
    co_await ask(order);
    const std::string answered = co_await head();
    EXPECT_TRUE(answered.starts_with("HTTP/1.1 200 ")) << answered;
    EXPECT_EQ(co_await read(order.seed, order.size), order.size);
    EXPECT_FALSE(messages_.has_more());
  }
  /// Nothing more comes.
  GYRE_CORO_WRAPPER gyre::task<bool> at_end() { return messages_.at_end(); }
  [[nodiscard]] bool was_reset() const noexcept { return messages_.was_reset(); }
  [[nodiscard]] const std::string& received() const noexcept { return messages_.received(); }

 private:
  std::unique_ptr<gyre::tcp_stream> stream_;
  checked_messages messages_;
  std::size_t position_ = 0;
};

/// Runs `body(origin, server)` beside an origin and a server that passes on its bodies.
inline void with_passing_server(body_ref<passing_origin&, passing_server&> body, http::client_options client = {},
                                http::server_options options = {}) {
  run_bulk([&]() -> gyre::task<> {
    passing_origin origin;
    passing_server server(origin.url(), client, std::move(options));
    origin.start();
    server.start();
    const auto outcome = co_await gyre::as_result(body(origin, server));
    co_await server.stop();
    co_await origin.stop();
    if (!outcome) std::rethrow_exception(outcome.error());
  });
}

inline constexpr std::size_t much = 3'000'000;

/// Fetches several bodies at the same time, and several times over each connection.
inline gyre::task<> fetch_at_once(passing_server& server, std::span<const ordered_body> orders, int times = 1) {
  const auto fetch = [&](ordered_body order) -> gyre::task<> {
    auto client = co_await checking_client::connect(server);
    for (int n = 0; n < times; ++n) co_await client.fetch(order);
  };
  const auto all = [&](gyre::task_group& group) -> gyre::task<> {
    for (const ordered_body& each : orders) group.spawn(fetch(each));
    co_return;
  };
  co_await gyre::task_group::scope(all);
}

inline std::vector<ordered_body> several(std::string kind, std::size_t count = 4, std::size_t size = much) {
  std::vector<ordered_body> orders;
  for (unsigned n = 0; n < count; ++n) orders.push_back({kind, n, size});
  return orders;
}

}  // namespace gyre_test
