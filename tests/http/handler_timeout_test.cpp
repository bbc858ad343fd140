// tests/http/handler_timeout_test.cpp: handlers that exceed their time limit, and handlers that do not.
#include <gyre/http/handler_timeout.hpp>

#include <gyre/http/router.hpp>
#include <gyre/http/status_error.hpp>
#include <gyre/testing/http_test_client.hpp>

#include "tests/http/http_client.hpp"
#include "tests/support/virtual_run.hpp"

#include <gtest/gtest.h>

namespace http = gyre::http;
using gyre::task;
using gyre_test::http_test_client;
using gyre_test::run_virtual;
using namespace std::chrono_literals;

namespace {

task<http::response> slow_by_query(http::request& r) {
  co_await gyre::sleep(std::chrono::milliseconds(*r.query_parameter<int>("ms")));
  co_return http::response::text("done");
}
task<http::response> stubborn(http::request&) {
  try {
    co_await gyre::sleep(1h);
  } catch (const gyre::cancelled&) {  // answers nevertheless
  }
  co_return http::response::text("all the same");
}
task<http::response> reads(http::request& r) { co_return http::response::text(co_await r.body().read_all()); }

http::router limited_routes() {
  http::router routes;
  routes.use(http::handler_timeout({.limit = 100ms}));
  routes.get("/slow", slow_by_query);
  routes.get("/stubborn", stubborn);
  routes.post("/reads", reads);
  routes.get("/fails", [](http::request&) -> http::response { throw http::status_error(418); });
  return routes;
}

}  // namespace

TEST(handler_timeout, a_handler_that_takes_too_long_is_answered_with_503) {
  run_virtual([]() -> task<> {
    http_test_client app(limited_routes());
    EXPECT_EQ((co_await app.get("/slow?ms=99")).body, "done");
    const auto begin = gyre::now();
    const auto late = co_await app.get("/slow?ms=5000");
    EXPECT_EQ(late.status, 503);
    EXPECT_EQ(late.body, "the server took too long to respond\n");
    EXPECT_LT(gyre_test::since(begin), 200ms);
    EXPECT_EQ((co_await app.get("/slow?ms=1")).status, 200) << "the connection goes on";
  });
}

TEST(handler_timeout, an_answer_in_spite_of_it_wins) {
  run_virtual([]() -> task<> {
    http_test_client app(limited_routes());
    EXPECT_EQ((co_await app.get("/stubborn")).body, "all the same");
    EXPECT_EQ((co_await app.get("/fails")).status, 418);
  });
}

TEST(handler_timeout, waiting_for_a_body_counts) {
  run_virtual([]() -> task<> {
    http_test_client app(limited_routes());
    const std::string answer =
        co_await app.exchange_bytes("POST /reads HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhel", false);
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 503 ")) << answer;
  });
}

TEST(handler_timeout, a_limit_inside_a_limit_is_the_inner_ones_matter) {
  run_virtual([]() -> task<> {
    http::router routes;
    routes.use(http::handler_timeout({.limit = 1s, .message = "outer"}));
    routes.use(http::handler_timeout({.limit = 100ms, .status = 504, .message = "inner"}));
    routes.get("/", slow_by_query);
    http_test_client app(std::move(routes));
    const auto answer = co_await app.get("/?ms=10000");
    EXPECT_EQ(answer.status, 504);
    EXPECT_EQ(answer.body, "inner\n");
  });
}

TEST(handler_timeout, a_status_that_is_none_is_refused) {
  EXPECT_THROW((void)http::handler_timeout({.status = 99}), std::invalid_argument);
}
