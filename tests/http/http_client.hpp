// tests/http/http_client.hpp: a client that sends given bytes and parses the responses.
#pragma once

#include <gyre/gyre.hpp>
#include <gyre/http.hpp>
#include <gyre/testing/http_test_client.hpp>

#include "tests/http/direct_front.hpp"
#include "tests/http/over_tls.hpp"
#include "tests/support/body_ref.hpp"
#include "tests/support/co_assert.hpp"
#include "tests/support/virtual_run.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <source_location>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gyre_test {

namespace http = gyre::http;
using gyre::testing::http_answer;
using gyre::testing::http_direct_application;

template <class Stream>
class http_client {
 public:
  explicit http_client(Stream stream)
      : stream_(std::make_unique<Stream>(std::move(stream))),
        tls_(std::make_unique<encrypted_client<Stream>>(*stream_)) {}

  /// Does the handshake, if there is one, which otherwise the first operation does.
  gyre::task<> begin() {
    if (over_tls()) co_await tls_->shake_hands();
  }
  gyre::task<> send(std::string bytes) {
    const auto sent = std::as_bytes(std::span(bytes));
    if (over_tls())
      co_await tls_->write_all(sent);
    else
      (void)co_await stream_->write_all(sent);
  }
  /// Ends the sending side.
  gyre::task<> shutdown_write() {
    if (over_tls())
      co_await tls_->shutdown_write();
    else
      co_await stream_->shutdown_write();
  }
  /// Closes the connection, without a word of TLS.
  void close() { *stream_ = Stream(); }

  /// Returns the next response. Errors: std::runtime_error when there is none or it is incomplete.
  gyre::task<http_answer> answer(std::string method = "GET") {
    for (;;) {
      http::head_parser parser(http::head_parser::kind::response);
      while (parser.parse(received_) == http::parse_state::incomplete) co_await receive_or_fail();
      http::framing body;
      if (parser.error() != http::parse_error::none ||
          http::understand_response(parser, method, body) != http::parse_error::none)
        throw std::runtime_error("no HTTP: " + received_);
      http_answer result;
      result.status = parser.status();
      for (const http::field& each : parser.fields()) result.fields.emplace_back(each.name, each.value);
      received_.erase(0, parser.size());
      if (result.status == 100) {
        ++interim_;
        continue;
      }
      co_await read_body(body, result.body);
      co_return result;
    }
  }

  /// Sends a request, and returns the next response.
  gyre::task<http_answer> ask(std::string request, std::string method = "GET") {
    co_await send(std::move(request));
    co_return co_await answer(std::move(method));
  }

  /// Waits for further bytes.
  gyre::task<bool> receive() {
    std::array<std::byte, 16'384> buffer;
    std::size_t size = 0;
    try {
      if (over_tls())
        size = co_await tls_->read_some(buffer);
      else
        size = co_await stream_->read_some(buffer);
    } catch (const gyre::io_error&) {
      was_reset_ = true;
    }
    received_.append(reinterpret_cast<const char*>(buffer.data()), size);
    co_return size > 0;
  }
  /// Returns everything up to the end of the connection.
  gyre::task<std::string> rest() {
    for (bool more = true; more;) more = co_await receive();
    co_return std::exchange(received_, {});
  }

  /// Expects that the connection ends, and that nothing more comes before.
  gyre::task<> expect_end(std::source_location where = std::source_location::current()) {
    const std::string all = co_await rest();
    EXPECT_EQ(all, "") << where.file_name() << ":" << where.line();
  }

  /// The stream below TLS.
  [[nodiscard]] Stream& stream() noexcept { return *stream_; }
  [[nodiscard]] bool was_reset() const noexcept { return was_reset_; }
  /// The number of "100 Continue" responses that were skipped.
  [[nodiscard]] int interim() const noexcept { return interim_; }
  /// The bytes that have arrived and belong to no response that was returned.
  [[nodiscard]] const std::string& received() const noexcept { return received_; }

