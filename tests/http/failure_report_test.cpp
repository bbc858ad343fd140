// tests/http/failure_report_test.cpp: the report that an operator gets when a handler has failed.
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
