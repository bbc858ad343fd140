// tests/http/server_drain_test.cpp: how a server stops.
#include <gyre/http/server.hpp>

#include "tests/http/gated_app.hpp"
#include "tests/http/socket_server.hpp"
#include "tests/support/long_turns.hpp"

using namespace gyre_test;
using http::response;

TEST(server_drain, closes_idle_connections_soon_and_refuses_new_ones) {
  gated_app app;
  http::server_options options = options_for(app.routes());
  options.timeouts.last_request = 50ms;
  run_on_sockets(std::move(options), [&](socket_server& here) -> gyre::task<> {
    auto idle = co_await here.connect();
    (void)co_await idle.ask(hello_request);
    auto silent = co_await here.connect();
    co_await gyre::yield();
    const auto begin = gyre::now();
    here.tell_to_stop();
    co_await idle.expect_end();
    EXPECT_FALSE(idle.was_reset());
    (void)co_await silent.rest();
    co_await here.stopped();
    EXPECT_GE(since(begin), 50ms);
    EXPECT_LT(since(begin), 5s);
    EXPECT_TRUE(here.server().draining());
    EXPECT_EQ(here.server().connections(), 0U);
    const auto refused = co_await error_of(here.connect());
    EXPECT_NE(refused.find("Connection refused"), std::string::npos) << refused;
  });
}

TEST(server_drain, finishes_requests_under_way_and_says_close) {
  gated_app app;
  run_on_sockets(options_for(app.routes()), [&](socket_server& here) -> gyre::task<> {
    auto client = co_await here.connect();
    co_await client.send(slow_request);
    co_await app.began.wait();
    here.tell_to_stop();
    co_await gyre::sleep(300ms);
    EXPECT_FALSE(here.has_stopped());
    app.go_on.set();
    const auto answer = co_await client.answer();
    EXPECT_EQ(answer.body, "at last");
    EXPECT_EQ(answer.field("Connection"), "close");
    co_await client.expect_end();
    client.close();
    const auto begin = gyre::now();
    co_await here.stopped();
    EXPECT_LT(since(begin), 1s);
    EXPECT_FALSE(app.was_cancelled);
  });
}

TEST(server_drain, a_request_that_is_on_its_way_is_still_answered) {
  gated_app app;
  http::server_options options = options_for(app.routes());
  options.timeouts.last_request = 5s;
  run_on_sockets(std::move(options), [&](socket_server& here) -> gyre::task<> {
    auto client = co_await here.connect();
    (void)co_await client.ask(hello_request);
    here.tell_to_stop();
    co_await gyre::sleep(50ms);
    const auto answer = co_await client.ask(hello_request);
    EXPECT_EQ(answer.body, "at once");
    EXPECT_EQ(answer.field("Connection"), "close");
  });
}

TEST(server_drain, clients_that_connect_before_the_port_closes_are_answered) {
  if (over_tls()) GTEST_SKIP() << "this client writes plain text to its socket";
  gated_app app;
  run_on_sockets(options_for(app.routes()), [&](socket_server& here) -> gyre::task<> {
    co_await gyre::yield();
    here.tell_to_stop();
    auto peers = co_await connect_in_long_turns(gyre::address(here.server().where()), hello_request);
    EXPECT_FALSE(peers.empty());
    for (gyre::tcp_stream& peer : peers) {
      tcp_client client(std::move(peer));
      const auto answer = co_await client.answer();
      EXPECT_EQ(answer.body, "at once");
      EXPECT_EQ(answer.field("Connection"), "close");
    }
  });
}

TEST(server_drain, a_handler_that_takes_longer_than_the_drain_is_cancelled) {
  gated_app app;
  http::server_options options = options_for(app.routes());
  options.timeouts.drain = 400ms;
  run_on_sockets(std::move(options), [&](socket_server& here) -> gyre::task<> {
    auto client = co_await here.connect();
    co_await client.send(slow_request);
    co_await app.began.wait();
    const auto begin = gyre::now();
    here.tell_to_stop();
    co_await here.stopped();
    EXPECT_TRUE(app.was_cancelled);
    EXPECT_GE(since(begin), 400ms);
    EXPECT_LT(since(begin), 5s);
  });
}

