// tests/http/server_cancel_test.cpp: cancelling a server and its clients at each of their steps leaks nothing.
#include <gyre/http/server.hpp>
#include <gyre/testing/cancel_at_every_await.hpp>

#include "tests/http/http_client.hpp"

using namespace gyre_test;
using gyre::testing::cancel_at_every_await;
using http::response;

namespace {

constexpr std::size_t body_size = 20'000;

/// Echoes the body while it arrives.
response echo_stream(http::request& r) {
  auto produce = [&r](http::body_writer& out) -> gyre::task<> {
    for (;;) {
      const std::string_view piece = co_await r.body().receive();
      if (piece.empty()) break;
      co_await out.write(piece);
    }
  };
  return response::stream(produce);
}

gyre::task<response> echo_whole(http::request& r) {
  std::string all = co_await r.body().read_all();
  co_return response::text(std::move(all));
}

/// Sends a request with a body, and then another one. `received` gets the body of the first response.
template <class Stream>
gyre::task<> talk(Stream stream, std::string& received) {
  http_client<Stream> client(std::move(stream));
  co_await client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: " + std::to_string(body_size) + "\r\n\r\n");
  co_await client.send(std::string(body_size / 2, 'x'));
  co_await gyre::yield();
  const auto answer = co_await client.ask(std::string(body_size / 2, 'x'));
  received = answer.body;
  co_await client.send("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  (void)co_await client.rest();
}

/// Runs server and client in one scenario, which is cancelled as a whole.
void expect_no_damage(response (*stream)(http::request&), gyre::task<response> (*whole)(http::request&)) {
  std::string received;
  auto scenario = [&]() -> gyre::task<> {
    received.clear();
    http::server_options options = options_for(stream != nullptr ? http::handler(stream) : http::handler(whole));
    options.timeouts.drain = 1ms;
    http::server server(encrypted(std::move(options)));
    auto body = [&](gyre::task_group& group) -> gyre::task<> {
      auto serving = group.spawn(server.run());
      auto client = co_await gyre::tcp_stream::connect(server.where());
      co_await talk(std::move(client), received);
      serving.cancel();
    };
    co_await gyre::task_group::scope(body);
  };
  const auto report = cancel_at_every_await(scenario, [&](bool was_cancelled) {
    if (!was_cancelled) EXPECT_EQ(received, std::string(body_size, 'x'));
  });
  EXPECT_GT(report.cancelled, 10U);
  EXPECT_GT(report.completed, 0U);
}

}  // namespace

TEST(server_cancel, a_request_with_a_body_that_is_streamed_back_may_be_cancelled_anywhere) {
  expect_no_damage(echo_stream, nullptr);
}

TEST(server_cancel, a_request_with_a_body_that_is_read_whole_may_be_cancelled_anywhere) {
  expect_no_damage(nullptr, echo_whole);
}

TEST(server_cancel, a_connection_in_memory_may_be_cancelled_anywhere) {
  std::string received;
  auto scenario = [&]() -> gyre::task<> {
    received.clear();
    http::server_options options = options_for(echo_stream);
    options.listen.clear();
    http::server server(std::move(options));
    gyre::memory_pair pair;
    auto both = gyre::gather(serve_given(server, gyre::any_stream(std::move(pair.second))),
                             talk(std::move(pair.first), received));
    co_await std::move(both);
  };
  gyre::loop_options virtual_time;
  virtual_time.virtual_time = true;
  const auto report = cancel_at_every_await(
      scenario,
      [&](bool was_cancelled) {
        if (!was_cancelled) EXPECT_EQ(received, std::string(body_size, 'x'));
      },
      virtual_time);
  EXPECT_GT(report.cancelled, 5U);
  EXPECT_GT(report.completed, 0U);
}

TEST(server_cancel, a_client_that_gives_up_anywhere_leaves_a_server_that_goes_on) {
  std::string received;
  auto scenario = [&]() -> gyre::task<> {
    http::server server(encrypted(options_for(echo_stream)));
    auto serving = gyre::spawn(server.run());
    std::exception_ptr cancel;
    try {
      auto client = co_await gyre::tcp_stream::connect(server.where());
      co_await talk(std::move(client), received);
    } catch (const gyre::cancelled&) {
      cancel = std::current_exception();
    }
    auto look = [&]() -> gyre::task<> {
      auto stream = co_await gyre::tcp_stream::connect(server.where());
      http_client<gyre::tcp_stream> client(std::move(stream));
      const auto answer = co_await client.ask("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
      EXPECT_EQ(answer.status, 200);
      serving.cancel();
      co_await serving.wait();
      EXPECT_EQ(server.connections(), 0U);
    };
    co_await gyre::shield(look);
    if (cancel) std::rethrow_exception(cancel);
  };
  const auto report = cancel_at_every_await(scenario, [](bool) {});
  EXPECT_GT(report.cancelled, 10U);
}
