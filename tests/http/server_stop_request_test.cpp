// tests/http/server_stop_request_test.cpp: what a request to stop the program means for a server that listens, and for
// one that is given its connections.
#include <gyre/http/server.hpp>

#include "tests/http/gated_app.hpp"
#include "tests/http/socket_server.hpp"

using namespace gyre_test;

namespace {

class server_stop_request : public testing::TestWithParam<bool> {
 protected:
  /// Runs `body(server, client, serving)` with a server that has one connection.
  template <class Body>
  static void run(http::server_options options, Body body) {
    if (GetParam()) {
      run_real([&]() -> gyre::task<> {
        http::server server(encrypted(std::move(options)));
        auto serving = gyre::spawn(server.run());
        tcp_client client(co_await gyre::tcp_stream::connect(server.where()));
        co_await body(server, client, serving);
      });
    } else {
      run_virtual([&]() -> gyre::task<> {
        given_connection here(std::move(options));
        co_await body(here.server, here.client, here.serving);
      });
    }
  }
};

}  // namespace

TEST_P(server_stop_request, a_stop_request_lets_the_server_drain_and_return) {
  gated_app app;
  run(options_for(app.routes()), [&](http::server& server, auto& client, auto& serving) -> gyre::task<> {
    co_await client.send(slow_request);
    co_await app.began.wait();
    gyre::request_stop();
    co_await gyre::sleep(300ms);
    EXPECT_TRUE(server.draining());
    EXPECT_FALSE(serving.done());
    app.go_on.set();
    const auto answer = co_await client.answer();
    EXPECT_EQ(answer.body, "at last");
    EXPECT_EQ(answer.field("Connection"), "close");
    client.close();
    co_await serving;  // returns normally
  });
}

TEST_P(server_stop_request,
       a_stop_request_cancels_a_handler_that_takes_longer_than_the_drain_and_the_server_still_returns) {
  gated_app app;
  http::server_options options = options_for(app.routes());
  options.timeouts.drain = 400ms;
  run(std::move(options), [&](http::server&, auto& client, auto& serving) -> gyre::task<> {
    co_await client.send(slow_request);
    co_await app.began.wait();
    const auto begin = gyre::now();
    gyre::request_stop();
    co_await serving;
    EXPECT_GE(since(begin), 400ms);
    if (!GetParam()) EXPECT_EQ(since(begin), 400ms);  // virtual time
    EXPECT_TRUE(app.was_cancelled);
  });
}

TEST_P(server_stop_request, a_stop_request_ends_an_idle_connection) {
  run(options_for(says("once")), [&](http::server&, auto& client, auto& serving) -> gyre::task<> {
    (void)co_await client.ask(hello_request);
    const auto begin = gyre::now();
    gyre::request_stop();
    co_await client.expect_end();
    client.close();
    co_await serving;
    if (!GetParam()) EXPECT_LE(since(begin), 260ms);
  });
}

TEST_P(server_stop_request, a_stop_request_does_not_stop_a_server_that_does_not_observe_it) {
  http::server_options options = options_for(says("still here"));
  options.observe_stop = false;
  run(std::move(options), [&](http::server&, auto& client, auto& serving) -> gyre::task<> {
    gyre::request_stop();
    co_await gyre::stop_requested();
    const auto answer = co_await client.ask(hello_request);
    EXPECT_EQ(answer.body, "still here");
    EXPECT_EQ(answer.field("Connection"), "keep-alive");
    serving.cancel();
    co_await serving.wait();
    if (GetParam()) EXPECT_TRUE(serving.state().was_cancelled());
  });
}

INSTANTIATE_TEST_SUITE_P(servers, server_stop_request, testing::Bool(),
                         [](const auto& each) { return each.param ? "listening" : "given_a_connection"; });

TEST(server_stop_requested, a_server_that_starts_afterwards_drains_at_once) {
  run_real([]() -> gyre::task<> {
    gyre::request_stop();
    co_await http::serve(options_for(says("")));
  });
}

TEST(server_stop_requested, a_connection_that_is_given_afterwards_is_answered_once) {
  run_virtual([]() -> gyre::task<> {
    gyre::request_stop();
    co_await gyre::stop_requested();
    given_connection here(options_for(says("once")));
    const auto answer = co_await here.client.ask(hello_request);
    EXPECT_EQ(answer.field("Connection"), "close");
    co_await here.serving;
  });
}

TEST(server_stop_requested, a_connection_with_empty_lines_behind_its_last_request_is_idle) {
  run_virtual([&]() -> gyre::task<> {
    given_connection here(options_for(says("at once")));
    (void)co_await here.client.ask(hello_request + "\r\n");
    const auto begin = gyre::now();
    gyre::request_stop();
    co_await gyre::sleep(100ms);
    co_await here.client.send("\r\n");
    co_await here.serving;
    EXPECT_LE(since(begin), 260ms);
  });
}
