// tests/client/passing_server.hpp: an origin with large bodies, a server that passes them on, and a client of it.
#pragma once

#include <gyre/http/compress.hpp>
#include <gyre/testing/run_test.hpp>

#include "tests/client/scripted_server.hpp"
#include "tests/net/stream_flow.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <vector>

namespace gyre_test {

inline gyre::io::pipe_pool& pipes() { return gyre::event_loop::current().backend().pipes(); }

/// Servers report the bodies that break here. The tests look at what the clients see.
inline void expect_failures() {
  gyre::event_loop::current().set_exception_handler([](const gyre::background_failure&, void*) noexcept {}, nullptr);
}

/// Runs `body` on real time, with buffers that are soon full, so that a stream soon proves to be bulk. Nothing may be
/// left at the end.
template <class Body>
void run_bulk(Body body) {
  gyre::testing::test_options real;
  real.loop.virtual_time = false;
  real.loop.backend.large_buffer_size = 16 * 1024;
  const auto checked = [&body]() -> gyre::task<> {
    expect_failures();
    co_await body();
    for (int n = 0; n < 1000 && pipes().worth_it(); ++n) co_await gyre::sleep(1ms);
    EXPECT_EQ(pipes().in_use(), 0U);
    EXPECT_FALSE(pipes().worth_it()) << "nobody moves bulk any more";
  };
  EXPECT_NO_THROW(gyre::testing::run_test(checked, real));
}

/// Bytes that show their position. See byte_at().
inline std::string patterned(unsigned seed, std::size_t from, std::size_t size) {
  std::string text(size, '\0');
  for (std::size_t i = 0; i < size; ++i) text[i] = static_cast<char>(byte_at(seed, from + i));
  return text;
}

/// "/KIND/SEED/SIZE". The kinds:
///   sized, chunked, end   in this framing; the end of the connection ends the last
///   short, reset, stall   half of a sized body, then the end, a reset, or nothing
///   more                  a sized body, and as many bytes that do not belong to it
struct ordered_body {
  std::string kind;
  unsigned seed = 0;
  std::size_t size = 0;

  static ordered_body of(std::string_view request) {
    const std::size_t kind = request.find('/') + 1;
    const std::size_t seed = request.find('/', kind) + 1;
    const std::size_t size = request.find('/', seed) + 1;
    return {std::string(request.substr(kind, seed - kind - 1)),
            static_cast<unsigned>(std::stoul(std::string(request.substr(seed)))),
            std::stoul(std::string(request.substr(size)))};
  }
  [[nodiscard]] std::string target() const {
    return "/" + kind + "/" + std::to_string(seed) + "/" + std::to_string(size);
  }
};

/// A script of the origin: answers with the body that each request asks for.
inline gyre::task<> give_what_is_ordered(peer& client) {
  for (;;) {
    const std::string request = co_await client.request();
    if (request.empty()) co_return;
    const ordered_body order = ordered_body::of(request);
    std::string head = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n";
    if (order.kind == "chunked")
      head += "Transfer-Encoding: chunked\r\n\r\n";
    else if (order.kind == "end")
      head += "Connection: close\r\n\r\n";
    else
      head += "Content-Length: " + std::to_string(order.size) + "\r\n\r\n";
    co_await client.send(head);
    if (request.starts_with("HEAD ")) continue;
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
    if (order.kind == "end" || order.kind == "short") co_return client.close();
    if (order.kind == "reset") co_return client.reset();
    if (order.kind == "stall") (void)co_await client.rest();
  }
}

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
  explicit checking_client(gyre::tcp_stream stream) : stream_(std::move(stream)) {}
  static gyre::task<checking_client> connect(const passing_server& to) {
    auto stream = co_await gyre::tcp_stream::connect(to.where());
    co_return checking_client(std::move(stream));
  }
  [[nodiscard]] gyre::tcp_stream& stream() noexcept { return stream_; }

  gyre::task<> ask(ordered_body order, std::string method = "GET", std::string version = "1.1") {
    (void)co_await stream_.write_all(method + " " + order.target() + " HTTP/" + version + "\r\nHost: a\r\n\r\n");
  }
  gyre::task<std::string> head() {
    std::size_t end = 0;
    while ((end = received_.find("\r\n\r\n")) == std::string::npos) {
      const bool more = co_await receive();
      if (!more) co_return std::exchange(received_, {});
    }
    std::string head = received_.substr(0, end + 4);
    received_.erase(0, end + 4);
    co_return head;
  }
  /// The next bytes are those of another body.
  void begin() noexcept { position_ = 0; }
  /// Reads bytes of the body and checks them, `most` or fewer when the connection ends. Returns the number so far.
  gyre::task<std::size_t> read(unsigned seed, std::size_t most) {
    while (position_ < most) {
      if (received_.empty()) {
        const bool more = co_await receive();
        if (!more) break;
      }
      const std::size_t count = std::min(received_.size(), most - position_);
      for (std::size_t i = 0; i < count; ++i, ++position_)
        if (static_cast<std::byte>(received_[i]) != byte_at(seed, position_))
          throw std::runtime_error("byte " + std::to_string(position_) + " of " + std::to_string(seed) + " is another");
      received_.erase(0, count);
    }
    co_return position_;
  }
  /// Asks for a body, and expects it.
  gyre::task<> fetch(ordered_body order) {
    begin();
    co_await ask(order);
    const std::string answered = co_await head();
    EXPECT_TRUE(answered.starts_with("HTTP/1.1 200 ")) << answered;
    EXPECT_EQ(co_await read(order.seed, order.size), order.size);
    EXPECT_TRUE(received_.empty());
  }
  /// Nothing more comes.
  gyre::task<bool> at_end() {
    if (!received_.empty()) co_return false;
    const bool more = co_await receive();
    co_return !more;
  }
  [[nodiscard]] bool was_reset() const noexcept { return was_reset_; }
  [[nodiscard]] const std::string& received() const noexcept { return received_; }

 private:
  gyre::task<bool> receive() {
    std::string buffer(100'000, '\0');
    auto reading = stream_.read_some(std::span<char>(buffer));
    const auto count = co_await gyre::as_expected(std::move(reading));
    was_reset_ = was_reset_ || !count;
    if (!count || *count == 0) co_return false;
    received_.append(buffer.data(), *count);
    co_return true;
  }

  gyre::tcp_stream stream_;
  std::string received_;
  std::size_t position_ = 0;
  bool was_reset_ = false;
};

struct passing_origin {
  explicit passing_origin(peer_script script = give_what_is_ordered) : server(std::move(script)) {}
  void start() { running = gyre::spawn(server.run()); }
  [[nodiscard]] std::string url() const { return server.url({}); }
  gyre::task<> stop() {
    running.cancel();
    co_await running.wait();
  }
  scripted_server server;
  gyre::task_handle<void> running;
};

/// Runs `body(origin, server)` beside an origin and a server that passes on its bodies.
template <class Body>
void with_passing_server(Body body, http::client_options client = {}, http::server_options options = {}) {
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

}  // namespace gyre_test
