// tests/client/relay.hpp: an origin, a server that passes bodies on from and to it, and a client of that server.
#pragma once

#include <gyre/http/compress.hpp>

#include "tests/client/checked_messages.hpp"
#include "tests/support/body_ref.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace gyre_test {

inline constexpr std::size_t much = 3'000'000;

/// Gives a body. Returns false when the connection has ended.
inline gyre::task<bool> give(peer& client, ordered_body order, bool only_head) {
  std::string head = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n";
  if (order.kind == "chunked")
    head += "Transfer-Encoding: chunked\r\n\r\n";
  else if (order.kind == "end")
    head += "Connection: close\r\n\r\n";
  else
    head += "Content-Length: " + std::to_string(order.size) + "\r\n\r\n";
  co_await client.send(head);
  if (only_head) co_return true;
  std::size_t total = order.size;
  if (order.kind == "short" || order.kind == "reset" || order.kind == "stall") total /= 2;
  if (order.kind == "more") total *= 2;
  constexpr std::size_t most = 300'000;
  for (std::size_t sent = 0; sent < total;) {
    const std::size_t size = std::min(most, total - sent);
    std::string piece = patterned(order.seed, sent, size);
    if (order.kind == "chunked") {
      char length[20];
      std::snprintf(length, sizeof(length), "%zx\r\n", size);
      piece = length + piece + "\r\n";
    }
    co_await client.send(std::move(piece));
    sent += size;
  }
  if (order.kind == "chunked") co_await client.send("0\r\n\r\n");
  if (order.kind == "stall") (void)co_await client.rest();
  if (order.kind == "reset") client.reset();
  co_return order.kind != "end" && order.kind != "short" && order.kind != "reset";
}

