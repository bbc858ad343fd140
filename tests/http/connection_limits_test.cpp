// tests/http/connection_limits_test.cpp: limits on the number of connections.
#include <gyre/http/server_limits.hpp>
#include <gyre/http/shared_connection_count.hpp>

#include "tests/http/socket_server.hpp"

#include <atomic>
#include <thread>
#include <vector>

using namespace gyre_test;

TEST(connection_limits, a_connection_too_many_is_told_503_and_closed) {
  if (over_tls()) GTEST_SKIP() << "over TLS, a connection too many is closed without an answer";
  http::server_options options = options_for(says("hello"));
  options.limits.connections = 2;
  run_in_memory(std::move(options), [](memory_server& here) -> gyre::task<> {
    auto first = here.connect();
    auto second = here.connect();
    auto third = here.connect();
    const auto refused = co_await third.answer();
    EXPECT_EQ(refused.status, 503);
    EXPECT_EQ(refused.field("Connection"), "close");
    co_await third.expect_end();
    const auto served_one = co_await first.ask(hello_request);
    EXPECT_EQ(served_one.status, 200);
  });
}

TEST(connection_limits, a_refused_client_takes_nobodys_place) {
  http::server_options options = options_for(says("hello"));
  options.limits.connections = 1;
  run_in_memory(std::move(options), [](memory_server& here) -> gyre::task<> {
    auto first = here.connect();
    (void)co_await first.ask(hello_request);
    auto refused = here.connect();
    const auto refusal = co_await refused.answer();
    EXPECT_EQ(refusal.status, 503);
    co_await first.send("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    (void)co_await first.rest();  // closed, while the refused connection is still open
    const auto next = co_await here.get("/");
    EXPECT_EQ(next.status, 200);
  });
}

TEST(connection_limits, connections_of_one_address_are_counted_by_themselves) {
  if (over_tls()) GTEST_SKIP() << "over TLS, a connection too many is closed without an answer";
  http::server_options options = options_for(says("hello"));
  options.limits.connections_per_address = 1;
  run_on_sockets(std::move(options), [](socket_server& here) -> gyre::task<> {
    const auto port = here.server().where().substr(here.server().where().find(':'));
    auto connect_from = [&](const char* host) -> gyre::task<tcp_client> {
      gyre::connect_options from;
      from.local = gyre::address::parse(std::string(host) + ":0").value();
      auto stream = co_await gyre::tcp_stream::connect(gyre::address::parse("127.0.0.1" + port).value(), from);
      co_return tcp_client(std::move(stream));
    };
    auto first = co_await connect_from("127.0.0.2");
    const auto answer = co_await first.ask(hello_request);
    EXPECT_EQ(answer.status, 200);
    auto second = co_await connect_from("127.0.0.2");
    const auto refused = co_await second.answer();
    EXPECT_EQ(refused.status, 503);
    auto other = co_await connect_from("127.0.0.3");
    const auto other_answer = co_await other.ask(hello_request);
    EXPECT_EQ(other_answer.status, 200);
    co_await first.send("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    (void)co_await first.rest();  // closed, while the refused connection is still open
    auto third = co_await connect_from("127.0.0.2");
    const auto third_answer = co_await third.ask(hello_request);
    EXPECT_EQ(third_answer.status, 200);
  });
}

TEST(connection_limits, servers_that_are_counted_together_keep_one_limit) {
  http::shared_connection_count together;
  const auto one_connection = [&] {
    http::server_options options = options_for(says("hello"));
    options.limits.connections = 1;
    options.counted_with = &together;
    return options;
  };
  run_in_memory(one_connection(), [&](memory_server& here) -> gyre::task<> {
    auto first = here.connect();
    (void)co_await first.ask(hello_request);
    memory_server there(one_connection());
    auto refused = there.connect();
    const auto refusal = co_await refused.answer();
    EXPECT_EQ(refusal.status, 503);
    co_await first.send("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    (void)co_await first.rest();
    const auto answer = co_await there.get("/");
    EXPECT_EQ(answer.status, 200);
  });
}

TEST(connection_limits, a_count_that_threads_share_never_passes_its_limit) {
  http::shared_connection_count counted;
  std::atomic<int> now = 0;
  std::atomic<bool> exceeded = false;
  const auto come_and_go = [&] {
    for (int i = 0; i < 20'000; ++i) {
      if (!counted.add(2)) continue;
      if (now.fetch_add(1) >= 2) exceeded = true;
      now.fetch_sub(1);
      counted.remove();
    }
  };
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) threads.emplace_back(come_and_go);
  }
  EXPECT_FALSE(exceeded);
  EXPECT_TRUE(counted.add(1)) << "somebody's place was not given back";
}
