// bench/micro/micro_routes.cpp: nanoseconds to add a route to a router of up to 100,000. Aim: the same at every size.
#include <gyre/http.hpp>

#include "bench/micro/timing.hpp"

#include <string>
#include <utility>

namespace {

namespace http = gyre::http;

http::response nothing(http::request& /*request*/) { return http::response::no_content(); }

gyre::task<http::response> passes(http::request& request, http::next_handler next) { co_return co_await next(request); }

std::string name_of(long i) { return "/resource" + std::to_string(i); }

void add_routes(long count) {
  http::router routes;
  routes.use(passes);
  for (long i = 0; i < count; ++i) routes.get(name_of(i), nothing);
}

void add_groups(long count) {
  http::router routes;
  routes.use(passes);
  for (long i = 0; i < count; ++i) routes.at(name_of(i)).use(passes).get("/{id}", nothing);
}

/// Routers of 10 routes each, with middleware of their own.
void mount_routers(long count) {
  http::router routes;
  for (long i = 0; i < count / 10; ++i) {
    http::router inner;
    inner.use(passes);
    for (long j = 0; j < 10; ++j) inner.get(name_of(j), nothing);
    routes.mount(name_of(i), std::move(inner));
  }
}

void measure(const char* name, void (*add)(long), long routes) {
  const std::string title = std::string(name) + ", of " + std::to_string(routes);
  const auto add_all = [add, routes](long n) {
    for (long i = 0; i < n; ++i) add(routes);
  };
  bench::measure(title, add_all, routes);
}

}  // namespace

int main() {
  for (const long routes : {1'000L, 10'000L, 100'000L}) {
    measure("add a route", add_routes, routes);
    measure("add a group with a route", add_groups, routes);
    measure("mount a router, each route", mount_routers, routes);
  }
}
