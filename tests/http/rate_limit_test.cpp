// tests/http/rate_limit_test.cpp: buckets are refilled over time, and forgotten in order.
#include <gyre/http/rate_limit.hpp>

#include <gyre/http/router.hpp>
#include <gyre/stream/memory_stream.hpp>
#include <gyre/testing/http_test_client.hpp>

#include "tests/http/http_client.hpp"
#include "tests/support/virtual_run.hpp"

#include <gtest/gtest.h>

#include <malloc.h>

#include <array>
#include <cmath>
#include <limits>

namespace http = gyre::http;
using gyre::task;
using gyre_test::http_test_client;
using gyre_test::run_virtual;
using namespace std::chrono_literals;

namespace {

const gyre::time_point begin{1h};

task<gyre::testing::http_answer> get_with_key(http_test_client& app, std::string key) {
  std::vector<std::pair<std::string, std::string>> fields = {{"Key", std::move(key)}};
  co_return co_await app.request("GET", "/", std::move(fields), "");
}

// The server's answer to a request from `peer`.
task<std::string> status_for_peer(http::server& server, gyre::address peer) {
  gyre::memory_pair pair;
  gyre::spawn(server.serve_connection(gyre::any_stream(std::move(pair.second)), peer)).detach();
  const std::string_view request = "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
  (void)co_await pair.first.write_all(std::as_bytes(std::span(request)));
  std::array<std::byte, 12> status{};
  std::size_t size = 0;
  while (size < status.size()) {
    const std::size_t n = co_await pair.first.read_some(std::span(status).subspan(size));
    if (n == 0) break;
    size += n;
  }
  co_return std::string(reinterpret_cast<const char*>(status.data()), size).substr(9);
}

}  // namespace

TEST(token_buckets, a_burst_passes_and_then_the_rate) {
  http::token_buckets buckets({.rate = 2, .burst = 3});
  for (int i = 0; i < 3; ++i) EXPECT_EQ(buckets.take("a", begin), 0ns);
  EXPECT_EQ(buckets.take("a", begin), 500ms);
  EXPECT_EQ(buckets.take("a", begin + 100ms), 400ms);
  EXPECT_EQ(buckets.take("a", begin + 500ms), 0ns);
  EXPECT_GT(buckets.take("a", begin + 500ms), 0ns);
  EXPECT_EQ(buckets.take("b", begin + 500ms), 0ns) << "another key has its own";
}

TEST(token_buckets, a_bucket_never_holds_more_than_the_burst) {
  http::token_buckets buckets({.rate = 1000, .burst = 2});
  EXPECT_EQ(buckets.take("a", begin), 0ns);
  EXPECT_EQ(buckets.take("a", begin + 1h), 0ns);
  EXPECT_EQ(buckets.take("a", begin + 1h), 0ns);
  EXPECT_GT(buckets.take("a", begin + 1h), 0ns);
}

TEST(token_buckets, a_client_that_waits_for_retry_after_is_let_in) {
  http::token_buckets buckets({.rate = 0.3, .burst = 1});
  gyre::time_point when = begin;
  EXPECT_EQ(buckets.take("a", when), 0ns);
  for (int i = 0; i < 1000; ++i) {
    const auto wait = buckets.take("a", when);
    ASSERT_GT(wait, 0ns);
    when += wait;
    ASSERT_EQ(buckets.take("a", when), 0ns) << i;
  }
  const double passed = std::chrono::duration<double>(when - begin).count();
  EXPECT_NEAR(passed, 1000 / 0.3, 0.01);
}