TEST(server_drain, a_stream_that_ends_during_it_does_not_leave_an_idle_connection) {
  gyre::event began;
  gyre::event go_on;
  auto events = [&](http::request&) {
    auto produce = [&](http::body_writer& out) -> gyre::task<> {
      co_await out.write("one;");
      began.set();
      co_await go_on.wait();
      co_await out.write("two;");
    };
    return response::stream(produce);
  };
  http::server_options options = options_for(events);
  options.timeouts.drain = 60s;
  options.timeouts.last_request = 50ms;
  run_on_sockets(std::move(options), [&](socket_server& here) -> gyre::task<> {
    auto client = co_await here.connect();
    co_await client.send(hello_request);
    co_await began.wait();
    here.tell_to_stop();
    co_await gyre::sleep(200ms);
    go_on.set();
    const auto answer = co_await client.answer();
    EXPECT_EQ(answer.body, "one;two;");
    const auto begin = gyre::now();
    co_await client.expect_end();
    client.close();
    co_await here.stopped();
    EXPECT_LE(since(begin), 1s);
  });
}

TEST(server_drain, clients_that_keep_connecting_do_not_keep_the_server_alive) {
  gated_app app;
  run_on_sockets(options_for(app.routes()), [&](socket_server& here) -> gyre::task<> {
    co_await gyre::yield();
    int connected = 0;
    auto connect = [&]() -> gyre::task<> {
      for (;; ++connected) (void)co_await here.connect();
    };
    auto connecting = gyre::spawn(connect);
    for (int i = 0; i < 10; ++i) co_await gyre::yield();
    here.tell_to_stop();
    co_await connecting.wait();  // until it is refused
    EXPECT_LT(connected, 10'000);
    co_await here.stopped();
  });
}

TEST(server_drain, a_cancelled_server_throws_when_it_has_drained) {
  run_real([]() -> gyre::task<> {
    auto serving = gyre::spawn(http::serve(options_for(says(""))));
    co_await gyre::sleep(10ms);
    serving.cancel();
    co_await serving.wait();
    EXPECT_TRUE(serving.state().was_cancelled());
  });
}

namespace {

/// How an exchange ends that a drain of 100 ms interrupts, as the observer of the server hears it.
exchange_log heard_of_drained(http::handler routes, gyre::event& began) {
  exchange_log heard;
  http::server_options options = options_for(std::move(routes));
  options.timeouts.drain = 100ms;
  options.observer = &heard;
  run_on_sockets(std::move(options), [&](socket_server& here) -> gyre::task<> {
    auto client = co_await here.connect();
    co_await client.send(slow_request);
    co_await began.wait();
    here.tell_to_stop();
    co_await here.stopped();
  });
  EXPECT_EQ(heard.targets, std::vector<std::string>{"/slow"});
  EXPECT_EQ(heard.complete, std::vector<bool>{false});
  return heard;
}

}  // namespace

TEST(server_drain, the_observer_hears_of_a_request_that_it_cancels) {
  gated_app app;
  EXPECT_EQ(heard_of_drained(app.routes(), app.began).statuses, std::vector<int>{503});
}

TEST(server_drain, the_observer_hears_of_a_response_that_it_cuts_off) {
  gyre::event began;
  const auto stream = [&](http::request&) {
    auto produce = [&](http::body_writer& out) -> gyre::task<> {
      co_await out.write("first");
      began.set();
      co_await forever();
    };
    return response::stream(produce);
  };
  const exchange_log heard = heard_of_drained(stream, began);
  EXPECT_EQ(heard.statuses, std::vector<int>{200});
  EXPECT_EQ(heard.bytes, std::vector<std::uint64_t>{5});
}

TEST(server_drain, the_observer_hears_of_a_client_that_takes_nothing) {
  gyre::event began;
  const auto large = [&](http::request&) {
    began.set();
    return response::bytes(std::string(30'000'000, 'x'));
  };
  const exchange_log heard = heard_of_drained(large, began);
  EXPECT_EQ(heard.statuses, std::vector<int>{200});
  EXPECT_LT(heard.bytes.at(0), 30'000'000U);
}

TEST(server_drain, the_observer_hears_of_a_connection_in_memory_that_is_cancelled) {
  gated_app app;
  exchange_log heard;
  http::server_options options = options_for(app.routes());
  options.observer = &heard;
  run_virtual([&]() -> gyre::task<> {
    given_connection here(std::move(options));
    co_await here.client.send(slow_request);
    co_await app.began.wait();
    here.serving.cancel();
    co_await here.serving.wait();
  });
  EXPECT_EQ(heard.statuses, std::vector<int>{503});
  EXPECT_EQ(heard.complete, std::vector<bool>{false});
}