 private:
  gyre::task<> receive_or_fail() {
    const bool more = co_await receive();
    if (!more) fail_at_end();
  }
  gyre::task<> read_body(const http::framing& framing, std::string& out) {
    http::body_decoder body;
    body.begin(framing);
    while (!body.at_end()) {
      std::string_view rest = received_;
      out.append(body.take(rest));
      received_.erase(0, received_.size() - rest.size());
      if (body.error() != http::parse_error::none) throw std::runtime_error("malformed chunks");
      if (!received_.empty() || body.at_end()) continue;
      const bool more = co_await receive();
      if (!more && !body.end_of_stream()) fail_at_end();
    }
  }
  [[noreturn]] void fail_at_end() const {
    throw std::runtime_error("the connection has ended behind \"" + received_ + '"');
  }

  std::unique_ptr<Stream> stream_;
  std::unique_ptr<encrypted_client<Stream>> tls_;
  std::string received_;
  bool was_reset_ = false;
  int interim_ = 0;
};

using memory_client = http_client<gyre::memory_stream>;
using tcp_client = http_client<gyre::tcp_stream>;

inline http::server_options options_for(http::handler routes) {
  http::server_options options;
  options.routes = std::move(routes);
  options.listen = "127.0.0.1:0";
  return options;
}

/// Options for a server that is given its connections.
inline http::server_options without_port(http::server_options options) {
  options.listen.clear();
  return options;
}

/// Answers every request with that text.
inline http::handler says(std::string text) {
  return [text = std::move(text)](http::request&) { return http::response::text(std::string_view(text)); };
}

/// Answers with the body of the request.
inline gyre::task<http::response> echo_body(http::request& r) {
  std::string all = co_await r.body().read_all();
  co_return http::response::text(std::move(all));
}

/// Does not read the body of the request.
inline http::response ignore_body(http::request&) { return http::response::text("ignored"); }

