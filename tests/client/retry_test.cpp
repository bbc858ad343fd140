// tests/client/retry_test.cpp: which requests are sent again, and how often.
#include <gyre/testing/http_mock_server.hpp>

#include "tests/client/scripted_server.hpp"
#include "tests/support/denied_call.hpp"

#include <sys/socket.h>

#include <cstdint>
#include <string>

using namespace gyre_test;

TEST(client_retry, a_server_that_is_busy_is_asked_again_unless_it_wants_a_long_wait) {
  gyre::testing::run_test([]() -> gyre::task<> {
    gyre::testing::http_mock_server server;
    const auto reply_busy = [&server](std::string_view wait) {
      server.reply(http::response::error(503, "busy").add_field("Retry-After", wait));
    };
    http::client client({.retries = {.attempts = 3, .backoff = 1ms}, .connector = server.connector()});
    reply_busy("0");
    reply_busy("0");
    server.reply(200, "hello");
    EXPECT_EQ(co_await fetched(client, "http://a.test/"), "hello");
    EXPECT_EQ(client.counts().retried, 2U);
    reply_busy("100");
    auto busy = co_await client.get("http://a.test/");
    EXPECT_EQ(busy.status(), 503);
    EXPECT_EQ(client.counts().retried, 2U);
    EXPECT_EQ(server.connections(), 1);
  });
}

TEST(client_retry, the_last_answer_is_the_result) {
  gyre::testing::run_test([]() -> gyre::task<> {
    gyre::testing::http_mock_server server([](http::request&) { return http::response::text("busy").set_status(503); });
    http::client client({.retries = {.attempts = 2, .backoff = 1ms}, .connector = server.connector()});
    EXPECT_EQ(co_await fetched(client, "http://a.test/"), "busy");
    EXPECT_EQ(client.counts().retried, 1U);
    auto post = co_await client.post("http://a.test/", "x", "text/plain");
    EXPECT_EQ(co_await post.read_all(), "busy");
    EXPECT_EQ(client.counts().retried, 1U);
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

// RFC 9110 §9.2.2. On a fresh connection nothing is known: the server may have done what the request wants.
TEST(client_retry, only_requests_that_may_be_sent_twice_are_repeated_once_they_were_written) {
  const auto requests = [](std::string method, std::string key) {
    std::size_t seen = 0;
    gyre::testing::run_test([&]() -> gyre::task<> {
      gyre::testing::http_mock_server server;
      server.reply_bytes("").reply(204);
      http::client client({.retries = {.attempts = 3}, .connector = server.connector()});
      auto request = client.request(method, "http://a.test/");
      if (!key.empty()) request.header(key, "7");
      const std::string error = co_await error_of(request.send());
      seen = server.requests().size();
      EXPECT_EQ(error.empty(), seen == 2) << error;
    });
    return seen;
  };
  for (const std::string method : {"GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"})
    EXPECT_EQ(requests(method, ""), 2U) << method;
  for (const std::string method : {"POST", "PATCH", "LOCK", "get"}) EXPECT_EQ(requests(method, ""), 1U) << method;
  EXPECT_EQ(requests("POST", "Idempotency-Key"), 2U);
  EXPECT_EQ(requests("PATCH", "x-idempotency-key"), 2U);
}

// The connection is reset after the client has looked at it, and before it writes. So poll(2) sees nothing.
TEST(client_retry, a_post_is_repeated_when_its_reused_connection_took_no_byte_of_it) {
  const auto outcome = in_child_process([] {
#ifdef SYS_poll
    deny_call(SYS_poll, 0);
#else
    deny_call(SYS_ppoll, 0);
#endif
    int descriptor = -1;
    int posts = 0;
    int answers = 0;
    std::uint64_t retried = 0;
    with_client(
        [&](peer& client) -> gyre::task<> {
          descriptor = client.stream().native_descriptor();
          for (;;) {
            const std::string request = co_await client.request();
            if (request.empty()) co_return;
            if (request.starts_with("POST")) ++posts;
            co_await client.answer("hello");
          }
        },
        [&](http::client& client, scripted_server& server) -> gyre::task<> {
          for (int i = 0; i < 20; ++i) {
            const std::string first = co_await fetched(client, server.url());
            const sockaddr none{.sa_family = AF_UNSPEC, .sa_data = {}};
            if (::connect(descriptor, &none, sizeof(none)) != 0) co_return;
            auto response = co_await client.post(server.url(), "x", "text/plain");
            const std::string second = co_await response.read_all();
            answers += first == "hello" && second == "hello" ? 1 : 0;
          }
          retried = client.counts().retried;
        });
    return std::to_string(posts) + " posts, " + std::to_string(answers) + " answers, " + std::to_string(retried) +
           " retried";
  });
  EXPECT_EQ(outcome.text, "20 posts, 20 answers, 20 retried");
}

// Over TLS, and on streams of the program, nobody knows whether a byte was written.
TEST(client_retry, a_post_is_not_repeated_on_a_reused_stream_that_is_no_socket) {
  gyre::testing::run_test([]() -> gyre::task<> {
    gyre::testing::http_mock_server server;
    server.reply(204).reply_bytes("").reply(204).reply_bytes("").reply(204);
    http::client client({.connector = server.connector()});
    (void)co_await client.get("http://a.test/");
    (void)co_await client.get("http://a.test/");
    EXPECT_EQ(client.counts().retried, 1U);
    EXPECT_NE(co_await error_of(client.post("http://a.test/", "x", "text/plain")), "");
    EXPECT_EQ(client.counts().retried, 1U);
    EXPECT_EQ(server.requests().size(), 4U);
  });
}

TEST(client_retry, the_total_covers_all_attempts_and_the_waits_between_them) {
  for (const auto backoff : {0ms, 300ms})
    for (const bool silent : {true, false})
      gyre::testing::run_test([&]() -> gyre::task<> {
        gyre::testing::http_mock_server server;
        for (int i = 0; i < 100; ++i) silent ? server.stall() : server.reply(503);
        http::client client({.timeouts = {.first_byte = 400ms, .total = 1s},
                             .retries = {.attempts = 100, .backoff = backoff},
                             .connector = server.connector()});
        const auto begin = gyre::now();
        const std::string error = co_await error_of(client.get("http://a.test/"));
        const auto used = gyre::now() - begin;
        EXPECT_LE(used, 1s + 10ms);
        if (silent) EXPECT_NE(error.find("timed out after"), std::string::npos) << error;
        const std::size_t within = silent ? 3 : backoff > 0ms ? 7 : 11;
        EXPECT_LE(server.requests().size(), within) << "no attempt begins after the end";
        EXPECT_EQ(client.counts().in_use, 0U);
      });
}
