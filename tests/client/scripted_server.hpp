// tests/client/scripted_server.hpp: a server whose every byte is written by the test.
#pragma once

#include <gyre/client.hpp>
#include <gyre/gyre.hpp>
#include <gyre/http.hpp>

#include "tests/support/body_ref.hpp"
#include "tests/support/co_assert.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/real_run.hpp"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace gyre_test {

namespace http = gyre::http;
using namespace std::chrono_literals;

/// One accepted connection.
class peer {
 public:
  peer(gyre::tcp_stream stream, int number) : stream_(std::move(stream)), number_(number) {}

  /// 1 for the first connection of the server.
  [[nodiscard]] int number() const noexcept { return number_; }
  [[nodiscard]] gyre::tcp_stream& stream() noexcept { return stream_; }

  /// Returns the next request with a Content-Length or without a body; "" at the end of the connection.
  gyre::task<std::string> request() {
    constexpr std::string_view end_of_head = "\r\n\r\n";
    std::size_t head = 0;
    while ((head = received_.find(end_of_head)) == std::string::npos) {
      const bool more = co_await receive();
      if (!more) co_return std::exchange(received_, {});
    }
    head += end_of_head.size();
    constexpr std::string_view length = "Content-Length: ";
    const std::size_t at = received_.find(length);
    std::size_t size = head;
    if (at < head) size += std::stoul(received_.substr(at + length.size()));
    while (received_.size() < size) {
      const bool more = co_await receive();
      if (!more) co_return std::exchange(received_, {});
    }
    std::string all = received_.substr(0, size);
    received_.erase(0, size);
    co_return all;
  }
  /// Returns everything up to the end of the connection.
  gyre::task<std::string> rest() {
    for (bool more = true; more;) more = co_await receive();
    co_return std::exchange(received_, {});
  }
  /// Waits for further bytes. Returns false at the end of the connection.
  gyre::task<bool> receive() {
    std::array<char, 16'384> buffer;
    auto reading = stream_.read_some(std::span<char>(buffer));
    const auto count = co_await gyre::as_expected(std::move(reading));
    if (!count || *count == 0) co_return false;
    received_.append(buffer.data(), *count);
    co_return true;
  }
  [[nodiscard]] const std::string& received() const noexcept { return received_; }

  gyre::task<> send(std::string text) { (void)co_await stream_.write_all(text); }
  gyre::task<> answer(std::string body, std::string fields = {}) {
    std::string text = "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" + fields;
    co_await send(text + "\r\n" + body);
  }
  void close() { stream_ = gyre::tcp_stream(); }
  void reset() {
    stream_.set_reset_on_close(true);
    close();
  }

 private:
  gyre::tcp_stream stream_;
  std::string received_;
  int number_;
};

/// A callable that takes a peer& and returns a task<>.
class peer_script {
 public:
  template <class F>
    requires(!std::same_as<std::remove_cvref_t<F>, peer_script>)
  peer_script(F function) : run_(std::make_shared<holds<F>>(std::move(function))) {}  // NOLINT
  [[nodiscard]] gyre::task<> operator()(peer& client) const { co_await run_->run(client); }

 private:
  struct runs {
    runs() = default;
    runs& operator=(runs&&) = delete;
    virtual ~runs() = default;
    virtual gyre::task<> run(peer& client) = 0;
  };
  template <class F>
  struct holds final : runs {
    explicit holds(F&& f) : function(std::move(f)) {}
    gyre::task<> run(peer& client) override { co_await function(client); }
    F function;
  };
  std::shared_ptr<runs> run_;
};

/// Accepts connections and runs the script for each. Its errors of the connection are ignored: clients may leave.
class scripted_server {
 public:
  explicit scripted_server(peer_script script)
      : script_(std::move(script)), listener_(gyre::tcp_listener::bind("127.0.0.1:0")) {}

  [[nodiscard]] std::string url(std::string_view target = "/") const {
    return "http://" + listener_.local_address().string() + std::string(target);
  }
  [[nodiscard]] int connections() const noexcept { return connections_; }
  gyre::task<> run() {
    auto serve = [this](gyre::task_group& group) -> gyre::task<> {
      for (;;) {
        gyre::tcp_stream accepted = co_await listener_.accept();
        group.spawn(run_script(std::move(accepted)));
      }
    };
    co_await gyre::task_group::scope(serve);
  }

