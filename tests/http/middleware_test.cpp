// tests/http/middleware_test.cpp: middleware, groups, and routers within routers.
#include <gyre/http/middleware.hpp>

#include "tests/http/router_answers.hpp"

#include <stdexcept>

using namespace gyre_test;

namespace {

/// Leaves a mark in the request before the handler, and in the response after it.
http::middleware marks(std::string mark) {
  return [mark = std::move(mark)](http::request& r, http::next_handler next) -> gyre::task<http::response> {
    r.set_attribute("way", std::string(r.attribute("way")) + mark);
    http::response made = co_await next(r);
    const std::string so_far(made.field("Way-Back").value_or(""));
    made.set_field("Way-Back", so_far + mark);
    co_return made;
  };
}

http::response show_way(http::request& r) { return http::response::text(r.attribute("way")); }

}  // namespace

TEST(router, the_first_middleware_used_is_outermost_and_the_order_of_routes_does_not_matter) {
  http::router routes;
  routes.use(marks("a"));
  routes.get("/", show_way);
  routes.use(marks("b"));
  const auto answer = answer_to(std::move(routes), "GET", "/");
  EXPECT_EQ(answer.body, "ab");
  EXPECT_EQ(answer.field("Way-Back"), "ba");
}

TEST(router, middleware_stands_around_404_and_405_and_options_too) {
  http::router routes;
  routes.use(marks("a")).get("/a", says("")).not_found([](http::request&) { return http::response::error(404); });
  run_virtual([&]() -> gyre::task<> {
    http_test_client app(std::move(routes));
    const auto other_path = co_await app.request("GET", "/b");
    EXPECT_EQ(other_path.field("Way-Back"), "a");
    const auto other_method = co_await app.request("POST", "/a");
    EXPECT_EQ(other_method.field("Way-Back"), "a");
    const auto options = co_await app.request("OPTIONS", "/a");
    EXPECT_EQ(options.field("Way-Back"), "a");
  });
}

TEST(router, middleware_may_answer_by_itself) {
  http::router routes;
  routes.use([](http::request& r, http::next_handler next) -> gyre::task<http::response> {
    if (r.field("Authorization").empty()) co_return http::response::error(401);
    co_return co_await next(r);
  });
  routes.get("/", says("secret"));
  EXPECT_EQ(answers(std::move(routes), {"GET /"}), (lines{"401 Unauthorized\n"}));
}

TEST(router, a_group_has_a_prefix_and_middleware_of_its_own_inside_of_the_routers) {
  http::router routes;
  routes.get("/", show_way);
  auto api = routes.at("/api/{version}");
  api.get("/early", show_way);
  api.use(marks("g"));
  api.get("/users", show_way);
  auto admin = api.at("/admin");
  admin.use(marks("h")).get("/users", show_way);
  api.get("/late", show_way);
  routes.use(marks("r"));
  EXPECT_EQ(answers(std::move(routes),
                    {"GET /", "GET /api/1/early", "GET /api/1/users", "GET /api/1/admin/users", "GET /api/1/late"}),
            (lines{"200 r", "200 r", "200 rg", "200 rgh", "200 rg"}));
}

TEST(router, mounted_routes_keep_their_middleware_and_get_the_routers_around_it) {
  http::router inner;
  inner.use(marks("i"));
  inner.get("/x/{id}", show_way);
  http::router routes;
  routes.use(marks("o"));
  routes.mount("/inner", std::move(inner)).get("/", show_way);
  EXPECT_EQ(answers(std::move(routes), {"GET /inner/x/1", "GET /x/1", "GET /"}),
            (lines{"200 oi", "404 Not Found\n", "200 o"}));
}

namespace {

/// Adds a field to every response.
gyre::task<http::response> signs(http::request& r, http::next_handler next) {
  http::response made = co_await next.or_error(r);
  made.set_field("Signed", "yes");
  co_return made;
}

/// Turns one kind of exception into a response.
gyre::task<http::response> knows_ranges(http::request& r, http::next_handler next) {
  try {
    co_return co_await next(r);
  } catch (const std::out_of_range& error) {
    co_return http::response::error(404, error.what());
  }
}

}  // namespace

