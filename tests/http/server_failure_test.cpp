// tests/http/server_failure_test.cpp: handlers that take too long, and clients that disconnect.
#include <gyre/http/server.hpp>

#include "tests/http/socket_server.hpp"

#include <unistd.h>

using namespace gyre_test;
using http::response;

namespace {

/// Records what happened to the waiting handler.
struct waiter {
  gyre::event began;
  gyre::event ended;
  bool was_cancelled = false;

  gyre::task<> wait() {
    struct at_end {
      waiter& self;
      bool done = false;
      ~at_end() {
        self.was_cancelled = !done;
        self.ended.set();
      }
    } guard{*this};
    began.set();
    co_await forever();
    guard.done = true;
  }
};

http::handler waits_in_handler(waiter& who) {
  return [&who](http::request&) -> gyre::task<response> {
    co_await who.wait();
    co_return response();
  };
}
http::handler waits_in_stream(waiter& who) {
  return [&who](http::request&) {
    auto produce = [&who](http::body_writer& out) -> gyre::task<> {
      co_await out.write("first");
      co_await who.wait();
    };
    return response::stream(produce);
  };
}

enum class leave { by_reset, by_close, by_half };

template <class Client>
gyre::task<> disconnect(Client& client, leave how) {
  if (how == leave::by_reset) reset(client);
  if (how == leave::by_close) client.close();
  if (how == leave::by_half) co_await client.shutdown_write();
}

/// The client sends a request and disconnects while the handler waits, in memory and over a socket. Expects that the
/// handler is cancelled.
void expect_cancelled_when(http::handler (*make)(waiter&), leave how, int status) {
  for (const bool in_memory : connections_in_memory()) {
    waiter who;
    exchange_log heard;
    http::server_options options = options_for(make(who));
    options.observer = &heard;
    if (!in_memory) options.timeouts.half_closed = 50ms;
    run_with_client(in_memory, std::move(options), [&](auto& server, auto& client) -> gyre::task<> {
      reports none;
      co_await client.send(hello_request);
      co_await who.began.wait();
      co_await disconnect(client, how);
      co_await who.ended.wait();
      EXPECT_TRUE(who.was_cancelled);
      for (int i = 0; i < 10'000 && server.connections() > 0; ++i) co_await gyre::sleep(1ms);
      EXPECT_EQ(none.texts, std::vector<std::string>());
    });
    EXPECT_EQ(heard.statuses, std::vector<int>{status}) << in_memory;
    EXPECT_EQ(heard.complete, std::vector<bool>{false}) << in_memory;
  }
}

TEST(server_failure, a_streamed_answer_is_sent_to_its_end_when_the_body_of_its_request_is_not_wanted) {
  const auto stream = [](http::request&) {
    return http::response::stream([](http::body_writer& out) -> gyre::task<> { co_await out.write("all of it"); });
  };
  auto body = [](memory_server& here) -> gyre::task<> {
    auto client = here.connect();
    const auto answer = co_await client.ask("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\nabc");
    EXPECT_EQ(answer.body, "all of it");
  };
  run_in_memory(options_for(stream), body);
}

}  // namespace

TEST(server_failure, a_handler_is_cancelled_when_its_client_closes) {
  expect_cancelled_when(waits_in_handler, leave::by_close, 499);
}
TEST(server_failure, a_handler_is_cancelled_when_its_client_has_finished_sending) {
  if (over_tls()) GTEST_SKIP() << "a server that does not read takes close_notify for the next request";
  expect_cancelled_when(waits_in_handler, leave::by_half, 499);
}
TEST(server_failure, a_handler_is_cancelled_when_its_client_resets) {
  expect_cancelled_when(waits_in_handler, leave::by_reset, 499);
}
TEST(server_failure, a_reset_cancels_at_once_and_a_half_closed_connection_after_a_second) {
  for (const leave how : {leave::by_reset, leave::by_half}) {
    waiter who;
    run_client(options_for(waits_in_handler(who)), [&](memory_client& client) -> gyre::task<> {
      co_await client.send(hello_request);
      co_await who.began.wait();
      const auto began = gyre::now();
      co_await disconnect(client, how);
      co_await who.ended.wait();
      EXPECT_EQ(gyre::now() - began >= 1s, how == leave::by_half);
      EXPECT_LT(gyre::now() - began, 1100ms);
    });
  }
}
TEST(server_failure, a_client_that_has_finished_sending_gets_an_answer_that_comes_soon) {
  const auto takes_a_while = [](http::request&) -> gyre::task<response> {
    co_await gyre::sleep(900ms);
    co_return response::text("here it is");
  };
  run_in_memory(options_for(takes_a_while), [](memory_server& here) -> gyre::task<> {
    auto client = here.connect();
    co_await client.send(hello_request);
    co_await client.shutdown_write();
    const auto answer = co_await client.answer();
    EXPECT_EQ(answer.body, "here it is");
  });
}
TEST(server_failure, a_client_that_has_finished_sending_gets_a_large_answer_to_its_end) {
  const auto large = [](http::request&) { return response::text(std::string(8'000'000, 'x')); };
  http::server_options options = options_for(large);
  options.timeouts.half_closed = 50ms;
  run_on_sockets(std::move(options), [](socket_server& here) -> gyre::task<> {
    auto client = co_await here.connect();
    co_await client.send(hello_request);
    co_await client.shutdown_write();
    co_await gyre::sleep(250ms);
    const auto answer = co_await client.answer();
    EXPECT_EQ(answer.body.size(), 8'000'000U);
  });
}
TEST(server_failure, a_body_is_cancelled_when_its_client_closes) {
  expect_cancelled_when(waits_in_stream, leave::by_close, 200);
}
TEST(server_failure, a_body_is_cancelled_when_its_client_resets) {
  expect_cancelled_when(waits_in_stream, leave::by_reset, 200);
}

TEST(server_failure, a_client_that_leaves_in_the_middle_of_its_body_cancels_the_handler_that_reads_it) {
  waiter who;
  auto read_then_wait = [&](http::request& r) -> gyre::task<response> {
    try {
      (void)co_await r.body().read_all();
    } catch (const gyre::incomplete_transfer&) {
      who.was_cancelled = true;
      who.ended.set();
      throw;
    }
    co_return response();
  };
  run_in_memory(options_for(read_then_wait), [&](memory_server& here) -> gyre::task<> {
    reports none;
    auto client = here.connect();
    co_await client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n01234");
    co_await client.shutdown_write();
    co_await client.expect_end();
    EXPECT_TRUE(who.was_cancelled);
    EXPECT_EQ(none.texts, std::vector<std::string>());
  });
}

TEST(server_failure, a_client_that_resets_behind_a_part_of_its_body_before_that_is_read_ends_the_request_at_once) {
  if (over_tls()) GTEST_SKIP() << "this client writes plain text to its socket";
  exchange_log heard;
  http::server_options options = options_for([](http::request& r) -> gyre::task<response> {
    (void)co_await r.body().read_all();
    co_return response();
  });
  options.observer = &heard;
  run_on_sockets(std::move(options), [&](socket_server& here) -> gyre::task<> {
    reports none;
    co_await gyre::yield();
    // All of this has arrived before the server looks for the first time.
    const auto where = gyre::address::parse(here.server().where()).value();
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const bool connected = ::connect(fd, static_cast<const sockaddr*>(where.data()), where.size()) == 0;
    CO_ASSERT_TRUE(connected);
    const std::string part = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n01234";
    EXPECT_EQ(::send(fd, part.data(), part.size(), MSG_NOSIGNAL), static_cast<ssize_t>(part.size()));
    const linger at_once{.l_onoff = 1, .l_linger = 0};
    ::setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
    ::close(fd);
    const auto begin = gyre::now();
    for (int i = 0; i < 10'000 && heard.statuses.empty(); ++i) co_await gyre::sleep(1ms);
    EXPECT_LT(since(begin), 5s) << "and not when the time for bodies is over";
    EXPECT_EQ(heard.statuses, std::vector<int>{499});
    EXPECT_EQ(none.texts, std::vector<std::string>());
  });
}

TEST(server_failure, a_handler_whose_time_is_over_is_cancelled_and_answered_with_503) {
  waiter who;
  http::server_options options = options_for(waits_in_handler(who));
  options.timeouts.handler = 5s;
  run_client(std::move(options), [&](memory_client& client) -> gyre::task<> {
    const auto begin = gyre::now();
    const auto answer = co_await client.ask(hello_request + hello_request);
    EXPECT_EQ(answer.status, 503);
    EXPECT_EQ(answer.body, "the server took too long to respond\n");
    EXPECT_EQ(since(begin), 5s);
    EXPECT_TRUE(who.was_cancelled);
    const auto next = co_await client.answer();
    EXPECT_EQ(next.status, 503) << "the connection goes on, and the next request has its own time";
    EXPECT_EQ(since(begin), 10s);
  });
}

TEST(server_failure, a_large_value_whose_time_is_over_is_cut_off) {
  http::server_options options =
      options_for([](http::request&) { return response::text(std::string(20'000'000, 'x')); });
  options.timeouts.handler = 5s;
  run_in_memory(std::move(options), [](memory_server& here) -> gyre::task<> {
    auto client = here.connect();
    const auto begin = gyre::now();
    co_await client.send(hello_request);
    while (here.server().connections() == 0) co_await gyre::yield();
    while (here.server().connections() > 0) co_await gyre::sleep(10ms);
    EXPECT_EQ(since(begin) / 1s, 5);
  });
}
TEST(server_failure, a_large_answer_that_was_ready_too_late_is_sent_to_a_client_that_has_finished_sending) {
  const auto slow = [](http::request&) -> gyre::task<response> {
    try {
      co_await forever();
    } catch (const gyre::cancelled&) {
    }
    co_return response::text(std::string(3'000'000, 'x'));
  };
  http::server_options options = options_for(slow);
  options.timeouts.handler = 500ms;
  run_client(std::move(options), [](memory_client& client) -> gyre::task<> {
    co_await client.send(hello_request);
    co_await client.shutdown_write();
    co_await gyre::sleep(3s);
    const auto answer = co_await client.answer();
    EXPECT_EQ(answer.body.size(), 3'000'000U);
  });
}
TEST(server_failure, a_body_whose_time_is_over_is_cut_off) {
  waiter who;
  http::server_options options = options_for(waits_in_stream(who));
  options.timeouts.handler = 5s;
  run_client(std::move(options), [&](memory_client& client) -> gyre::task<> {
    co_await client.send(hello_request);
    const auto rest = co_await client.rest();
    EXPECT_TRUE(who.was_cancelled);
    EXPECT_NE(rest.find("first"), std::string::npos);
    EXPECT_EQ(rest.find("0\r\n\r\n"), std::string::npos);
    EXPECT_TRUE(client.was_reset()) << "so that a client of HTTP/1.0 sees it too";
  });
}

TEST(server_failure, an_answer_that_was_ready_in_spite_of_its_deadline_is_sent) {
  auto stubborn = [](http::request&) -> gyre::task<response> {
    auto work = []() -> gyre::task<> { co_await gyre::sleep(10s); };
    co_await gyre::shield(work);
    co_return response::text("ready");
  };
  http::server_options options = options_for(stubborn);
  options.timeouts.handler = 5s;
  run_in_memory(std::move(options), [](memory_server& here) -> gyre::task<> {
    const auto answer = co_await here.get("/");
    EXPECT_TRUE(answer.status == 200 || answer.status == 503) << answer.status;
  });
}
