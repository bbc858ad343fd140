// tests/client/other_loop_threads_test.cpp: an HTTP client that the loops of several threads use.
#include <gyre/client.hpp>
#include <gyre/testing/http_mock_server.hpp>

#include "tests/support/two_loops.hpp"
#include "tests/support/virtual_run.hpp"

#include <optional>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>

namespace http = gyre::http;
using gyre::task;
using gyre::testing::http_mock_server;
using namespace gyre_test;

namespace {

const std::string url = "http://a.test/";

/// A client of the first loop, and what its requests have become there.
struct scene {
  http_mock_server server;
  http::client client{{.connector = server.connector()}};
  std::optional<http::client_request> request;
  http::client_response response;
};

/// Makes a client with a response on one loop, and calls `use(scene)` on the loop of another thread.
template <class Use>
void use_elsewhere(Use use) {
  run_virtual([&]() -> task<> {
    scene s;
    s.server.reply(200, "some text");
    s.response = co_await s.client.get(url);
    s.request.emplace(s.client.request("GET", url));
    std::thread([&] {
      gyre::run([&]() -> task<> {
        if constexpr (std::is_void_v<decltype(use(s))>)
          use(s);
        else
          co_await use(s);
        co_return;
      });
    }).join();
  });
}

task<http::client_response> pass_on(http::client_middleware function, scene& s) {
  auto passing = function(s.client.request("GET", url), http::next_sender(0));
  co_return co_await std::move(passing);
}

/// Sends a request through the middleware on one loop, and then one through a client of another loop.
void use_on_two_loops(const http::client_middleware& shared) {
  run_virtual([&]() -> task<> {
    scene here;
    here.server.reply(200, "first");
    (void)co_await pass_on(shared, here);
    std::thread([&] {
      gyre::run([&]() -> task<> {
        scene there;
        there.server.reply(200, "second");
        (void)co_await pass_on(shared, there);
      });
    }).join();
  });
}

class other_loop_client_death : public testing::Test {
 protected:
  void SetUp() override {
    if (!gyre::checks_everything) GTEST_SKIP() << "a check of debug builds";
  }
};

}  // namespace

TEST_F(other_loop_client_death, a_client_that_another_loop_uses_stops_the_program) {
  const char* const name = "an http::client";
  EXPECT_DEATH(use_elsewhere([](scene& s) -> task<> { (void)co_await s.client.get(url); }), elsewhere("request", name));
  EXPECT_DEATH(use_elsewhere([](scene& s) { (void)s.client.counts(); }), elsewhere("counts", name));
  EXPECT_DEATH(use_elsewhere([](scene& s) { s.client.close_idle(); }), elsewhere("close_idle", name));
  EXPECT_DEATH(use_elsewhere([](scene& s) { s.client.cookies().clear(); }), elsewhere("cookies", name));
  EXPECT_DEATH(use_elsewhere([](scene& s) { const auto gone = std::move(s.client); }), elsewhere("destructor", name));
}

TEST_F(other_loop_client_death, a_request_that_another_loop_uses_stops_the_program) {
  const char* const name = "a request of an http::client";
  EXPECT_DEATH(use_elsewhere([](scene& s) -> task<> { (void)co_await s.request->send(); }), elsewhere("send", name));
  EXPECT_DEATH(use_elsewhere([](scene& s) { s.request.reset(); }), elsewhere("destructor", name));
}

TEST_F(other_loop_client_death, a_response_that_another_loop_uses_stops_the_program) {
  const char* const name = "a response of an http::client";
  EXPECT_DEATH(use_elsewhere([](scene& s) -> task<> { (void)co_await s.response.read_all(); }),
               elsewhere("receive", name));
  EXPECT_DEATH(use_elsewhere([](scene& s) -> task<> { (void)co_await s.response.body().receive(); }),
               elsewhere("receive", name));
  EXPECT_DEATH(use_elsewhere([](scene& s) { const auto gone = std::move(s.response); }), elsewhere("destructor", name));
}

TEST_F(other_loop_client_death, middleware_that_keeps_something_and_that_another_loop_uses_stops_the_program) {
  const auto token = []() -> task<std::string> { co_return "secret"; };
  EXPECT_DEATH(use_on_two_loops(http::bearer_tokens("http://a.test", token)), elsewhere("a request", "bearer_tokens"));
}

TEST(other_loop_client, clients_may_be_used_on_one_loop_after_the_other) {
  std::optional<http::client> client;
  const auto use = [&] {
    gyre::run([&]() -> task<> {
      http_mock_server server;
      server.reply(200, "text");
      client.emplace(http::client_options{.connector = server.connector()});
      auto response = co_await client->get(url);
      const std::string text = co_await response.read_all();
      EXPECT_EQ(text, "text");
      client.reset();
      co_await server.closed();
    });
  };
  use();
  std::thread(use).join();
}
