// tests/http/observed_route_test.cpp: an observer learns the pattern of the route that a request was led to.
#include <gyre/http/cors.hpp>

#include "tests/http/http_client.hpp"
#include "tests/http/lines.hpp"
#include "tests/http/owned_fields.hpp"

using namespace gyre_test;
using gyre::task;

namespace {

struct noted_patterns : http::exchange_observer {
  void answered(const http::exchange& what) noexcept override {
    noted.push_back(std::to_string(what.status) + ' ' + std::string(what.request.route_pattern()));
  }
  lines noted;
};

http::response name_of_user(http::request& r) { return http::response::text(std::string(r.path_parameter("id"))); }

/// What an observer notes of requests such as "GET /path", each as "200 /pattern".
lines observed(http::router routes, const lines& requests) {
  noted_patterns patterns;
  run_virtual([&]() -> task<> {
    http::server_options options;
    options.routes = std::move(routes);
    options.observer = &patterns;
    http_test_client app(std::move(options));
    for (const std::string& each : requests) {
      const std::size_t space = each.find(' ');
      (void)co_await app.request(each.substr(0, space), each.substr(space + 1));
    }
  });
  return patterns.noted;
}

}  // namespace

TEST(observed_route, is_the_pattern_and_not_the_path) {
  http::router routes;
  routes.get("/", [](http::request&) { return http::response::text("a"); });
  routes.get("/users/{id}", name_of_user);
  routes.get("/files/{path...}", [](http::request&) { return http::response::no_content(); });
  EXPECT_EQ(observed(std::move(routes), {"GET /", "GET /users/7", "HEAD /users/8?x=y", "GET /files/a/b"}),
            (lines{"200 /", "200 /users/{id}", "200 /users/{id}", "204 /files/{path...}"}));
}

TEST(observed_route, has_the_prefixes_of_groups_and_mounts) {
  http::router users;
  users.at("/users").get("/{id}", name_of_user);
  http::router routes;
  routes.at("/api").at("/{version}").get("/users/{id}", name_of_user);
  routes.mount("/old", std::move(users));
  EXPECT_EQ(observed(std::move(routes), {"GET /api/2/users/7", "GET /old/users/7"}),
            (lines{"200 /api/{version}/users/{id}", "200 /old/users/{id}"}));
}

TEST(observed_route, is_empty_when_no_route_answers) {
  http::router routes;
  routes.at("/api").get("/users/{id}", name_of_user);
  EXPECT_EQ(observed(std::move(routes), {"GET /api/users/7", "GET /none", "GET /api/none", "POST /api/users/7",
                                         "OPTIONS /api/users/7", "OPTIONS *"}),
            (lines{"200 /api/users/{id}", "404 ", "404 ", "405 ", "204 ", "204 "}));
}

TEST(observed_route, is_known_when_its_handler_or_its_middleware_answers_with_an_error) {
  http::router routes;
  auto users = routes.at("/users");
  users.use([](http::request& r, http::next_handler next) -> task<http::response> {
    EXPECT_EQ(r.route_pattern(), "/users/{id}");
    if (r.path() == "/users/0") throw http::status_error(401);
    co_return co_await next(r);
  });
  users.get("/{id}", [](http::request& r) -> http::response { throw http::status_error(r.path_parameter<int>("id")); });
  EXPECT_EQ(observed(std::move(routes), {"GET /users/0", "GET /users/503"}),
            (lines{"401 /users/{id}", "503 /users/{id}"}));
}

TEST(observed_route, of_a_preflight_is_the_one_that_it_asks_about) {
  noted_patterns patterns;
  run_virtual([&]() -> task<> {
    http::router routes;
    routes.use(http::cors({.origins = {"https://a.test"}}));
    routes.put("/users/{id}", name_of_user);
    http::server_options options;
    options.routes = std::move(routes);
    options.observer = &patterns;
    http_test_client app(std::move(options));
    owned_fields fields = {{"Origin", "https://a.test"}, {"Access-Control-Request-Method", "PUT"}};
    (void)co_await app.request("OPTIONS", "/users/7", std::move(fields), "");
  });
  EXPECT_EQ(patterns.noted, (lines{"204 /users/{id}"}));
}
