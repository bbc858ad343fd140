// tests/growth/proxy_growth_test.cpp: a proxy visits each field of a message once.
#include "programs/gyre/proxy/forwarded_fields.hpp"
#include "tests/growth/growth.hpp"

#include <gyre/client/client.hpp>
#include <gyre/testing/http_test_client.hpp>
#include <gyre/testing/run_test.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace http = gyre::http;
using namespace gyre_test;

namespace {

using owned_fields = std::vector<std::pair<std::string, std::string>>;

owned_fields many(std::size_t count) {
  owned_fields all;
  for (std::size_t i = 0; i < count; ++i) all.emplace_back("X-Field-" + std::to_string(i), "value");
  return all;
}

// As many more fields with this name, each of which names another field.
owned_fields many_with(std::size_t count, const char* name) {
  owned_fields all = many(count);
  for (std::size_t i = 0; i < count; ++i) all.emplace_back(name, "X-Other-" + std::to_string(i));
  return all;
}

std::uint64_t steps_of_forwarding(owned_fields fields) {
  std::uint64_t taken = 0;
  gyre::testing::run_test([&]() -> gyre::task<> {
    http::server_options options;
    options.limits.head.fields = 100'000;
    options.limits.head.size = 10'000'000;
    options.routes = http::handler([&taken](http::request& request) {
      http::client client;
      auto to = client.request("GET", "http://server/");
      taken = steps_of([&] {
        const programs::hop_by_hop_fields dropped(request.fields());
        programs::forwarded_texts texts;
        programs::forward_fields(request, dropped, {.host = "10.0.0.1"}, to, texts);
        (void)programs::trailers_announced(request.fields(), dropped);
        (void)programs::fields_of_hint(request.fields());
      });
      return http::response::no_content();
    });
    gyre::testing::http_test_client app(std::move(options));
    auto asking = app.request("GET", "/", std::move(fields), "");
    EXPECT_EQ((co_await std::move(asking)).status, 204);
  });
  return taken;
}

}  // namespace

TEST(growth_of_proxied_fields, with_their_number) {
  expect_linear("fields", [](std::size_t n) { return steps_of_forwarding(many(n)); });
  expect_linear("fields, and names in Connection",
                [](std::size_t n) { return steps_of_forwarding(many_with(n, "Connection")); });
  expect_linear("fields, and names in Trailer",
                [](std::size_t n) { return steps_of_forwarding(many_with(n, "Trailer")); });
}
