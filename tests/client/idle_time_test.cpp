// tests/client/idle_time_test.cpp: how long a connection is kept, and how old it may become.
#include "tests/client/mock_answers.hpp"

#include <string>

using namespace gyre_test;

namespace {

GYRE_CORO_WRAPPER gyre::task<> get_hello(http::client& client) {
  return expect_answer(client, "http://a.test/", "200 hello");
}

// The retries of requests without a body, on connections that a server has closed after `idle`, when the client waits
// `pause` between requests and keeps connections for an hour. Needs `connections` of them.
void expect_connections(std::chrono::nanoseconds idle, std::chrono::nanoseconds pause, int connections) {
  gyre::testing::run_test([&]() -> gyre::task<> {
    http::server_options options{.listen = "", .routes = [](http::request&) { return http::response::text("hello"); }};
    options.timeouts.idle = idle;
    http::server server(std::move(options));
    int opened = 0;
    auto connect = [&](const http::url&) -> gyre::task<gyre::any_stream> {
      ++opened;
      gyre::memory_pair pair;
      gyre::spawn(server.serve_connection(gyre::any_stream(std::move(pair.second)))).detach();
      co_return gyre::any_stream(std::move(pair.first));
    };
    {
      http::client client({.limits = {.idle = 1h}, .connector = connect});
      for (int i = 0; i < 4; ++i) {
        co_await get_hello(client);
        co_await gyre::sleep(pause);
      }
      EXPECT_EQ(client.counts().retried, 0U);
    }
    EXPECT_EQ(opened, connections);
    co_await gyre::sleep(idle + 3s);  // the server's connections end
  });
}

}  // namespace

TEST(client_idle_time, a_connection_is_given_up_before_a_server_of_this_library_closes_it) {
  expect_connections(75s, 72s, 1);
  expect_connections(75s, 74s, 4);
  expect_connections(5500ms, 2900ms, 1);
  expect_connections(5500ms, 3100ms, 4);
  expect_connections(900ms, 500ms, 4);
}

TEST(client_idle_time, a_connection_is_kept_two_seconds_less_than_the_server_says) {
  gyre::testing::run_test([]() -> gyre::task<> {
    http_mock_server server(
        [](http::request&) { return http::response::text("hello").add_field("Keep-Alive", "max=100, TIMEOUT=5"); });
    http::client client({.connector = server.connector()});
    co_await get_hello(client);
    co_await gyre::sleep(2900ms);
    EXPECT_EQ(client.counts().idle, 1U);
    co_await get_hello(client);
    co_await gyre::sleep(3100ms);
    EXPECT_EQ(client.counts().idle, 0U);
    co_await get_hello(client);
    EXPECT_EQ(server.connections(), 2);
  });
}

TEST(client_idle_time, a_connection_is_kept_for_half_of_a_short_time_that_the_server_says) {
  expect_connections(2s, 900ms, 1);
  expect_connections(2s, 1100ms, 4);
  expect_connections(1s, 400ms, 1);
}

TEST(client_idle_time, a_server_cannot_extend_the_clients_own_limit) {
  gyre::testing::run_test([]() -> gyre::task<> {
    http_mock_server server(
        [](http::request&) { return http::response::text("hello").add_field("Keep-Alive", "timeout=4000000000"); });
    http::client client({.limits = {.idle = 10s}, .connector = server.connector()});
    co_await get_hello(client);
    co_await gyre::sleep(9900ms);
    EXPECT_EQ(client.counts().idle, 1U);
    co_await gyre::sleep(200ms);
    EXPECT_EQ(client.counts().idle, 0U);
  });
}

TEST(client_idle_time, a_busy_connection_is_replaced_when_it_is_too_old) {
  gyre::testing::run_test([]() -> gyre::task<> {
    http_mock_server server([](http::request&) { return http::response::text("hello"); });
    http::client client({.limits = {.age = 10min}, .connector = server.connector()});
    for (int minute = 0; minute < 10; ++minute) {
      co_await get_hello(client);
      EXPECT_EQ(server.connections(), 1) << minute;
      co_await gyre::sleep(1min);
    }
    co_await get_hello(client);
    EXPECT_EQ(server.connections(), 2);
  });
}
