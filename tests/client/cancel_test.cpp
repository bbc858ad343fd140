// tests/client/cancel_test.cpp: what a cancelled request leaves behind.
#include <gyre/testing/cancel_at_every_await.hpp>

#include "tests/client/scripted_server.hpp"

#include <exception>
#include <utility>

using namespace gyre_test;

namespace {

/// A server and a client; a whole exchange of this kind.
template <class Exchange>
void cancel_everywhere(Exchange exchange) {
  int answered = 0;
  const auto scenario = [&]() -> gyre::task<> {
    scripted_server server([](peer& client) -> gyre::task<> {
      for (;;) {
        const std::string request = co_await client.request();
        if (request.empty()) co_return;
        co_await client.send(
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n");
        co_await gyre::yield();
        co_await client.send("2\r\nde\r\n0\r\n\r\n");
      }
    });
    auto both = [&](gyre::task_group& group) -> gyre::task<> {
      group.spawn(server.run());
      http::client client({.timeouts = {.expect = 100us}, .limits = {.connections_per_origin = 1}});
      std::exception_ptr failure;
      try {
        co_await exchange(client, server);
      } catch (const gyre::io_error&) {
        failure = std::current_exception();
      }
      co_await gyre::yield();  // the server is cancelled, too, and may have closed the connection first
      if (failure) std::rethrow_exception(failure);
      const http::client_counts left = client.counts();
      EXPECT_EQ(left.in_use, 0U);
      EXPECT_EQ(left.waiting, 0U);
      ++answered;
      group.cancel();
    };
    co_await gyre::task_group::scope(both);
  };
  const auto report = gyre::testing::cancel_at_every_await(scenario, [](bool) {});
  EXPECT_GT(report.cancelled, 10U);
  EXPECT_GE(answered, 1);
}

}  // namespace

TEST(client_cancel, a_cancel_anywhere_in_two_requests_leaks_nothing) {
  cancel_everywhere([](http::client& client, scripted_server& server) -> gyre::task<> {
    for (int i = 0; i < 2; ++i) {
      auto response = co_await client.get(server.url());
      EXPECT_EQ(co_await response.read_all(), "abcde");
    }
  });
}

TEST(client_cancel, a_cancel_anywhere_while_requests_queue_leaks_nothing) {
  cancel_everywhere([](http::client& client, scripted_server& server) -> gyre::task<> {
    auto get = [&]() -> gyre::task<> {
      auto response = co_await client.get(server.url());
      EXPECT_EQ(co_await response.read_all(), "abcde");
    };
    auto all = gyre::gather(get(), get(), get());
    co_await std::move(all);
  });
}

TEST(client_cancel, a_cancel_anywhere_in_a_body_that_is_sent_leaks_nothing) {
  cancel_everywhere([](http::client& client, scripted_server& server) -> gyre::task<> {
    int left = 3;
    auto request = client.request("POST", server.url());
    request.body(
        [&left]() -> gyre::task<std::string_view> {
          co_await gyre::yield();
          co_return left-- > 0 ? "abcdefghij" : "";
        },
        30);
    request.expect_continue();
    auto response = co_await request.send();
    EXPECT_EQ(co_await response.read_all(), "abcde");
  });
}

TEST(client_cancel, a_request_that_is_cancelled_closes_its_connection) {
  gyre::event gone;
  with_client(
      [&](peer& client) -> gyre::task<> {
        (void)co_await client.rest();
        gone.set();
      },
      [&](http::client& client, scripted_server& server) -> gyre::task<> {
        auto asking = gyre::spawn([&]() -> gyre::task<> { (void)co_await client.get(server.url()); });
        co_await gyre::sleep(2ms);
        asking.cancel();
        co_await asking.wait();
        co_await gone.wait();
        EXPECT_EQ(client.counts().in_use + client.counts().idle, 0U);
      });
}

TEST(client_cancel, a_cancelled_read_of_a_body_loses_nothing) {
  gyre::event more;
  with_client(
      [&](peer& client) -> gyre::task<> {
        (void)co_await client.request();
        co_await client.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nab");
        co_await more.wait();
        co_await client.send("c\r\n2\r\nde\r\n0\r\n\r\n");
        (void)co_await client.rest();
      },
      [&](http::client& client, scripted_server& server) -> gyre::task<> {
        auto response = co_await client.get(server.url());
        std::string all(co_await response.body().receive());
        for (int i = 0; i < 3; ++i) EXPECT_NE(co_await error_of(gyre::timeout(1ms, response.body().receive())), "");
        more.set();
        all += co_await response.read_all();
        EXPECT_EQ(all, "abcde");
        EXPECT_EQ(client.counts().idle, 1U);
      });
}

TEST(client_cancel, an_upload_that_is_cancelled_halfway_ends_its_connection_and_no_other_request_uses_it) {
  std::string first;
  gyre::event half;
  with_client(
      [&](peer& client) -> gyre::task<> {
        if (client.number() > 1) co_return co_await say_hello(client);
        while (client.received().find("half") == std::string::npos) (void)co_await client.receive();
        half.set();
        first = co_await client.rest();
      },
      [&](http::client& client, scripted_server& server) -> gyre::task<> {
        auto asking = gyre::spawn([&]() -> gyre::task<> {
          bool begun = false;
          auto request = client.request("PUT", server.url());
          request.body(
              [&begun]() -> gyre::task<std::string_view> {
                if (std::exchange(begun, true)) co_await gyre::event().wait();
                co_return "half";
              },
              8);
          (void)co_await request.send();
        });
        co_await half.wait();
        asking.cancel();
        co_await asking.wait();
        EXPECT_EQ(client.counts().in_use + client.counts().idle, 0U);
        EXPECT_EQ(co_await fetched(client, server.url()), "hello");
        EXPECT_TRUE(first.ends_with("\r\n\r\nhalf")) << first;
        EXPECT_EQ(client.counts().retried, 0U);
      });
}