 private:
  gyre::task<> run_script(gyre::tcp_stream accepted) {
    peer connected(std::move(accepted), ++connections_);
    try {
      co_await script_(connected);
    } catch (const gyre::io_error&) {  // the client has left
    }
  }

  peer_script script_;
  gyre::tcp_listener listener_;
  int connections_ = 0;
};

/// "http://name.test:port/" of a server.
inline std::string named(const scripted_server& server, std::string_view scheme = "http") {
  return std::string(scheme) + "://name.test:" + std::to_string(http::url(server.url()).port()) + "/";
}

/// Runs `body(server)` beside the server, in real time.
inline void with_server(peer_script script, body_ref<scripted_server&> body) {
  run_real([&]() -> gyre::task<> {
    scripted_server server(std::move(script));
    auto serving = gyre::spawn(server.run());
    const auto outcome = co_await gyre::as_result(body(server));
    serving.cancel();
    co_await serving.wait();
    if (!outcome) std::rethrow_exception(outcome.error());
  });
}

/// The same with a client of its own.
inline void with_client(peer_script script, body_ref<http::client&, scripted_server&> body,
                        http::client_options options = {}) {
  with_server(std::move(script), [&](scripted_server& server) -> gyre::task<> {
    http::client client(options);
    co_await body(client, server);
  });
}

/// Answers every request of a connection with "hello".
inline gyre::task<> say_hello(peer& client) {
  for (;;) {
    const std::string request = co_await client.request();
    if (request.empty()) co_return;
    co_await client.answer("hello");
  }
}

/// The same, and keeps the last request.
inline peer_script keeps_request(std::string& last) {
  return [&last](peer& client) -> gyre::task<> {
    for (;;) {
      const std::string request = co_await client.request();
      if (request.empty()) co_return;
      last = request;
      co_await client.answer("hello");
    }
  };
}

/// Sends these bytes once a request has come, and then closes.
inline peer_script answers_once(std::string bytes) {
  return [bytes = std::move(bytes)](peer& client) -> gyre::task<> {
    (void)co_await client.request();
    co_await client.send(bytes);
    client.close();
  };
}

/// Sends these bytes once a request has come, and reads on until the client leaves.
inline peer_script answers_and_waits(std::string bytes) {
  return [bytes = std::move(bytes)](peer& client) -> gyre::task<> {
    (void)co_await client.request();
    co_await client.send(bytes);
    (void)co_await client.rest();
  };
}

/// Sends these bytes once a request has begun, and reads what follows up to its end.
inline peer_script answers_early(std::string bytes) {
  return [bytes = std::move(bytes)](peer& client) -> gyre::task<> {
    (void)co_await client.receive();
    co_await client.send(bytes);
    (void)co_await client.rest();
  };
}

/// Sends the first bytes once a request has begun, and the last ones after its last chunk.
inline peer_script answers_around(std::string first, std::string last) {
  return [first = std::move(first), last = std::move(last)](peer& client) -> gyre::task<> {
    (void)co_await client.receive();
    co_await client.send(first);
    for (bool more = true; more && !client.received().ends_with("0\r\n\r\n");) more = co_await client.receive();
    if (!last.empty()) co_await client.send(last);
    (void)co_await client.rest();
  };
}

/// The body, or the sentence of the error.
inline gyre::task<std::string> fetched(http::client& client, std::string url) {
  try {
    auto response = co_await client.get(url);
    co_return co_await response.read_all();
  } catch (const gyre::io_error& error) {
    std::string text = error.what();
    const std::size_t at = text.find(url);
    if (at != std::string::npos) text.replace(at, url.size(), "URL");
    co_return text;
  }
}

/// Fetches from a server with this script. Expects the body, or the sentence of the error, and no request in use.
inline void expect_fetched(peer_script script, std::string expected, http::client_options options = {}) {
  const auto fetch = [&](http::client& client, scripted_server& server) -> gyre::task<> {
    const std::string text = co_await fetched(client, server.url());
    EXPECT_TRUE(text == expected) << text.substr(0, 500);
    EXPECT_EQ(client.counts().in_use, 0U);
  };
  with_client(std::move(script), fetch, std::move(options));
}

/// Reads until the request contains `last`, then answers with all of it.
inline peer_script echo_until(std::string last) {
  return [last = std::move(last)](peer& client) -> gyre::task<> {
    while (client.received().find(last) == std::string::npos) {
      const bool more = co_await client.receive();
      if (!more) co_return;
    }
    co_await client.answer(client.received());
    (void)co_await client.rest();
  };
}

}  // namespace gyre_test
