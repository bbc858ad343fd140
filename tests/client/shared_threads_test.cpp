// tests/client/shared_threads_test.cpp: what clients of several loops share: pauses of servers, and retries.
#include <gyre/client.hpp>
#include <gyre/gyre.hpp>
#include <gyre/testing/http_mock_server.hpp>

#include "tests/support/error_of.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

using namespace gyre_test;
using namespace std::chrono_literals;
namespace http = gyre::http;

namespace {

/// Runs `body(client, server)` on `loops` threads at the same time, each with a client and a server of its own.
template <class Body>
void on_loops(int loops, const http::client_options& options, Body body) {
  std::vector<std::jthread> all;
  for (int i = 0; i < loops; ++i)
    all.emplace_back([&] {
      gyre::run([&]() -> gyre::task<> {
        gyre::testing::http_mock_server server;
        http::client_options own = options;
        own.connector = server.connector();
        http::client client(own);
        co_await body(client, server);
      });
    });
}

gyre::task<std::string> answer_of(http::client& client) {
  auto request = client.get("http://a.test/");
  const auto response = co_await gyre::as_expected(std::move(request));
  co_return response ? std::to_string(response->status()) : response.error().message();
}

}  // namespace

TEST(circuit_breaker_threads, a_server_that_has_failed_on_one_loop_has_a_pause_on_all) {
  const http::client_middleware breaker = http::circuit_breaker({.failures = 2, .pause = 1h});
  for (int loop = 0; loop < 3; ++loop)
    on_loops(1, {}, [&](http::client& client, gyre::testing::http_mock_server& server) -> gyre::task<> {
      client.use(breaker);
      server.reply(500).reply(500);
      const std::string answer = co_await answer_of(client);
      if (loop < 2)
        EXPECT_EQ(answer, "500");
      else
        EXPECT_NE(answer.find("failed too often"), std::string::npos) << answer;
    });
}

TEST(circuit_breaker_threads, one_request_of_all_loops_finds_out_whether_a_server_works_again) {
  const http::client_middleware breaker = http::circuit_breaker({.failures = 1, .pause = 0ns});
  std::atomic<int> trials = 0;
  std::atomic<int> refused = 0;
  on_loops(1, {}, [&](http::client& client, gyre::testing::http_mock_server& server) -> gyre::task<> {
    client.use(breaker);
    server.reply(500);
    const std::string answer = co_await answer_of(client);
    EXPECT_EQ(answer, "500");
  });
  auto answer_late = [&](http::request& /*request*/) -> gyre::task<http::response> {
    ++trials;
    while (refused < 2) co_await gyre::yield();  // the others have met the pause
    co_return http::response::text("works");
  };
  on_loops(3, {}, [&](http::client& /*client*/, gyre::testing::http_mock_server& /*server*/) -> gyre::task<> {
    gyre::testing::http_mock_server server{http::handler(answer_late)};
    http::client client({.connector = server.connector()});
    client.use(breaker);
    const std::string answer = co_await answer_of(client);
    if (answer != "200") ++refused;
  });
  EXPECT_EQ(trials, 1);
  EXPECT_EQ(refused, 2);
}

TEST(circuit_breaker_threads, a_breaker_counts_for_many_requests_of_several_loops) {
  const http::client_middleware breaker = http::circuit_breaker({.failures = 3, .pause = 1us});
  on_loops(3, {}, [&](http::client& client, gyre::testing::http_mock_server& server) -> gyre::task<> {
    client.use(breaker);
    for (int i = 0; i < 200; ++i) {
      server.reply(i % 3 == 0 ? 200 : 500);
      (void)co_await answer_of(client);
    }
  });
}

TEST(shared_retry_budget_threads, a_budget_bounds_the_retries_of_the_clients_of_all_loops) {
  http::shared_retry_budget budget;
  std::atomic<std::uint64_t> retried = 0;
  const http::client_options options{
      .retries = {.attempts = 3, .backoff = 1us, .budget_percent = 0, .budget = &budget}};
  on_loops(3, options, [&](http::client& client, gyre::testing::http_mock_server& server) -> gyre::task<> {
    for (int i = 0; i < 40; ++i) server.reply(503);
    for (int i = 0; i < 10; ++i) (void)co_await answer_of(client);
    retried += client.counts().retried;
  });
  EXPECT_EQ(retried, 10U);
  EXPECT_FALSE(budget.take());
  for (int i = 0; i < 4; ++i) budget.add_request(25);
  EXPECT_TRUE(budget.take());
  EXPECT_FALSE(budget.take());
  for (int i = 0; i < 3; ++i) budget.add_request(4'000'000'000U);
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(budget.take()) << i;
  EXPECT_FALSE(budget.take()) << "it holds at most 100 retries";
}
