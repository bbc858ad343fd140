// bench/micro/micro_routes.cpp: nanoseconds to add a route to a router of up to 100,000. Aim: the same at every size.
#include <gyre/http.hpp>

#include <benchmark/benchmark.h>

#include <cstdint>
#include <string>
#include <utility>

namespace {

namespace http = gyre::http;

http::response nothing(http::request& /*request*/) { return http::response::no_content(); }

gyre::task<http::response> passes(http::request& request, http::next_handler next) { co_return co_await next(request); }

std::string name_of(std::int64_t i) { return "/resource" + std::to_string(i); }

void count_routes(benchmark::State& state) { state.SetItemsProcessed(state.iterations() * state.range(0)); }

void add_routes(benchmark::State& state) {
  for (auto _ : state) {
    http::router routes;
    routes.use(passes);
    for (std::int64_t i = 0; i < state.range(0); ++i) routes.get(name_of(i), nothing);
  }
  count_routes(state);
}
BENCHMARK(add_routes)->RangeMultiplier(10)->Range(1000, 100'000);

void add_groups(benchmark::State& state) {
  for (auto _ : state) {
    http::router routes;
    routes.use(passes);
    for (std::int64_t i = 0; i < state.range(0); ++i) routes.at(name_of(i)).use(passes).get("/{id}", nothing);
  }
  count_routes(state);
}
BENCHMARK(add_groups)->RangeMultiplier(10)->Range(1000, 100'000);

/// Routers of 10 routes each, with middleware of their own.
void mount_routers(benchmark::State& state) {
  for (auto _ : state) {
    http::router routes;
    for (std::int64_t i = 0; i < state.range(0) / 10; ++i) {
      http::router inner;
      inner.use(passes);
      for (std::int64_t j = 0; j < 10; ++j) inner.get(name_of(j), nothing);
      routes.mount(name_of(i), std::move(inner));
    }
  }
  count_routes(state);
}
BENCHMARK(mount_routers)->RangeMultiplier(10)->Range(1000, 100'000);

}  // namespace
