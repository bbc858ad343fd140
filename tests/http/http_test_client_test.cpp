// tests/http/http_test_client_test.cpp: the test client, which other tests rely on.
#include <gyre/http/router.hpp>
#include <gyre/io/io_error.hpp>
#include <gyre/testing/http_test_client.hpp>

#include "tests/support/virtual_run.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace http = gyre::http;
using gyre::task;
using gyre_test::error_of;
using gyre_test::run_virtual;

namespace {

/// Answers with the contents of the request.
http::router echo_routes() {
  http::router routes;
  routes.post("/", [](http::request& r) -> task<http::response> {
    const std::string body = co_await r.body().read_all();
    co_return http::response::text(std::string(r.field("Host")) + '|' + std::string(r.field("Content-Length")) + '|' +
                                   std::string(r.field("Transfer-Encoding")) + '|' + body);
  });
  return routes;
}

/// The echo of a request with those fields and that body.
task<std::string> echo_of(std::vector<std::pair<std::string, std::string>> fields, std::string body) {
  gyre::testing::http_test_client app(echo_routes());
  auto asking = app.request("POST", "/", std::move(fields), std::move(body));
  const auto answer = co_await std::move(asking);
  co_return answer.body;
}

}  // namespace

TEST(http_test_client, adds_the_fields_that_every_request_needs) {
  run_virtual([]() -> task<> {
    auto echoed = echo_of({}, "abc");
    EXPECT_EQ(co_await std::move(echoed), "test|3||abc");
  });
}

TEST(http_test_client, leaves_the_fields_that_are_given_as_they_are) {
  run_virtual([]() -> task<> {
    auto sized = echo_of({{"host", "a.example"}, {"content-length", "2"}}, "ab");
    EXPECT_EQ(co_await std::move(sized), "a.example|2||ab");
    auto chunked = echo_of({{"Transfer-Encoding", "chunked"}}, "2\r\nab\r\n0\r\n\r\n");
    EXPECT_EQ(co_await std::move(chunked), "test||chunked|ab");
  });
}

TEST(http_test_client, passes_over_interim_answers) {
  run_virtual([]() -> task<> {
    auto echoed = echo_of({{"Expect", "100-continue"}}, "abc");
    EXPECT_EQ(co_await std::move(echoed), "test|3||abc");
  });
}

TEST(http_test_client, an_application_that_gives_up_in_the_middle_of_an_answer_is_an_error) {
  run_virtual([]() -> task<> {
    http::router routes;
    routes.get("/", [](http::request&) {
      const auto write = [](http::body_writer& out) -> task<> {
        co_await out.write("the beginning");
        throw std::runtime_error("it fails");
      };
      return http::response::stream(write, "text/plain");
    });
    gyre::testing::http_test_client app(std::move(routes));
    auto asking = app.get("/");
    const std::string text = co_await error_of(std::move(asking));
    EXPECT_EQ(text, "request the test: Connection reset by peer");
  });
}