TEST(token_buckets, the_key_not_used_for_the_longest_time_is_forgotten) {
  http::token_buckets buckets({.rate = 0.001, .burst = 1, .keys = 2});
  EXPECT_EQ(buckets.take("a", begin), 0ns);
  EXPECT_EQ(buckets.take("b", begin), 0ns);
  EXPECT_GT(buckets.take("a", begin), 0ns);
  EXPECT_EQ(buckets.take("c", begin), 0ns);
  EXPECT_EQ(buckets.size(), 2u);
  EXPECT_GT(buckets.take("a", begin), 0ns) << "a was used after b";
  EXPECT_EQ(buckets.take("b", begin), 0ns);
  for (int i = 0; i < 10'000; ++i) (void)buckets.take(std::to_string(i), begin);
  EXPECT_EQ(buckets.size(), 2u);
}

TEST(token_buckets, long_keys_that_differ_only_at_their_end_have_their_own_buckets) {
  const std::string begin_of_key(100'000, 'k');
  http::token_buckets buckets({.rate = 0.001, .burst = 1});
  EXPECT_EQ(buckets.take(begin_of_key + "a", begin), 0ns);
  EXPECT_EQ(buckets.take(begin_of_key + "b", begin), 0ns);
  EXPECT_EQ(buckets.take(begin_of_key, begin), 0ns);
  EXPECT_GT(buckets.take(begin_of_key + "a", begin), 0ns);
  EXPECT_EQ(buckets.take(begin_of_key.substr(0, 112), begin), 0ns);
  EXPECT_EQ(buckets.take(begin_of_key.substr(0, 128), begin), 0ns);
  EXPECT_EQ(buckets.take(begin_of_key.substr(0, 129), begin), 0ns);
}

TEST(token_buckets, long_keys_take_no_more_memory_than_short_ones) {
  constexpr std::size_t keys = 2000;
  const auto bytes_for = [](std::size_t size) {
    http::token_buckets buckets({.rate = 1, .burst = 1, .keys = keys});
    const std::string pad(size, 'k');
    const std::size_t before = ::mallinfo2().uordblks;
    for (std::size_t i = 0; i < keys; ++i) (void)buckets.take(pad + std::to_string(i), begin);
    return ::mallinfo2().uordblks - before;
  };
  EXPECT_LE(bytes_for(8000), bytes_for(120) + keys * 16);
}

TEST(token_buckets, limits_that_let_nothing_pass_are_refused) {
  for (const auto& bad : {http::rate_limit_options{.rate = 0},
                          {.rate = -1},
                          {.burst = 0.5},
                          {.keys = 0},
                          {.rate = NAN},
                          {.rate = INFINITY}})
    EXPECT_THROW(http::token_buckets{bad}, std::invalid_argument);
}

TEST(token_buckets, a_burst_without_an_end_is_refused) {
  EXPECT_THROW(http::token_buckets({.rate = 1, .burst = std::numeric_limits<double>::infinity()}),
               std::invalid_argument);
}

TEST(rate_limit, says_429_and_when_to_come_back) {
  run_virtual([]() -> task<> {
    http::router routes;
    const auto key = [](http::request& r) { return std::string(r.field("Key")); };
    routes.use(http::rate_limit({.rate = 0.1, .burst = 2}, key));
    routes.get("/", [](http::request&) { return http::response::text("in"); });
    http_test_client app(std::move(routes));
    EXPECT_EQ((co_await get_with_key(app, "a")).status, 200);
    EXPECT_EQ((co_await get_with_key(app, "a")).status, 200);
    const auto refused = co_await get_with_key(app, "a");
    EXPECT_EQ(refused.status, 429);
    EXPECT_EQ(refused.field("Retry-After"), "10");
    EXPECT_EQ((co_await get_with_key(app, "b")).status, 200);
    for (int i = 0; i < 5; ++i) EXPECT_EQ((co_await get_with_key(app, "")).status, 200);
    co_await gyre::sleep(10s);
    EXPECT_EQ((co_await get_with_key(app, "a")).status, 200);
  });
}

TEST(rate_limit, counts_hosts_and_networks_of_peers) {
  run_virtual([]() -> task<> {
    http::router routes;
    routes.use(http::rate_limit({.rate = 0.1, .burst = 1}));
    routes.get("/", [](http::request&) { return http::response::text("in"); });
    http::server_options options;
    options.listen.clear();
    options.routes = std::move(routes);
    http::server server(std::move(options));
    EXPECT_EQ(co_await status_for_peer(server, gyre::address("10.0.0.1:1000")), "200");
    EXPECT_EQ(co_await status_for_peer(server, gyre::address("10.0.0.1:1001")), "429");
    EXPECT_EQ(co_await status_for_peer(server, gyre::address("10.0.0.2:1000")), "200");
    EXPECT_EQ(co_await status_for_peer(server, gyre::address("[2001:db8::1]:1")), "200");
    EXPECT_EQ(co_await status_for_peer(server, gyre::address("[2001:db8::ffff:2]:1")), "429");
    EXPECT_EQ(co_await status_for_peer(server, gyre::address("[2001:db8:0:1::1]:1")), "200");
    EXPECT_EQ(co_await status_for_peer(server, gyre::address("[::ffff:10.0.0.9]:1")), "200");
    EXPECT_EQ(co_await status_for_peer(server, gyre::address("[::ffff:10.0.0.8]:1")), "200");
    co_await gyre::sleep(1s);
  });
}
