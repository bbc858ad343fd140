// tests/client/timeout_test.cpp: limits of the phases, retries, and what a cancel leaves behind.
#include <gyre/testing/cancel_at_every_await.hpp>

#include "tests/client/scripted_server.hpp"

#include <memory>
#include <vector>

using namespace gyre_test;

namespace {

/// Answers nothing.
gyre::task<> say_nothing(peer& client) { (void)co_await client.rest(); }

gyre::task<std::string> error_with(scripted_server& server, http::client_timeouts limits) {
  http::client client({.timeouts = limits});
  std::string text = co_await fetched(client, server.url());
  EXPECT_EQ(client.counts().in_use + client.counts().idle, 0U);
  co_return text;
}

}  // namespace

TEST(client_timeout, a_silent_server_is_left) {
  with_server(say_nothing, [](scripted_server& server) -> gyre::task<> {
    EXPECT_EQ(co_await error_with(server, {.first_byte = 5ms}),
              "GET URL (waiting for the response): timed out after 5 ms");
    EXPECT_EQ(co_await error_with(server, {.total = 5ms}), "GET URL (waiting for the response): timed out after 5 ms");
  });
}

TEST(client_timeout, interim_responses_do_not_extend_the_time) {
  with_server(
      [](peer& client) -> gyre::task<> {
        for (;;) {
          co_await client.send("HTTP/1.1 102 Processing\r\n\r\n");
          co_await gyre::sleep(1ms);
        }
      },
      [](scripted_server& server) -> gyre::task<> {
        EXPECT_EQ(co_await error_with(server, {.first_byte = 10ms}),
                  "GET URL (waiting for the response): timed out after 10 ms");
      });
}

TEST(client_timeout, a_body_that_stops_is_an_error) {
  with_server(
      [](peer& client) -> gyre::task<> {
        (void)co_await client.request();
        co_await client.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhe");
        (void)co_await client.rest();
      },
      [](scripted_server& server) -> gyre::task<> {
        EXPECT_EQ(co_await error_with(server, {.between_bytes = 5ms}),
                  "GET URL (receiving the body): timed out after 5 ms");
      });
}

TEST(client_timeout, the_total_covers_a_body_that_never_stops) {
  with_server(
      [](peer& client) -> gyre::task<> {
        (void)co_await client.request();
        co_await client.send("HTTP/1.1 200 OK\r\n\r\n");
        for (;;) {
          co_await client.send("more");
          co_await gyre::sleep(500us);
        }
      },
      [](scripted_server& server) -> gyre::task<> {
        EXPECT_EQ(co_await error_with(server, {.total = 10ms}), "GET URL (receiving the body): timed out after 10 ms");
      });
}

TEST(client_timeout, a_server_that_does_not_read_is_left) {
  const std::string text(20'000'000, 'y');
  gyre::event left;
  with_server([&](peer&) -> gyre::task<> { co_await left.wait(); },
              [&](scripted_server& server) -> gyre::task<> {
                http::client client({.timeouts = {.between_bytes = 20ms}});
                auto request = client.request("POST", server.url());
                EXPECT_EQ(co_await error_of(request.body(text).send()),
                          "POST " + server.url() + " (sending the request): timed out after 20 ms");
                left.set();
              });
}

TEST(client_timeout, the_request_has_a_time_limit_of_its_own) {
  with_server(say_nothing, [](scripted_server& server) -> gyre::task<> {
    http::client client;
    auto request = client.request("GET", server.url());
    EXPECT_EQ(co_await error_of(request.timeout(3ms).send()),
              "GET " + server.url() + " (waiting for the response): timed out after 3 ms");
  });
}

TEST(client_timeout, the_time_limit_of_the_calling_task_applies) {
  with_server(say_nothing, [](scripted_server& server) -> gyre::task<> {
    http::client client;
    EXPECT_EQ((co_await error_of(gyre::timeout(3ms, client.get(server.url())))).find("timeout: timed out after 3 ms"),
              0U);
    EXPECT_EQ(client.counts().in_use + client.counts().idle, 0U);
  });
}

TEST(client_timeout, a_connection_that_comes_too_late_is_an_error) {
  // A listener whose backlog is full lets nobody in.
  run_real([]() -> gyre::task<> {
    auto listener = gyre::tcp_listener::bind("127.0.0.1:0", {.backlog = 1});
    std::vector<gyre::tcp_stream> crowd;
    try {
      for (int i = 0; i < 10; ++i)
        crowd.push_back(co_await gyre::timeout(20ms, gyre::tcp_stream::connect(listener.local_address())));
    } catch (const gyre::timed_out&) {
    }
    http::client client({.timeouts = {.connect = 5ms}});
    EXPECT_EQ(co_await fetched(client, "http://" + listener.local_address().string() + "/"),
              "GET URL (connecting): timed out after 5 ms");
    EXPECT_EQ(client.counts().in_use, 0U);
  });
}

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

namespace {

struct world {
  int answered = 0;
};

/// A server and a client; a whole exchange of this kind.
template <class Exchange>
void cancel_everywhere(Exchange exchange) {
  auto seen = std::make_shared<world>();
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
      ++seen->answered;
      group.cancel();
    };
    co_await gyre::task_group::scope(both);
  };
  const auto report = gyre::testing::cancel_at_every_await(scenario, [](bool) {});
  EXPECT_GT(report.cancelled, 10U);
  EXPECT_GE(seen->answered, 1);
}

}  // namespace

TEST(client_cancel, anywhere_in_two_requests_leaks_nothing) {
  cancel_everywhere([](http::client& client, scripted_server& server) -> gyre::task<> {
    for (int i = 0; i < 2; ++i) {
      auto response = co_await client.get(server.url());
      EXPECT_EQ(co_await response.read_all(), "abcde");
    }
  });
}

TEST(client_cancel, anywhere_while_requests_queue_leaks_nothing) {
  cancel_everywhere([](http::client& client, scripted_server& server) -> gyre::task<> {
    auto get = [&]() -> gyre::task<> {
      auto response = co_await client.get(server.url());
      EXPECT_EQ(co_await response.read_all(), "abcde");
    };
    auto all = gyre::gather(get(), get(), get());
    co_await std::move(all);
  });
}

TEST(client_cancel, anywhere_in_a_body_that_is_sent_leaks_nothing) {
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
  with_server(
      [&](peer& client) -> gyre::task<> {
        (void)co_await client.rest();
        gone.set();
      },
      [&](scripted_server& server) -> gyre::task<> {
        http::client client;
        auto asking = gyre::spawn([&]() -> gyre::task<> { (void)co_await client.get(server.url()); });
        co_await gyre::sleep(2ms);
        asking.cancel();
        co_await asking.wait();
        co_await gone.wait();
        EXPECT_EQ(client.counts().in_use + client.counts().idle, 0U);
      });
}