/// Takes a body. Returns false when the connection has ended.
inline gyre::task<bool> take(peer& client, checked_messages& messages, ordered_body order) {
  const bool partly = order.kind == "early" || order.kind == "reset" || order.kind == "stall";
  const bool slow = order.kind.starts_with("slow");
  if (order.kind == "stall" || slow) client.stream().set_receive_buffer_size(100'000);
  const std::size_t part = partly ? std::min<std::size_t>(order.size / 2, 1'500'000) : order.size;
  std::size_t taken = 0;
  while (taken < part) {
    const std::size_t to = std::min(part, taken + (slow ? 100'000 : part));
    const std::size_t came_to = co_await messages.take(order.seed, taken, to);
    if (came_to < to) co_return false;
    taken = came_to;
    const std::chrono::milliseconds pause = order.kind == "slow" ? 20ms : 60ms;
    if (slow) co_await gyre::sleep(pause);
  }
  if (order.kind == "reset") client.reset();
  if (order.kind == "stall") co_await gyre::sleep(1h);
  if (order.kind == "mute") (void)co_await messages.head();
  if (order.kind == "early") {
    co_await client.send("HTTP/1.1 413 Content Too Large\r\nContent-Length: 5\r\n\r\nlarge");
    (void)co_await messages.take(order.seed, taken, order.size);
  }
  if (partly || order.kind == "mute") co_return false;
  co_await client.answer("taken");
  co_return true;
}

/// A script of the origin: gives the bodies that are asked for, and takes those that are sent.
inline gyre::task<> follow_orders(peer& client) {
  checked_messages messages(client.stream());
  for (bool goes_on = true; goes_on;) {
    const std::string head = co_await messages.head();
    if (head.empty()) break;
    const ordered_body order = ordered_body::of(head.substr(0, head.find(" HTTP")));
    if (!head.starts_with("PUT ")) {
      goes_on = co_await give(client, order, head.starts_with("HEAD "));
    } else if (head.find("chunked") != std::string::npos) {
      (void)co_await messages.head();  // to the end of the last chunk
      co_await client.answer("taken");
    } else {
      goes_on = co_await take(client, messages, order);
    }
  }
  client.close();
}

struct relayed_origin {
  explicit relayed_origin(peer_script script = follow_orders) : server(std::move(script)) {}
  void start() { running = gyre::spawn(server.run()); }
  [[nodiscard]] std::string url() const { return server.url({}); }
  gyre::task<> stop() {
    running.cancel();
    co_await running.wait();
  }
  scripted_server server;
  gyre::task_handle<void> running;
};

/// How a body was passed on.
struct relayed_body {
  std::uint64_t bytes = 0;
  bool source_failed = false;
  bool cancelled = false;
  std::string error = {};
};

/// Passes on bodies: those of responses with client_body::copy_to, those of requests with client_request::body.
class relay {
 public:
  relay(std::string origin, http::client_options client = {}, http::server_options options = {},
        bool compresses = false)
      : origin_(std::move(origin)), client_(std::move(client)), server_(with_routes(std::move(options), compresses)) {}
  relay(const relay&) = delete;
  relay& operator=(const relay&) = delete;

  [[nodiscard]] const std::string& where() const noexcept { return server_.where(); }
  [[nodiscard]] http::client& client() noexcept { return client_; }
  [[nodiscard]] const std::vector<relayed_body>& passed() const noexcept { return passed_; }
  gyre::task<> until_passed(std::size_t count) const {
    for (int n = 0; n < 5000 && passed_.size() < count; ++n) co_await gyre::sleep(1ms);
    EXPECT_EQ(passed_.size(), count);
  }
  /// Announces this length instead of the origin's.
  void announce(std::uint64_t length) noexcept { announced_ = length; }
  /// The limit of bodies of requests.
  void set_limit(std::uint64_t bytes) noexcept { limit_ = bytes; }
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
    relay* server;
    gyre::task<> operator()(http::body_writer& to) {
      relayed_body how{.cancelled = true};
      const auto note = gyre::scope_exit([&]() noexcept { server->passed_.push_back(how); });
      try {
        how.bytes = co_await from.body().copy_to(to);
        how.cancelled = false;
      } catch (const std::exception& failure) {
        how = {.source_failed = from.body().has_failed(), .error = failure.what()};
        throw;
      }
      EXPECT_TRUE(from.body().at_end());
      EXPECT_EQ(from.body().received(), how.bytes);
      EXPECT_EQ(to.written(), how.bytes);
    }
  };

  http::server_options with_routes(http::server_options options, bool compresses) {
    options.listen = "127.0.0.1:0";
    options.routes = [this] GYRE_CORO_WRAPPER(http::request & request) {
      return request.method() == "PUT" ? upload(request) : download(request);
    };
    if (!compresses) return options;
    http::router routes;
    routes.use(http::compress());
    routes.get("/{kind}/{seed}/{size}", std::move(options.routes));
    options.routes = std::move(routes);
    return options;
  }
  gyre::task<http::response> download(http::request& request) {
    auto made = client_.request(request.method(), origin_ + std::string(request.target()));
    http::client_response from = co_await made.send();
    const auto length = from.body().length();
    const std::string type(from.field("Content-Type"));
    body streamed{std::move(from), this};
    auto response = http::response::stream(std::move(streamed), type);
    if (length) response.set_length(announced_.value_or(*length));
    co_return response;
  }
  gyre::task<http::response> upload(http::request& request) {
    request.body().set_limit(limit_);
    relayed_body how{.cancelled = true};
    const auto note = gyre::scope_exit([&]() noexcept {
      how.bytes = request.body().received();
      how.source_failed = request.body().failed();
      passed_.push_back(how);
    });
    try {
      auto made = client_.request("PUT", origin_ + std::string(request.target()));
      made.body(request.body());
      http::client_response from = co_await made.send();
      const std::string text = co_await from.read_all();
      how.cancelled = false;
      auto response = http::response::text(text);
      response.set_status(from.status());
      if (!request.body().at_end()) response.close_connection();
      co_return response;
    } catch (const std::exception& failure) {
      how.cancelled = false;
      how.error = failure.what();
      throw;
    }
  }

  std::string origin_;
  http::client client_;
  http::server server_;
  gyre::task_handle<void> running_;
  std::vector<relayed_body> passed_;
  std::optional<std::uint64_t> announced_;
  std::uint64_t limit_ = std::uint64_t{1} << 30U;
  bool stopping_ = false;
};

/// Runs `body(origin, server)` beside an origin and a server that passes bodies on.
inline void with_relay(body_ref<relayed_origin&, relay&> body, http::client_options client = {},
                       http::server_options options = {}) {
  run_bulk([&]() -> gyre::task<> {
    relayed_origin origin;
    relay server(origin.url(), client, std::move(options));
    origin.start();
    server.start();
    const auto outcome = co_await gyre::as_result(body(origin, server));
    co_await server.stop();
    co_await origin.stop();
    if (!outcome) std::rethrow_exception(outcome.error());
  });
}

}  // namespace gyre_test