/// Never ends unless it is cancelled.
inline gyre::task<> forever() { co_await gyre::sleep(std::chrono::hours(100'000)); }

/// The failures reported to the loop's exception handler since this was constructed.
class reports {
 public:
  reports() {
    gyre::event_loop::current().set_exception_handler(
        [](const gyre::background_failure& failure, void* all) noexcept {
          static_cast<reports*>(all)->names.emplace_back(failure.task_name);
          static_cast<reports*>(all)->kinds.emplace_back(failure.kind);
          static_cast<reports*>(all)->places.push_back(failure.spawned_at);
          try {
            std::rethrow_exception(failure.exception);
          } catch (const std::exception& error) {
            static_cast<reports*>(all)->texts.emplace_back(error.what());
          }
        },
        this);
  }
  reports(const reports&) = delete;
  ~reports() {
    gyre::event_loop::current().set_exception_handler([](auto&, void*) noexcept {}, nullptr);
  }
  std::vector<std::string> names;  // of the failed tasks
  std::vector<std::string> kinds;
  std::vector<std::source_location> places;
  std::vector<std::string> texts;
};

/// Records the calls of an observer.
struct exchange_log : http::exchange_observer {
  void answered(const http::exchange& what) noexcept override {
    targets.emplace_back(what.request.target());
    statuses.push_back(what.status);
    bytes.push_back(what.body_bytes);
    complete.push_back(what.complete);
  }
  std::vector<std::string> targets;
  std::vector<int> statuses;
  std::vector<std::uint64_t> bytes;
  std::vector<bool> complete;
};

inline const std::string hello_request = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
inline std::string get_request(const std::string& target, const std::string& more = "") {
  return "GET " + target + " HTTP/1.1\r\nHost: a\r\n" + more + "\r\n";
}
/// A head without its end.
inline const std::string begun_post = "POST / HTTP/1.1\r\nHost: a\r\n";

/// The status of a response, or 0 if there is none.
inline int status_of(const std::string& bytes) { return bytes.size() < 12 ? 0 : std::stoi(bytes.substr(9, 3)); }

/// Closes the connection with a reset.
inline void reset(memory_client& client) {
  client.stream().abort();
  client.close();
}

/// A server that is given connections in memory. In the direct variant, an application without a server.
class memory_server {
 public:
  explicit memory_server(http::server_options options) {
    if (directly())
      direct_ = std::make_shared<http_direct_application>(std::move(options));
    else
      server_ = std::make_shared<http::server>(without_port(std::move(options)));
  }

  [[nodiscard]] memory_client connect(std::size_t capacity = 65'536) {
    gyre::memory_pair pair(capacity);
    if (directly())
      gyre::spawn(direct_front::serve(direct_, std::move(pair.second), direct_open_)).detach();
    else
      gyre::spawn(serve(server_, gyre::any_stream(std::move(pair.second)))).detach();
    return memory_client(std::move(pair.first));
  }
  /// Sends one request on a new connection.
  gyre::task<http_answer> get(std::string target) {
    auto client = connect();
    co_await client.send("GET " + target + " HTTP/1.1\r\nHost: a\r\n\r\n");
    co_return co_await client.answer();
  }
  [[nodiscard]] std::size_t connections() const { return directly() ? *direct_open_ : server_->connections(); }
  [[nodiscard]] http::server& server() {
    if (!server_) throw std::logic_error("the direct variant has no server");
    return *server_;
  }

 private:
  static gyre::task<> serve(std::shared_ptr<http::server> server, gyre::any_stream stream) {
    co_await serve_given(*server, std::move(stream));
  }
  std::shared_ptr<http::server> server_;
  std::shared_ptr<http_direct_application> direct_;
  std::shared_ptr<std::size_t> direct_open_ = std::make_shared<std::size_t>(0);
};

/// The test client of the library. In the direct variant, one without a connection.
class http_test_client {
 public:
  explicit http_test_client(http::handler routes) : http_test_client(options_for(std::move(routes))) {}
  explicit http_test_client(http::server_options options) {
    if (directly()) {
      direct_ = std::make_shared<http_direct_application>(std::move(options));
      client_.emplace(*direct_);
    } else {
      client_.emplace(std::move(options));
    }
  }

  GYRE_CORO_WRAPPER gyre::task<http_answer> request(std::string method, std::string target,
                                                    std::vector<std::pair<std::string, std::string>> fields,
                                                    std::string body) {
    count();
    return client_->request(std::move(method), std::move(target), std::move(fields), std::move(body));
  }
  GYRE_CORO_WRAPPER gyre::task<http_answer> request(std::string method, std::string target) {
    count();
    return client_->request(std::move(method), std::move(target));
  }
  GYRE_CORO_WRAPPER gyre::task<http_answer> get(std::string target) {
    count();
    return client_->get(std::move(target));
  }
  GYRE_CORO_WRAPPER gyre::task<http_answer> post(std::string target, std::string body, std::string media_type) {
    count();
    return client_->post(std::move(target), std::move(body), std::move(media_type));
  }
  gyre::task<std::string> exchange_bytes(std::string bytes, bool half_close = true) {
    if (!directly()) co_return co_await client_->exchange_bytes(std::move(bytes), half_close);
    gyre::memory_pair pair;
    gyre::spawn(direct_front::serve(direct_, std::move(pair.second))).detach();
    memory_client connection(std::move(pair.first));
    co_await connection.send(std::move(bytes));
    if (half_close) co_await connection.shutdown_write();
    co_return co_await connection.rest();
  }

 private:
  static void count() { direct_exchanges += directly() ? 1 : 0; }
  std::shared_ptr<http_direct_application> direct_;
  std::optional<gyre::testing::http_test_client> client_;
};

/// Runs `body(memory_server&)` on virtual time.
inline void run_in_memory(http::server_options options, body_ref<memory_server&> body) {
  run_virtual([&]() -> gyre::task<> {
    memory_server here(std::move(options));
    co_await body(here);
  });
}

/// Runs `body(memory_client&)` with one connection, on virtual time.
inline void run_client(http::server_options options, body_ref<memory_client&> body) {
  run_in_memory(std::move(options), [&](memory_server& here) -> gyre::task<> {
    auto client = here.connect();
    co_await body(client);
  });
}

/// A server and the one connection in memory that it has been given.
struct given_connection {
  explicit given_connection(http::server_options options) : given_connection(std::move(options), gyre::memory_pair()) {}

  http::server server;
  memory_client client;
  gyre::task_handle<void> serving;

 private:
  given_connection(http::server_options options, gyre::memory_pair pair)
      : server(without_port(std::move(options))),
        client(std::move(pair.first)),
        serving(gyre::spawn(serve_given(server, gyre::any_stream(std::move(pair.second))))) {}
};

}  // namespace gyre_test
