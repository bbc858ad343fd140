// tests/http/failure_report_test.cpp: the answer and the report when a handler has failed.
#include <gyre/http/server.hpp>

#include "tests/http/http_client.hpp"

using namespace gyre_test;
using http::response;

namespace {

std::uint_least32_t line_here(std::source_location here = std::source_location::current()) { return here.line(); }

response fail(http::request&) { throw std::runtime_error("no"); }

gyre::task<response> fail_later(http::request&) {
  co_await gyre::yield();
  throw std::runtime_error("no");
}

gyre::task<response> pass_on(http::request& r, http::next_handler next) { co_return co_await next(r); }

gyre::task<response> as_response(http::request& r, http::next_handler next) { co_return co_await next.or_error(r); }

/// Requests each target in turn, and expects a report for each that names this line of this file as its handler's.
void expect_reports(http::handler routes, const std::vector<std::string>& targets, std::uint_least32_t line,
                    const std::vector<std::string>& names) {
  run_virtual([&]() -> gyre::task<> {
    reports heard;
    http_test_client app(std::move(routes));
    for (const std::string& each : targets) (void)co_await app.get(each);
    EXPECT_EQ(heard.names, names);
    for (const std::source_location& each : heard.places) {
      EXPECT_EQ(std::string(each.file_name()), std::source_location::current().file_name());
      EXPECT_EQ(each.line(), line);
    }
    for (const std::string& each : heard.kinds) EXPECT_EQ(each, "request");
  });
}

}  // namespace

TEST(failure_report, names_the_route_and_the_line_that_added_it) {
  http::router routes;
  const auto line = line_here() + 1;
  routes.get("/users/{id}", fail);
  expect_reports(std::move(routes), {"/users/7?x", "/users/8"}, line,
                 {"GET /users/7?x (route /users/{id})", "GET /users/8 (route /users/{id})"});
}

TEST(failure_report, names_the_route_of_a_handler_that_has_waited_behind_middleware) {
  for (const bool makes_response : {false, true}) {
    http::router inner;
    const auto line = line_here() + 1;
    inner.get("/{name}", fail_later);
    http::router routes;
    routes.mount("/api", std::move(inner));
    if (makes_response)
      routes.use(as_response);
    else
      routes.use(pass_on);
    expect_reports(std::move(routes), {"/api/a"}, line, {"GET /api/a (route /api/{name})"});
  }
}

TEST(failure_report, leaves_out_a_route_that_is_the_target) {
  http::router routes;
  const auto line = line_here() + 1;
  routes.get("/a", fail);
  expect_reports(std::move(routes), {"/a"}, line, {"GET /a"});
}

TEST(failure_report, names_the_line_of_a_handler_without_a_router) {
  const auto line = line_here() + 1;
  http::handler all = fail;
  expect_reports(std::move(all), {"/a"}, line, {"GET /a"});
}

TEST(failure_report, names_the_line_of_not_found) {
  http::router routes;
  routes.get("/a", says("a"));
  const auto line = line_here() + 1;
  routes.not_found(fail);
  expect_reports(std::move(routes), {"/b"}, line, {"GET /b"});
}

TEST(failure_report, is_one_line_that_names_no_place_in_the_library) {
  http::router routes;
  routes.get("/users/{id}", fail);
  testing::internal::CaptureStderr();
  run_virtual([&]() -> gyre::task<> {
    http_test_client app(std::move(routes));
    const auto answer = co_await app.get("/users/7");
    EXPECT_EQ(answer.status, 500);
  });
  const std::string text = testing::internal::GetCapturedStderr();
  const std::string begin = std::string("gyre: request GET /users/7 (route /users/{id}) handled at ") +
                            std::source_location::current().file_name();
  EXPECT_TRUE(text.starts_with(begin)) << text;
  EXPECT_TRUE(text.ends_with(" failed: no\n")) << text;
}

TEST(failure_report, an_exception_is_answered_with_500_without_detail_and_reported) {
  auto fail = [](http::request&) -> gyre::task<response> {
    co_await gyre::yield();
    throw std::runtime_error("the password is 1234");
  };
  run_in_memory(options_for(fail), [](memory_server& here) -> gyre::task<> {
    reports heard;
    auto client = here.connect();
    for (int i = 0; i < 2; ++i) {
      const auto answer = co_await client.ask(hello_request);
      EXPECT_EQ(answer.status, 500);
      EXPECT_EQ(answer.body, "Internal Server Error\n");
    }
    EXPECT_EQ(heard.texts, (std::vector<std::string>{"the password is 1234", "the password is 1234"}));
    EXPECT_EQ(heard.names, (std::vector<std::string>{"GET /", "GET /"}));
  });
}

TEST(failure_report, a_handler_that_throws_before_it_is_awaited_is_answered_too) {
  auto fail = [](http::request&) -> response { throw http::status_error(418, "short and stout"); };
  run_in_memory(options_for(fail), [](memory_server& here) -> gyre::task<> {
    const auto answer = co_await here.get("/");
    EXPECT_EQ(answer.status, 418);
    EXPECT_EQ(answer.body, "short and stout\n");
  });
}

TEST(failure_report, a_status_that_no_answer_can_have_becomes_500) {
  auto fail = [](http::request& r) -> response {
    throw http::status_error(r.path() == "/low" ? 100 : r.path() == "/high" ? 1000 : 204);
  };
  run_in_memory(options_for(fail), [](memory_server& here) -> gyre::task<> {
    const auto low = co_await here.get("/low");
    EXPECT_EQ(low.status, 500);
    const auto high = co_await here.get("/high");
    EXPECT_EQ(high.status, 500);
    const auto empty = co_await here.get("/");
    EXPECT_EQ(empty.status, 204);
  });
}
