// tests/client/upload_server.hpp: an origin that takes large bodies, a server that passes them on, and a client of it.
#pragma once

#include "tests/client/passing_server.hpp"
#include "tests/support/body_ref.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace gyre_test {

/// A script of the origin, for "/KIND/SEED/SIZE". The kinds:
///   take          takes the body, and answers "taken"
///   slow, slower  the same, 100 KB every 20 or 60 ms
///   mute          takes the body, and never answers
///   early         takes a part of the body, answers 413, and goes on taking
///   reset, stall  takes a part, and then resets the connection, or does nothing more
inline gyre::task<> take_what_is_sent(peer& client) {
  checked_messages messages(client.stream());
  for (;;) {
    const std::string head = co_await messages.head();
    if (head.empty()) co_return;
    if (head.find("chunked") != std::string::npos) {  // to the end of the last chunk
      (void)co_await messages.head();
      co_await client.answer("taken");
      continue;
    }
    const ordered_body order = ordered_body::of(head.substr(0, head.find(" HTTP")));
    const bool partly = order.kind == "early" || order.kind == "reset" || order.kind == "stall";
    const bool slow = order.kind.starts_with("slow");
    if (order.kind == "stall" || slow) client.stream().set_receive_buffer_size(100'000);
    const std::size_t part = partly ? std::min<std::size_t>(order.size / 2, 1'500'000) : order.size;
    std::size_t taken = 0;
    while (taken < part) {
      const std::size_t to = std::min(part, taken + (slow ? 100'000 : part));
      const std::size_t came_to = co_await messages.take(order.seed, taken, to);
      if (came_to < to) co_return;
      taken = came_to;
      const std::chrono::milliseconds pause = order.kind == "slow" ? 20ms : 60ms;
      if (slow) co_await gyre::sleep(pause);
    }
    if (order.kind == "reset") co_return client.reset();
    if (order.kind == "stall") co_await gyre::sleep(1h);
    if (order.kind == "mute") {
      (void)co_await messages.head();
      co_return;
    }
    if (order.kind == "early") {
      co_await client.send("HTTP/1.1 413 Content Too Large\r\nContent-Length: 5\r\n\r\nlarge");
      (void)co_await messages.take(order.seed, taken, order.size);
      co_return;
    }
    co_await client.answer("taken");
  }
}

/// How a body was passed on.
struct upload {
  std::uint64_t received = 0;
  bool body_failed = false;
  bool cancelled = false;
  std::string error = {};
};

/// Passes on the bodies of requests with client_request::body.
class upload_server {
 public:
  upload_server(std::string origin, http::client_options client = {}, http::server_options options = {})
      : origin_(std::move(origin)), client_(std::move(client)), server_(with_routes(std::move(options))) {}
  upload_server(const upload_server&) = delete;
  upload_server& operator=(const upload_server&) = delete;

  [[nodiscard]] const std::string& where() const noexcept { return server_.where(); }
  [[nodiscard]] http::client& client() noexcept { return client_; }
  [[nodiscard]] const std::vector<upload>& passed() const noexcept { return passed_; }
  void set_limit(std::uint64_t bytes) noexcept { limit_ = bytes; }
  gyre::task<> run() { co_await server_.run(); }
  void start() { running_ = gyre::spawn(server_.run()); }
  gyre::task<> stop() {
    running_.cancel();
    co_await running_.wait();
    client_.close_idle();
  }
  gyre::task<> until_passed(std::size_t count) const {
    for (int n = 0; n < 5000 && passed_.size() < count; ++n) co_await gyre::sleep(1ms);
    EXPECT_EQ(passed_.size(), count);
  }

 private:
  http::server_options with_routes(http::server_options options) {
    options.listen = "127.0.0.1:0";
    options.routes = [this] GYRE_CORO_WRAPPER(http::request & request) { return answer(request); };
    return options;
  }
  gyre::task<http::response> answer(http::request& request) {
    request.body().set_limit(limit_);
    upload how{.cancelled = true};
    const auto note = gyre::scope_exit([&]() noexcept {
      how.received = request.body().received();
      how.body_failed = request.body().failed();
      passed_.push_back(how);
    });
    try {
      auto made = client_.request(request.method(), origin_ + std::string(request.target()));
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
  std::vector<upload> passed_;
  std::uint64_t limit_ = std::uint64_t{1} << 30U;
};

/// A client that sends bodies.
class uploader {
 public:
  explicit uploader(gyre::tcp_stream stream)
      : stream_(std::make_unique<gyre::tcp_stream>(std::move(stream))), messages_(*stream_) {}
  static gyre::task<uploader> connect(const upload_server& to) {
    auto stream = co_await gyre::tcp_stream::connect(to.where());
    co_return uploader(std::move(stream));
  }
  [[nodiscard]] gyre::tcp_stream& stream() noexcept { return *stream_; }
  [[nodiscard]] checked_messages& messages() noexcept { return messages_; }

  gyre::task<> begin(ordered_body order, std::string fields = {}) {
    (void)co_await stream_->write_all("PUT " + order.target() + " HTTP/1.1\r\nHost: a\r\nContent-Length: " +
                                      std::to_string(order.size) + "\r\n" + fields + "\r\n");
  }
  /// Sends a body. Returns the answer.
  gyre::task<std::string> put(ordered_body order) {
    co_await begin(order);
    (void)co_await messages_.give(order.seed, 0, order.size);
    co_return co_await messages_.answer();
  }
  void leave() {
    stream_->set_reset_on_close(true);
    *stream_ = gyre::tcp_stream();
  }

 private:
  std::unique_ptr<gyre::tcp_stream> stream_;
  checked_messages messages_;
};

/// Runs `body(origin, server)` beside an origin and a server that passes bodies on to it.
inline void with_upload_server(body_ref<passing_origin&, upload_server&> body, http::client_options client = {},
                               http::server_options options = {}) {
  run_bulk([&]() -> gyre::task<> {
    passing_origin origin(take_what_is_sent);
    upload_server server(origin.url(), client, std::move(options));
    origin.start();
    server.start();
    const auto outcome = co_await gyre::as_result(body(origin, server));
    co_await server.stop();
    co_await origin.stop();
    if (!outcome) std::rethrow_exception(outcome.error());
  });
}

}  // namespace gyre_test
