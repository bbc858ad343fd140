// tests/growth/router_growth_test.cpp: adding routes, and finding them.
#include <gyre/http/router.hpp>

#include "src/http/router/route_tree.hpp"
#include "tests/growth/growth.hpp"

#include <utility>

namespace http = gyre::http;
using namespace gyre_test;

namespace {

http::response nothing(http::request& /*request*/) { return http::response::no_content(); }
gyre::task<http::response> passes(http::request& request, http::next_handler next) { co_return co_await next(request); }

}  // namespace

TEST(growth_of_routers, with_routes_groups_and_mounts) {
  const auto name = [](std::size_t i) { return "/resource" + std::to_string(i); };
  expect_linear("routes", [&](std::size_t n) {
    http::router routes;
    routes.use(passes);
    return steps_of([&] {
      for (std::size_t i = 0; i < n; ++i) routes.get(name(i), nothing);
    });
  });
  expect_linear("routes of one group, below each other", [&](std::size_t n) {
    http::router routes;
    auto group = routes.at("/api").use(passes);
    return steps_of([&] {
      for (std::size_t i = 0; i < n; ++i) group.get("/{id}" + name(i) + "/x", nothing);
    });
  });
  expect_linear("groups", [&](std::size_t n) {
    http::router routes;
    return steps_of([&] {
      for (std::size_t i = 0; i < n; ++i) routes.at(name(i)).use(passes).get("/{id}", nothing);
    });
  });
  expect_linear("routers with one route", [&](std::size_t n) {
    http::router routes;
    return steps_of([&] {
      for (std::size_t i = 0; i < n; ++i) {
        http::router inner;
        inner.use(passes).get("/x", nothing);
        routes.mount(name(i), std::move(inner));
      }
    });
  });
  expect_linear("a router with many routes", [&](std::size_t n) {
    http::router inner;
    auto group = inner.at("/group").use(passes);
    for (std::size_t i = 0; i < n; ++i) group.get(name(i), nothing);
    http::router routes;
    return steps_of([&] { routes.mount("/a", std::move(inner)).use(passes); });
  });
}

TEST(growth_of_routers, with_the_segments_of_a_path) {
  for (const char* const each : {"/a", "/%61"})
    expect_linear(each, [&](std::size_t n) {
      http::router::tree tree;
      tree.add("GET", repeated("/a", n) + "/end", nothing, nullptr);
      tree.add("GET", "/{first}" + repeated("/a", n) + "/end", nothing, nullptr);
      tree.add("GET", "/{first}/{rest...}", nothing, nullptr);
      const std::string path = repeated(each, n) + "/other";
      return steps_of([&] {
        http::route_search search(path, "GET");
        (void)http::find_spelled_out(tree.root, path);
        EXPECT_TRUE(http::find_route(tree.root, search));
      });
    });
}