TEST(router, middleware_that_wants_to_sees_an_unknown_exception_as_500) {
  http::router routes;
  routes.use(signs);
  routes.get("/later", [](http::request&) -> gyre::task<http::response> {
    co_await gyre::yield();
    throw std::runtime_error("the password is 1234");
  });
  routes.get("/now", [](http::request&) -> http::response { throw std::runtime_error("the password is 1234"); });
  run_virtual([&]() -> gyre::task<> {
    reports heard;
    http_test_client app(std::move(routes));
    for (const char* target : {"/later", "/now"}) {
      const auto answer = co_await app.request("GET", target);
      EXPECT_EQ(answer.status, 500);
      EXPECT_EQ(answer.body, "Internal Server Error\n");
      EXPECT_EQ(answer.field("Signed"), "yes");
    }
    EXPECT_EQ(heard.texts, (std::vector<std::string>{"the password is 1234", "the password is 1234"}));
  });
}

TEST(router, inner_middleware_that_answers_exceptions_goes_first) {
  http::router routes;
  routes.use(signs).use(knows_ranges);
  routes.get("/", [](http::request&) -> http::response { throw std::out_of_range("there are not so many"); });
  run_virtual([&]() -> gyre::task<> {
    reports none;
    http_test_client app(std::move(routes));
    const auto answer = co_await app.request("GET", "/");
    EXPECT_EQ(answer.status, 404);
    EXPECT_EQ(answer.body, "there are not so many\n");
    EXPECT_EQ(answer.field("Signed"), "yes");
    EXPECT_EQ(none.texts, std::vector<std::string>());
  });
}

TEST(router, an_exception_of_middleware_further_inside_becomes_500_too) {
  http::router routes;
  routes.use(signs).use([](http::request&, http::next_handler) -> gyre::task<http::response> {
    throw std::runtime_error("no");
    co_return http::response();
  });
  routes.get("/", says(""));
  run_virtual([&]() -> gyre::task<> {
    reports heard;
    http_test_client app(std::move(routes));
    const auto answer = co_await app.request("GET", "/");
    EXPECT_EQ(answer.status, 500);
    EXPECT_EQ(answer.field("Signed"), "yes");
    EXPECT_EQ(heard.texts, std::vector<std::string>{"no"});
  });
}

TEST(router, middleware_that_answers_exceptions_lets_a_cancel_pass) {
  http::router routes;
  routes.use(signs);
  routes.get("/", [](http::request&) -> gyre::task<http::response> {
    co_await forever();
    co_return http::response();
  });
  http::server_options options = options_for(std::move(routes));
  options.timeouts.handler = 5s;
  run_virtual([&]() -> gyre::task<> {
    reports none;
    memory_server server(std::move(options));
    auto client = server.connect();
    const auto answer = co_await client.ask("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    EXPECT_EQ(answer.status, 503);
    EXPECT_EQ(none.texts, std::vector<std::string>());
  });
}

TEST(router, a_client_that_leaves_in_the_middle_of_its_body_is_no_500_of_middleware) {
  http::router routes;
  routes.use(signs);
  routes.post("/", [](http::request& r) -> gyre::task<http::response> {
    auto text = co_await r.body().read_all();
    co_return http::response::text(std::move(text));
  });
  run_virtual([&]() -> gyre::task<> {
    reports none;
    memory_server server(options_for(std::move(routes)));
    auto client = server.connect();
    co_await client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n01234");
    co_await client.shutdown_write();
    co_await client.expect_end();
    EXPECT_EQ(none.texts, std::vector<std::string>());
  });
}

TEST(router, is_a_handler_itself) {
  http::router inner;
  inner.get("/a/{x}", shows({"x"}));
  http::router routes;
  routes.any("/{path...}", std::move(inner));
  EXPECT_EQ(answers(std::move(routes), {"GET /a/1"}), (lines{"200 [1]"}));
}

TEST(router, attributes_of_one_request_are_not_there_in_the_next) {
  http::router routes;
  routes.get("/", [](http::request& r) {
    const std::string before(r.attribute("user"));
    r.set_attribute("user", "anna");
    r.set_attribute("user", "berta");
    return http::response::text(before + '>' + std::string(r.attribute("user")));
  });
  EXPECT_EQ(answers(std::move(routes), {"GET /", "GET /"}), (lines{"200 >berta", "200 >berta"}));
}
