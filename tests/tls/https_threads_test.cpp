// tests/tls/https_threads_test.cpp: an HTTP server over TLS on several threads, which share tickets and configuration.
#include "tests/tls/https_server.hpp"

#include <atomic>
#include <string>
#include <thread>
#include <vector>

using namespace gyre_test;
using http::response;

namespace {

/// Runs `body(http::server&)` beside a server on three loops.
template <class Body>
void run_on_threads(http::server_options options, Body body) {
  options.threads = 3;
  options.accept = gyre::accept_mode::one_acceptor;  // spreads the connections evenly
  auto both = [&]() -> gyre::task<> {
    http::server server(std::move(options));
    auto running = gyre::spawn(server.run());
    const auto outcome = co_await gyre::as_result(body(server));
    running.cancel();
    co_await running.wait();
    if (!outcome) std::rethrow_exception(outcome.error());
  };
  gyre::run_options run;
  run.threads = 3;
  EXPECT_NO_THROW(gyre::run(both(), run));
}

gyre::task<bool> connect_and_ask(const std::string& where, const tls::client_config& clients) {
  auto below = co_await gyre::tcp_stream::connect(where);
  auto stream = co_await tls::connect(std::move(below), "server.test", clients);
  const bool was_resumed = stream.resumed();
  https_client client(std::move(stream));
  for (int i = 0; i < 3; ++i) {
    co_await client.send(hello_request);
    const http_answer answer = co_await client.answer();
    EXPECT_EQ(answer.body, "hello");
  }
  co_return was_resumed;
}

}  // namespace

TEST(https_threads, all_loops_resume_the_sessions_of_each_other) {
  run_on_threads(over_tls(says("hello")), [](http::server& server) -> gyre::task<> {
    const tls::client_config clients(client_that_trusts());
    int resumed = 0;
    for (int i = 0; i < 10; ++i) resumed += co_await connect_and_ask(server.where(), clients) ? 1 : 0;
    EXPECT_EQ(resumed, 9);
  });
}

TEST(https_threads, the_configuration_changes_while_clients_connect) {
  const auto settings = server_with_certificate();
  tls::server_sessions sessions{tls::server_config(settings)};
  http::server_options options = options_for(says("hello"));
  options.encryption = sessions;
  run_on_threads(std::move(options), [&](http::server& server) -> gyre::task<> {
    std::atomic<bool> over = false;
    std::jthread renewing([&] {
      while (!over) sessions.set_config(tls::server_config(settings));
    });
    const gyre::scope_exit at_end([&over] { over = true; });
    const tls::client_config clients(client_that_trusts());
    std::vector<gyre::task<>> all;
    auto talk = [&]() -> gyre::task<> {
      for (int i = 0; i < 10; ++i) (void)co_await connect_and_ask(server.where(), clients);
    };
    for (int i = 0; i < 4; ++i) all.push_back(talk());
    auto gathered = gyre::gather(std::move(all));
    co_await std::move(gathered);
  });
}
