// tests/proxy/forwarded_fields_test.cpp: which fields pass a proxy, and that many of them take no more time each.
#include "programs/gyre/proxy/forwarded_fields.hpp"

#include <gyre/client/client.hpp>
#include <gyre/testing/http_test_client.hpp>
#include <gyre/testing/run_test.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace http = gyre::http;
using namespace programs;

namespace {

using owned_fields = std::vector<std::pair<std::string, std::string>>;

/// Calls `use(request, to)` for a request with these fields, where `to` is the request to the server.
template <class F>
void with_request(owned_fields fields, F use) {
  gyre::testing::run_test([&]() -> gyre::task<> {
    http::server_options options;
    options.limits.head.fields = 10'000;
    options.limits.head.size = 1 << 20U;
    options.routes = http::handler([&use](http::request& request) {
      http::client client;
      auto to = client.request("GET", "http://server/");
      use(request, to);
      return http::response::no_content();
    });
    gyre::testing::http_test_client app(std::move(options));
    auto asking = app.request("GET", "/", std::move(fields), "");
    EXPECT_EQ((co_await std::move(asking)).status, 204);
  });
}

/// The time of the processor for one call, in nanoseconds: the best of some.
template <class F>
double cost_of(F call) {
  double best = std::numeric_limits<double>::max();
  for (int round = 0; round < 15; ++round) {
    timespec before{};
    timespec after{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &before);
    call();
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &after);
    best = std::min(best, static_cast<double>(after.tv_sec - before.tv_sec) * 1e9 +
                              static_cast<double>(after.tv_nsec - before.tv_nsec));
  }
  return best;
}

double cost_of_forwarding(const owned_fields& fields) {
  double cost = 0;
  with_request(fields, [&](http::request& request, http::client_request&) {
    http::client client;
    cost = cost_of([&] {
      auto to = client.request("GET", "http://server/");
      const hop_by_hop_fields dropped(request.fields());
      forward_fields(request, dropped, {.host = "10.0.0.1", .trusted = false}, to);
    });
  });
  return cost;
}

owned_fields many(std::size_t count, const std::string& name, const std::string& value) {
  owned_fields all;
  for (std::size_t i = 0; i < count; ++i) all.emplace_back(name + std::to_string(i), value);
  return all;
}

/// Four times as much takes four times as long, not sixteen times.
constexpr double at_most = 8;

}  // namespace

TEST(forwarded_fields, those_that_connection_names_do_not_pass) {
  with_request({{"Connection", "a, close"}, {"A", "1"}, {"B", "2"}, {"connection", "C"}, {"c", "3"}, {"Close", "4"}},
               [](http::request& request, http::client_request& to) {
                 const hop_by_hop_fields dropped(request.fields());
                 forward_fields(request, dropped, {.host = "10.0.0.1"}, to);
                 EXPECT_FALSE(to.has_header("A"));
                 EXPECT_TRUE(to.has_header("B"));
                 EXPECT_FALSE(to.has_header("C"));
                 EXPECT_TRUE(to.has_header("X-Forwarded-For"));
               });
}

TEST(forwarded_fields, names_by_which_gateways_take_a_field_for_one_about_the_client_are_known) {
  for (const char* const name : {"X-Forwarded", "x_forwarded_for", "X-Original-Forwarded-For", "Client-IP", "CLIENT_IP",
                                 "X.Real.IP", "X-Forward-For", "X-Azure-ClientIP", "Front-End-Https"})
    EXPECT_TRUE(is_about_client(name)) << name;
  for (const char* const name : {"X-Client", "Client-IPs", "X-Forward", "X-Real-IP-Count", "Host", "IP", "X-Hosts", ""})
    EXPECT_FALSE(is_about_client(name)) << name;
}

TEST(forwarded_fields, four_times_as_many_fields_take_four_times_as_long) {
  const double some = cost_of_forwarding(many(200, "X-Field-", "value"));
  EXPECT_LT(cost_of_forwarding(many(800, "X-Field-", "value")) / some, at_most);
}

TEST(forwarded_fields, four_times_as_many_names_in_connection_and_fields_take_four_times_as_long) {
  const auto named = [](std::size_t count) {
    owned_fields all = many(count, "X-Field-", "value");
    for (std::size_t i = 0; i < count; ++i) all.emplace_back("Connection", "X-Other-" + std::to_string(i));
    return all;
  };
  const double some = cost_of_forwarding(named(200));
  EXPECT_LT(cost_of_forwarding(named(800)) / some, at_most);
}

TEST(forwarded_fields, four_times_as_many_announced_trailers_take_four_times_as_long) {
  const auto cost = [](std::size_t count) {
    double found = 0;
    owned_fields all = many(count, "X-Field-", "value");
    for (std::size_t i = 0; i < count; ++i) all.emplace_back("Trailer", "X-Trailer-" + std::to_string(i));
    with_request(all, [&](http::request& request, http::client_request&) {
      found = cost_of([&] {
        const hop_by_hop_fields dropped(request.fields());
        EXPECT_NE(trailers_announced(request.fields(), dropped), "");
      });
    });
    return found;
  };
  EXPECT_LT(cost(800) / cost(200), at_most);
}
