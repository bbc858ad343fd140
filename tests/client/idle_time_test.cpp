// tests/client/idle_time_test.cpp: how long a connection is kept, and how old it may become.
#include <gyre/client.hpp>
#include <gyre/gyre.hpp>
#include <gyre/http.hpp>
#include <gyre/testing/http_mock_server.hpp>
#include <gyre/testing/run_test.hpp>

#include <gtest/gtest.h>

#include <string>

namespace http = gyre::http;
using gyre::testing::http_mock_server;
using namespace std::chrono_literals;

namespace {

gyre::task<> get_hello(http::client& client) {
  auto response = co_await client.get("http://a.test/");
  const std::string text = co_await response.read_all();
  EXPECT_EQ(text, "hello");
}

}  // namespace

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
