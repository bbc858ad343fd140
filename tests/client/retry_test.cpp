// tests/client/retry_test.cpp: which requests are sent again, and how often.
#include "tests/client/scripted_server.hpp"

using namespace gyre_test;

TEST(client_retry, a_server_that_is_busy_is_asked_again) {
  with_server(
      [](peer& client) -> gyre::task<> {
        for (int i = 1;; ++i) {
          const std::string request = co_await client.request();
          if (request.empty()) co_return;
          if (i < 3)
            co_await client.send("HTTP/1.1 503 Busy\r\nRetry-After: 0\r\nContent-Length: 0\r\n\r\n");
          else
            co_await client.answer("hello");
        }
      },
      [](scripted_server& server) -> gyre::task<> {
        http::client client({.retries = {.attempts = 3, .backoff = 1ms}});
        EXPECT_EQ(co_await fetched(client, server.url()), "hello");
        EXPECT_EQ(client.counts().retried, 2U);
        EXPECT_EQ(server.connections(), 1);
      });
}

TEST(client_retry, the_last_answer_is_the_result) {
  with_server(
      [](peer& client) -> gyre::task<> {
        for (;;) {
          const std::string request = co_await client.request();
          if (request.empty()) co_return;
          co_await client.send("HTTP/1.1 503 Busy\r\nContent-Length: 4\r\n\r\nbusy");
        }
      },
      [](scripted_server& server) -> gyre::task<> {
        http::client client({.retries = {.attempts = 2, .backoff = 1ms}});
        EXPECT_EQ(co_await fetched(client, server.url()), "busy");
        EXPECT_EQ(client.counts().retried, 1U);
        auto post = co_await client.post(server.url(), "x", "text/plain");
        EXPECT_EQ(co_await post.read_all(), "busy");
        EXPECT_EQ(client.counts().retried, 1U);
      });
}

TEST(client_retry, a_server_that_wants_a_long_wait_is_not_asked_again) {
  with_server(answers_once("HTTP/1.1 503 Busy\r\nRetry-After: 100\r\nContent-Length: 4\r\n\r\nbusy"),
              [](scripted_server& server) -> gyre::task<> {
                http::client client({.retries = {.attempts = 5, .backoff = 1ms}});
                EXPECT_EQ(co_await fetched(client, server.url()), "busy");
                EXPECT_EQ(client.counts().retried, 0U);
              });
}

TEST(client_retry, the_budget_bounds_the_retries_of_all_requests) {
  with_server(
      [](peer& client) -> gyre::task<> {
        client.close();
        co_return;
      },
      [](scripted_server& server) -> gyre::task<> {
        http::client client({.retries = {.attempts = 3, .backoff = 10us, .budget_percent = 0}});
        for (int i = 0; i < 20; ++i) EXPECT_NE((co_await fetched(client, server.url())).find("GET URL"), 0U + 1);
        EXPECT_EQ(client.counts().retried, 10U);
        EXPECT_EQ(server.connections(), 30);
      });
}

TEST(client_retry, a_connection_that_was_refused_may_be_tried_again_for_any_method) {
  run_real([]() -> gyre::task<> {
    std::string where;
    {
      auto listener = gyre::tcp_listener::bind("127.0.0.1:0");
      where = listener.local_address().string();
    }
    http::client client({.retries = {.attempts = 3, .backoff = 10us}});
    EXPECT_NE(co_await error_of(client.post("http://" + where, "x", "text/plain")), "");
    EXPECT_EQ(client.counts().retried, 2U);
  });
}
