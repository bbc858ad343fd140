// tests/net/tcp_serve_test.cpp: a listener that serves its connections.
#include <gyre/net/tcp_listener.hpp>

#include "tests/net/connected_pair.hpp"
#include "tests/net/echo.hpp"
#include "tests/support/co_assert.hpp"
#include "tests/support/failure_log.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <source_location>
#include <stdexcept>

using namespace gyre_test;

namespace {

gyre::task<bool> answers(gyre::tcp_stream& peer) {
  std::array<std::byte, 4> reply;
  co_await peer.write_all("ping");
  const auto n = co_await gyre::as_expected(gyre::timeout(10s, peer.read_exactly(reply)));
  co_return n&& text_of(reply) == "ping";
}

}  // namespace

TEST(tcp_serve, serve_runs_a_task_for_each_connection) {
  run_test([]() -> gyre::task<> {
    test_server server(echo);
    for (int i = 0; i < 5; ++i) {
      auto client = co_await server.connect();
      EXPECT_TRUE(co_await answers(client));
    }
    co_await server.stop();
  });
}

TEST(tcp_serve, a_failing_handler_is_reported_and_the_others_go_on) {
  run_with_listener([](gyre::tcp_listener& listener) -> gyre::task<> {
    const failure_log log;
    auto handler = [](gyre::tcp_stream peer) -> gyre::task<> {
      while (const gyre::buffer_lease lease = co_await peer.receive()) {
        if (lease.text() == "fail") throw std::runtime_error("as asked");
        co_await peer.write_all(lease.bytes());
      }
    };
    const unsigned line = std::source_location::current().line() + 1;
    auto server = gyre::spawn(listener.serve(handler));
    auto good = co_await gyre::tcp_stream::connect(listener.local_address());
    auto bad = co_await gyre::tcp_stream::connect(listener.local_address());
    co_await bad.write_all("fail");
    const gyre::buffer_lease end = co_await bad.receive();
    EXPECT_FALSE(end);
    CO_ASSERT_EQ(log.entries.size(), 1U);
    EXPECT_EQ(log.entries[0].line, line) << "where the program serves";
    EXPECT_EQ(log.entries[0].name, bad.local_address().string()) << "the peer";
    EXPECT_TRUE(co_await answers(good));
    co_await good.close();
    server.cancel();
    co_await server.wait();
  });
}

TEST(tcp_serve, a_cancelled_server_answers_what_had_arrived_ends_idle_connections_and_throws) {
  run_test([]() -> gyre::task<> {
    test_server server(echo);
    auto idle = co_await server.connect();
    auto busy = co_await server.connect();
    EXPECT_TRUE(co_await answers(idle));
    EXPECT_TRUE(co_await answers(busy));
    co_await busy.write_all("last");
    server.serving.cancel();
    std::array<std::byte, 4> reply;
    EXPECT_EQ(co_await busy.read_exactly(reply), 4U);
    EXPECT_EQ(text_of(reply), "last");
    const gyre::buffer_lease end = co_await idle.receive();
    EXPECT_FALSE(end);
    co_await server.serving.wait();
    EXPECT_TRUE(server.serving.state().was_cancelled());
  });
}

TEST(tcp_serve, connections_that_do_not_end_in_time_are_cancelled) {
  run_test([]() -> gyre::task<> {
    bool cancelled = false;
    auto handler = [&](gyre::tcp_stream /*peer*/) -> gyre::task<> {
      try {
        co_await gyre::sleep(1h);
      } catch (const gyre::cancelled&) {
        cancelled = true;
        throw;
      }
    };
    test_server server(handler, {.max_connections = 10, .drain = 30ms});
    auto client = co_await server.connect();
    co_await settle();
    co_await server.stop();
    EXPECT_TRUE(cancelled);
  });
}

TEST(tcp_serve, serving_at_most_no_connections_is_refused) {
  run_with_listener([](gyre::tcp_listener& listener) -> gyre::task<> {
    std::string reason;
    try {
      co_await gyre::timeout(10s, listener.serve(echo, {.max_connections = 0}));
    } catch (const std::invalid_argument& error) {
      reason = error.what();
    }
    EXPECT_EQ(reason, "serve: max_connections is 0: no connection would ever be served");
  });
}

TEST(tcp_serve, a_negative_drain_or_backlog_is_refused) {
  run_test([]() -> gyre::task<> {
    EXPECT_THROW((void)gyre::tcp_listener::bind("127.0.0.1:0", {.backlog = -5}), std::invalid_argument);
    auto listener = gyre::tcp_listener::bind("127.0.0.1:0");
    bool refused = false;
    try {
      co_await gyre::timeout(10s, listener.serve(echo, {.drain = -5s}));
    } catch (const std::invalid_argument&) {
      refused = true;
    }
    EXPECT_TRUE(refused);
  });
}

TEST(tcp_serve, with_max_connections_further_ones_wait_until_one_ends) {
  run_test([]() -> gyre::task<> {
    test_server server(echo, {.max_connections = 1});
    auto first = co_await server.connect();
    EXPECT_TRUE(co_await answers(first));
    auto second = co_await server.connect();
    co_await second.write_all("ping");
    const auto early = co_await gyre::as_expected(gyre::timeout(30ms, second.receive()));
    EXPECT_FALSE(early);
    co_await first.close();
    const gyre::buffer_lease reply = co_await gyre::timeout(10s, second.receive());
    EXPECT_EQ(reply.text(), "ping");
    co_await second.close();
    co_await server.stop();
  });
}

TEST(tcp_serve, accepting_pauses_without_descriptors_and_goes_on_when_they_return) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  run_test([before]() -> gyre::task<> {
    test_server server(echo);
    co_await settle();
    // A connection that was made while descriptors were available. Then all descriptors are taken.
    std::vector<gyre::tcp_stream> clients;
    for (int i = 0; i < 3; ++i) clients.push_back(co_await server.connect());
    for (auto& each : clients) EXPECT_TRUE(co_await answers(each));
    const int waiting = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    rlimit low = before;
    low.rlim_cur = static_cast<rlim_t>(waiting) + 1;
    ::setrlimit(RLIMIT_NOFILE, &low);
    const gyre::address to = server.where();
    ::connect(waiting, static_cast<const sockaddr*>(to.data()), to.size());
    co_await gyre::sleep(120ms);
    EXPECT_TRUE(co_await answers(clients[0]));  // the other clients are served meanwhile
    ::setrlimit(RLIMIT_NOFILE, &before);
    auto late = gyre::tcp_stream::from_fd(waiting);
    EXPECT_TRUE(co_await answers(late));
    clients.clear();
    co_await late.close();
    co_await server.stop();
  });
  ::setrlimit(RLIMIT_NOFILE, &before);
}

TEST(tcp_serve, ten_thousand_idle_connections_are_held_and_served) {
  rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
  const std::size_t count = std::min<std::size_t>(10'000, (limit.rlim_cur - 200) / 2);
  run_test([count]() -> gyre::task<> {
    test_server server(echo);
    std::vector<gyre::tcp_stream> clients;
    for (std::size_t i = 0; i < count; ++i) clients.push_back(co_await server.connect());
    for (std::size_t i = 0; i < clients.size(); i += 97) EXPECT_TRUE(co_await answers(clients[i]));
    clients.clear();
    co_await server.stop();
  });
}
