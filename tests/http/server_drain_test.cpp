// tests/http/server_drain_test.cpp: how a server stops.
#include <gyre/http/server.hpp>

#include "tests/http/socket_server.hpp"
#include "tests/support/long_turns.hpp"

using namespace gyre_test;
using http::response;

namespace {

/// Answers "/" at once, and any other path when the test allows it.
struct gated_app {
  gyre::event began;
  gyre::event go_on;
  bool was_cancelled = false;

  http::handler routes() {
    return [this](http::request& r) -> gyre::task<response> {
      if (r.path() == "/") co_return response::text("at once");
      began.set();
      try {
        co_await go_on.wait();
      } catch (const gyre::cancelled&) {
        was_cancelled = true;
        throw;
      }
      co_return response::text("at last");
    };
  }
};

const std::string slow_request = "GET /slow HTTP/1.1\r\nHost: a\r\n\r\n";

}  // namespace

TEST(server_drain, closes_idle_connections_soon_and_refuses_new_ones) {
  gated_app app;
  http::server_options options = options_for(app.routes());
  options.timeouts.last_request = 50ms;
  run_on_sockets(std::move(options), [&](socket_server& here) -> gyre::task<> {
    auto idle = co_await here.connect();
    co_await idle.send(hello_request);
    (void)co_await idle.answer();
    auto silent = co_await here.connect();
    co_await gyre::yield();
    const auto begin = gyre::now();
    here.tell_to_stop();
    const auto rest = co_await idle.rest();
    EXPECT_EQ(rest, "");
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

TEST(server_drain, a_connection_with_empty_lines_behind_its_last_request_is_idle) {
  gated_app app;
  run_virtual([&]() -> gyre::task<> {
    given_connection here(options_for(app.routes()));
    co_await here.client.send(hello_request + "\r\n");
    (void)co_await here.client.answer();
    const auto begin = gyre::now();
    gyre::request_stop();
    co_await gyre::sleep(100ms);
    co_await here.client.send("\r\n");
    co_await here.serving;
    EXPECT_LE(since(begin), 260ms);
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
    const auto rest = co_await client.rest();
    EXPECT_EQ(rest, "");
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
    co_await client.send(hello_request);
    (void)co_await client.answer();
    here.tell_to_stop();
    co_await gyre::sleep(50ms);
    co_await client.send(hello_request);
    const auto answer = co_await client.answer();
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

TEST(server_drain, cancels_what_takes_longer_than_its_time) {
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
    const auto rest = co_await client.rest();
    EXPECT_EQ(rest, "");
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

TEST(server_drain, a_stop_request_lets_the_server_drain_and_return) {
  gated_app app;
  run_real([&]() -> gyre::task<> {
    http::server server(encrypted(options_for(app.routes())));
    auto serving = gyre::spawn(server.run());
    tcp_client client(co_await gyre::tcp_stream::connect(server.where()));
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

TEST(server_drain, a_stop_request_cancels_what_takes_longer_than_the_drain_and_the_server_still_returns) {
  gated_app app;
  http::server_options options = options_for(app.routes());
  options.timeouts.drain = 400ms;
  run_real([&]() -> gyre::task<> {
    http::server server(encrypted(std::move(options)));
    auto serving = gyre::spawn(server.run());
    tcp_client client(co_await gyre::tcp_stream::connect(server.where()));
    co_await client.send(slow_request);
    co_await app.began.wait();
    const auto begin = gyre::now();
    gyre::request_stop();
    co_await serving;
    EXPECT_GE(since(begin), 400ms);
    EXPECT_TRUE(app.was_cancelled);
  });
}

TEST(server_drain, a_server_that_starts_after_the_stop_request_drains_at_once) {
  run_real([]() -> gyre::task<> {
    gyre::request_stop();
    co_await http::serve(options_for(says("")));
  });
}

TEST(server_drain, a_server_that_does_not_observe_stop_requests_serves_on) {
  http::server_options options = options_for(says("still here"));
  options.observe_stop = false;
  run_real([&]() -> gyre::task<> {
    http::server server(encrypted(std::move(options)));
    auto serving = gyre::spawn(server.run());
    gyre::request_stop();
    co_await gyre::stop_requested();
    tcp_client client(co_await gyre::tcp_stream::connect(server.where()));
    co_await client.send(hello_request);
    const auto answer = co_await client.answer();
    EXPECT_EQ(answer.body, "still here");
    serving.cancel();
    co_await serving.wait();
    EXPECT_TRUE(serving.state().was_cancelled());
  });
}

// ---- connections that the program accepts

TEST(server_drain, a_stop_request_drains_a_connection_that_was_given_to_the_server) {
  gated_app app;
  run_virtual([&]() -> gyre::task<> {
    given_connection here(options_for(app.routes()));
    co_await here.client.send(slow_request);
    co_await app.began.wait();
    gyre::request_stop();
    co_await gyre::sleep(3s);
    EXPECT_TRUE(here.server.draining());
    app.go_on.set();
    const auto answer = co_await here.client.answer();
    EXPECT_EQ(answer.body, "at last");
    EXPECT_EQ(answer.field("Connection"), "close");
    co_await here.serving;  // returns normally
  });
}

TEST(server_drain, a_stop_request_ends_a_given_connection_that_is_idle) {
  run_virtual([]() -> gyre::task<> {
    given_connection here(options_for(says("once")));
    co_await here.client.send(hello_request);
    (void)co_await here.client.answer();
    const auto begin = gyre::now();
    gyre::request_stop();
    co_await here.serving;
    EXPECT_LE(since(begin), 260ms);
    const auto rest = co_await here.client.rest();
    EXPECT_EQ(rest, "");
  });
}

TEST(server_drain, a_given_connection_that_takes_longer_than_the_drain_is_cancelled) {
  gated_app app;
  http::server_options options = options_for(app.routes());
  options.timeouts.drain = 4s;
  run_virtual([&]() -> gyre::task<> {
    given_connection here(std::move(options));
    co_await here.client.send(slow_request);
    co_await app.began.wait();
    const auto begin = gyre::now();
    gyre::request_stop();
    co_await here.serving;
    EXPECT_EQ(since(begin), 4s);
    EXPECT_TRUE(app.was_cancelled);
  });
}

TEST(server_drain, a_connection_that_is_given_after_the_stop_request_is_answered_once) {
  run_virtual([]() -> gyre::task<> {
    gyre::request_stop();
    co_await gyre::stop_requested();
    given_connection here(options_for(says("once")));
    co_await here.client.send(hello_request);
    const auto answer = co_await here.client.answer();
    EXPECT_EQ(answer.field("Connection"), "close");
    co_await here.serving;
  });
}

TEST(server_drain, a_given_connection_of_a_server_that_does_not_observe_stop_requests_goes_on) {
  http::server_options options = options_for(says("still here"));
  options.observe_stop = false;
  run_virtual([&]() -> gyre::task<> {
    given_connection here(std::move(options));
    gyre::request_stop();
    co_await gyre::stop_requested();
    co_await here.client.send(hello_request);
    const auto answer = co_await here.client.answer();
    EXPECT_EQ(answer.field("Connection"), "keep-alive");
    here.serving.cancel();
    co_await here.serving.wait();
  });
}

TEST(server_drain, the_observer_hears_of_a_request_that_it_cancels) {
  gated_app app;
  exchange_log heard;
  http::server_options options = options_for(app.routes());
  options.timeouts.drain = 100ms;
  options.observer = &heard;
  run_on_sockets(std::move(options), [&](socket_server& here) -> gyre::task<> {
    auto client = co_await here.connect();
    co_await client.send(slow_request);
    co_await app.began.wait();
    here.tell_to_stop();
    co_await here.stopped();
    EXPECT_EQ(heard.targets, std::vector<std::string>{"/slow"});
    EXPECT_EQ(heard.statuses, std::vector<int>{503});
    EXPECT_EQ(heard.complete, std::vector<bool>{false});
    const auto rest = co_await client.rest();
    EXPECT_EQ(rest, "");
  });
}

TEST(server_drain, the_observer_hears_of_a_response_that_it_cuts_off) {
  gyre::event began;
  exchange_log heard;
  http::server_options options = options_for([&](http::request&) {
    auto produce = [&](http::body_writer& out) -> gyre::task<> {
      co_await out.write("first");
      began.set();
      co_await forever();
    };
    return response::stream(produce);
  });
  options.timeouts.drain = 100ms;
  options.observer = &heard;
  run_on_sockets(std::move(options), [&](socket_server& here) -> gyre::task<> {
    auto client = co_await here.connect();
    co_await client.send(hello_request);
    co_await began.wait();
    here.tell_to_stop();
    co_await here.stopped();
    EXPECT_EQ(heard.statuses, std::vector<int>{200});
    EXPECT_EQ(heard.bytes, std::vector<std::uint64_t>{5});
    EXPECT_EQ(heard.complete, std::vector<bool>{false});
  });
}

TEST(server_drain, the_observer_hears_of_a_client_that_takes_nothing) {
  gyre::event began;
  exchange_log heard;
  http::server_options options = options_for([&](http::request&) {
    began.set();
    return response::bytes(std::string(30'000'000, 'x'));
  });
  options.timeouts.drain = 100ms;
  options.observer = &heard;
  run_on_sockets(std::move(options), [&](socket_server& here) -> gyre::task<> {
    auto client = co_await here.connect();
    co_await client.send(hello_request);
    co_await began.wait();
    here.tell_to_stop();
    co_await here.stopped();
    EXPECT_EQ(heard.statuses, std::vector<int>{200});
    EXPECT_LT(heard.bytes.at(0), 30'000'000U);
    EXPECT_EQ(heard.complete, std::vector<bool>{false});
  });
}

TEST(server_drain, the_observer_hears_of_a_connection_in_memory_that_is_cancelled) {
  exchange_log heard;
  http::server_options options = options_for([](http::request&) -> gyre::task<response> {
    co_await forever();
    co_return response();
  });
  options.observer = &heard;
  run_virtual([&]() -> gyre::task<> {
    given_connection here(std::move(options));
    co_await here.client.send(slow_request);
    co_await gyre::sleep(1s);
    here.serving.cancel();
    co_await here.serving.wait();
    EXPECT_EQ(heard.statuses, std::vector<int>{503});
    EXPECT_EQ(heard.complete, std::vector<bool>{false});
  });
}
