// tests/http/covered_prefix_test.cpp: the middleware of groups around 404 and 405 below their prefix.
#include <gyre/http/middleware.hpp>

#include "tests/http/router_answers.hpp"

using namespace gyre_test;

namespace {

/// Appends a mark to the field "Way" of every answer, so the innermost middleware comes first.
http::middleware signs_with(std::string mark) {
  return [mark = std::move(mark)](http::request& r, http::next_handler next) -> gyre::task<http::response> {
    http::response made = co_await next.or_error(r);
    made.set_field("Way", std::string(made.field("Way").value_or("")) + mark);
    co_return made;
  };
}

gyre::task<http::response> refuses(http::request& /*r*/, http::next_handler /*next*/) {
  co_return http::response::error(401);
}

/// The statuses and ways of the answers to requests.
lines ways(http::router routes, const lines& requests) {
  lines all;
  run_virtual([&]() -> gyre::task<> {
    http_test_client app(std::move(routes));
    for (const std::string& each : requests) {
      const std::size_t space = each.find(' ');
      const http_answer answer = co_await app.request(each.substr(0, space), each.substr(space + 1));
      all.push_back(std::to_string(answer.status) + ' ' + std::string(answer.field("Way")));
    }
  });
  return all;
}

}  // namespace

TEST(covered_prefix, middleware_of_a_group_is_around_404_and_405_and_options_below_its_prefix) {
  http::router routes;
  routes.use(signs_with("r"));
  auto api = routes.at("/api");
  api.use(signs_with("g")).get("/users", says(""));
  EXPECT_EQ(ways(std::move(routes), {"GET /api/nothing", "GET /api", "GET /api/", "POST /api/users",
                                     "OPTIONS /api/users", "GET /%61pi/x", "GET /apis", "GET /"}),
            (lines{"404 gr", "404 gr", "404 gr", "405 gr", "204 gr", "404 gr", "404 r", "404 r"}));
}

TEST(covered_prefix, a_client_without_credentials_cannot_tell_routes_from_missing_ones) {
  http::router routes;
  auto admin = routes.at("/admin");
  admin.use(refuses).get("/users", says("")).del("/users/{id}", says(""));
  EXPECT_EQ(ways(std::move(routes), {"GET /admin/users", "GET /admin/nothing", "POST /admin/users",
                                     "OPTIONS /admin/users/5", "GET /admin/a/b/c"}),
            (lines(5, "401 ")));
}

TEST(covered_prefix, includes_middleware_that_is_used_after_a_route_was_added) {
  http::router routes;
  auto api = routes.at("/api");
  api.get("/users", says("")).use(signs_with("g"));
  EXPECT_EQ(ways(std::move(routes), {"GET /api/users", "GET /api/x"}), (lines{"200 ", "404 g"}));
}

TEST(covered_prefix, gives_the_parameters_of_the_prefix_to_its_middleware_also_around_404_and_405) {
  const auto signs_with_value = [](const char* name) {
    return [name](http::request& r, http::next_handler next) -> gyre::task<http::response> {
      const std::string value(r.path_parameter(name));
      http::response made = co_await next(r);
      made.add_field("Way", value);
      co_return made;
    };
  };
  http::router routes;
  auto tenants = routes.at("/tenants/{tenant}");
  tenants.use(signs_with_value("tenant")).get("/items", says(""));
  routes.at("/tenants/{other}/x").use(signs_with_value("other"));
  http::router inner;
  inner.use(signs_with_value("m"));
  inner.get("/a", says(""));
  routes.mount("/mounted/{m}", std::move(inner));
  EXPECT_EQ(ways(std::move(routes),
                 {"GET /tenants/a/items", "GET /tenants/a%20b/nothing", "GET /tenants/a", "POST /tenants/a/items",
                  "OPTIONS /tenants/a/items", "GET /tenants/a/x/y", "GET /mounted/a/a", "GET /mounted/a/b"}),
            (lines{"200 a", "404 a b", "404 a", "405 a", "204 a", "404 a", "200 a", "404 a"}));
}

TEST(router_group, whose_router_was_mounted_stops_the_program_with_a_sentence) {
  http::router routes;
  http::router inner;
  auto group = inner.at("/g");
  routes.mount("/m", std::move(inner));
  EXPECT_DEATH(group.get("/late", says("")), "after its router had been mounted: add its routes before that");
  EXPECT_DEATH(group.use(signs_with("g")), "after its router had been mounted");
  EXPECT_DEATH((void)group.at("/x"), "after its router had been mounted");
}

TEST(covered_prefix, the_longest_prefix_counts) {
  http::router routes;
  routes.at("/a").use(signs_with("a"));
  routes.at("/a/{x}/c").use(signs_with("c"));
  routes.at("/a/b").use(signs_with("b"));
  EXPECT_EQ(ways(std::move(routes), {"GET /a/x", "GET /a/b", "GET /a/b/c/d", "GET /a/x/c/d"}),
            (lines{"404 a", "404 b", "404 c", "404 c"}));
}

TEST(covered_prefix, a_nested_group_has_the_middleware_of_the_outer_one_once) {
  http::router routes;
  auto api = routes.at("/api");
  api.use(signs_with("a"));
  auto first = api.at("/users");
  first.use(signs_with("u"));
  auto second = api.at("/users");
  second.use(signs_with("v"));
  EXPECT_EQ(ways(std::move(routes), {"GET /api/users/x", "GET /api/x"}), (lines{"404 vua", "404 a"}));
}

TEST(covered_prefix, a_group_without_a_prefix_covers_only_its_routes) {
  http::router routes;
  auto checked = routes.at("");
  checked.use(refuses).get("/secret", says(""));
  auto api = routes.at("/api");
  api.use(signs_with("a"));
  auto inner = api.at("");
  inner.use(refuses).get("/secret", says(""));
  EXPECT_EQ(ways(std::move(routes), {"GET /secret", "GET /x", "GET /api/secret", "GET /api/x"}),
            (lines{"401 ", "404 ", "401 a", "404 a"}));
}

TEST(covered_prefix, middleware_of_a_mounted_router_and_of_its_groups_is_around_404_below_the_mount) {
  http::router inner;
  inner.use(signs_with("i"));
  auto group = inner.at("/g");
  group.use(signs_with("g")).get("/x", says(""));
  http::router routes;
  routes.mount("/in", std::move(inner)).use(signs_with("r"));
  EXPECT_EQ(ways(std::move(routes), {"GET /in/g/x", "GET /in/g/y", "POST /in/g/x", "GET /in/y", "GET /y"}),
            (lines{"200 gir", "404 gir", "405 gir", "404 ir", "404 r"}));
}

TEST(covered_prefix, middleware_of_a_router_that_is_mounted_without_a_prefix_covers_only_its_routes) {
  http::router inner;
  inner.use(signs_with("i")).get("/x", says(""));
  http::router routes;
  routes.mount("", std::move(inner));
  EXPECT_EQ(ways(std::move(routes), {"GET /x", "GET /y"}), (lines{"200 i", "404 "}));
}

TEST(covered_prefix, not_found_answers_inside_of_the_middleware) {
  http::router routes;
  routes.not_found([](http::request&) { return http::response::error(404, "nothing"); });
  routes.at("/api").use(signs_with("g"));
  EXPECT_EQ(ways(std::move(routes), {"GET /api/x"}), (lines{"404 g"}));
}
