// tests/http/socket_server.hpp: an HTTP server on a real socket, for tests of the behaviour of sockets.
#pragma once

#include "tests/http/http_client.hpp"
#include "tests/support/body_ref.hpp"
#include "tests/support/real_run.hpp"

#include <netinet/in.h>
#include <sys/socket.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace gyre_test {

/// Closes the connection with a reset.
inline void reset(tcp_client& client) {
  const linger at_once{.l_onoff = 1, .l_linger = 0};
  ::setsockopt(client.stream().native_descriptor(), SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
  client.close();
}

class socket_server {
 public:
  explicit socket_server(http::server_options options)
      : server_(std::make_shared<http::server>(encrypted(std::move(options)))), running_(gyre::spawn(run(server_))) {}

  gyre::task<tcp_client> connect() {
    auto stream = co_await gyre::tcp_stream::connect(server_->where());
    co_return tcp_client(std::move(stream));
  }
  /// Sends one request on a new connection.
  gyre::task<http_answer> get(std::string target) {
    auto client = co_await connect();
    co_await client.send("GET " + target + " HTTP/1.1\r\nHost: a\r\n\r\n");
    co_return co_await client.answer();
  }

  void tell_to_stop() { running_.cancel(); }
  gyre::task<> stopped() { co_await running_.wait(); }
  [[nodiscard]] bool has_stopped() const noexcept { return running_.done(); }
  [[nodiscard]] http::server& server() noexcept { return *server_; }
  [[nodiscard]] std::size_t connections() const { return server_->connections(); }

 private:
  static gyre::task<> run(std::shared_ptr<http::server> server) { co_await server->run(); }
  std::shared_ptr<http::server> server_;
  gyre::task_handle<void> running_;
};

/// For tests that do the same in memory and over a socket: the variant without a server has no socket.
inline std::vector<bool> connections_in_memory() {
  return directly() ? std::vector<bool>{true} : std::vector<bool>{true, false};
}

/// Serves on a local port in real time, runs `body(socket_server&)`, and always stops the server.
inline void run_on_sockets(http::server_options options, body_ref<socket_server&> body) {
  if (directly()) GTEST_SKIP() << "direct: it is about sockets";
  run_real([&]() -> gyre::task<> {
    socket_server here(std::move(options));
    const auto outcome = co_await gyre::as_result(body(here));
    here.tell_to_stop();
    co_await here.stopped();
    if (!outcome) std::rethrow_exception(outcome.error());
  });
}

/// Runs `body(server, client)` with one connection: in memory, which holds `capacity` bytes, or over a socket.
template <class Body>
void run_with_client(bool in_memory, http::server_options options, Body body, std::size_t capacity = 65'536) {
  if (in_memory) {
    run_in_memory(std::move(options), [&](memory_server& here) -> gyre::task<> {
      auto client = here.connect(capacity);
      co_await body(here, client);
    });
  } else {
    run_on_sockets(std::move(options), [&](socket_server& here) -> gyre::task<> {
      auto client = co_await here.connect();
      co_await body(here, client);
    });
  }
}

}  // namespace gyre_test
