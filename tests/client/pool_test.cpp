// tests/client/pool_test.cpp: when a connection is used again, and when it is not.
#include "tests/client/scripted_server.hpp"

#include <algorithm>
#include <thread>
#include <vector>

using namespace gyre_test;

namespace {

/// Lets the loop look at the kernel until `done()` is true.
template <class Condition>
gyre::task<> until(Condition done) {
  for (int i = 0; i < 10'000 && !done(); ++i) co_await gyre::sleep(100us);
  EXPECT_TRUE(done());
}

gyre::task<> get(http::client& client, const scripted_server& server) {
  EXPECT_EQ(co_await fetched(client, server.url()), "hello");
}

/// Greets once on a connection, and answers its second request with these bytes, or not at all. Connections after
/// the first `rude` ones are answered properly.
peer_script greets_once(int rude, std::string bytes = {}) {
  return [rude, bytes = std::move(bytes)](peer& client) -> gyre::task<> {
    if (client.number() > rude) co_return co_await say_hello(client);
    (void)co_await client.request();
    co_await client.answer("hello");
    (void)co_await client.request();
    if (!bytes.empty()) co_await client.send(bytes);
  };
}

/// Answers one request in this way, and every later one of the connection properly.
peer_script first_answer(std::string bytes) {
  return [bytes = std::move(bytes)](peer& client) -> gyre::task<> {
    (void)co_await client.request();
    co_await client.send(bytes);
    co_await say_hello(client);
  };
}

/// The number of connections that two requests need when the first is answered like that.
void expect_connections(int expected, std::string answer, http::client_options options = {}) {
  with_server(first_answer(std::move(answer)), [&](scripted_server& server) -> gyre::task<> {
    http::client client(options);
    (void)co_await fetched(client, server.url());
    (void)co_await fetched(client, server.url());
    EXPECT_EQ(server.connections(), expected);
  });
}

constexpr std::string_view hello = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";

}  // namespace

TEST(client_pool, requests_that_follow_each_other_share_a_connection) {
  with_client(say_hello, [](http::client& client, scripted_server& server) -> gyre::task<> {
    for (int i = 0; i < 10; ++i) co_await get(client, server);
    EXPECT_EQ(server.connections(), 1);
    EXPECT_EQ(client.counts().idle, 1U);
    EXPECT_EQ(client.counts().in_use, 0U);
    EXPECT_EQ(client.counts().opened, 1U);
  });
}

TEST(client_pool, a_connection_that_must_not_be_used_again_is_closed) {
  const std::string head = "HTTP/1.1 200 OK\r\n";
  expect_connections(1, std::string(hello));
  expect_connections(2, head + "Connection: close\r\nContent-Length: 5\r\n\r\nhello");
  expect_connections(2, "HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nhello");
  expect_connections(1, "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 5\r\n\r\nhello");
  expect_connections(2, "HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n");
  expect_connections(2, std::string(hello) + "surplus");
  expect_connections(2, std::string(hello) + std::string(hello));
  expect_connections(1, head + "Keep-Alive: max=5, timeout=100\r\nContent-Length: 0\r\n\r\n");
  expect_connections(2, head + "Keep-Alive: timeout=0\r\nContent-Length: 0\r\n\r\n");
  expect_connections(2, std::string(hello), {.limits = {.idle_connections_per_origin = 0}});
  expect_connections(2, std::string(hello), {.limits = {.idle_connections = 0}});
  expect_connections(2, std::string(hello), {.limits = {.idle = 0ns}});
  expect_connections(2, std::string(hello), {.limits = {.age = 0ns}});
}

TEST(client_pool, a_request_that_says_close_is_the_last_one_of_its_connection) {
  with_client(say_hello, [](http::client& client, scripted_server& server) -> gyre::task<> {
    auto request = client.request("GET", server.url());
    auto response = co_await request.header("Connection", "close").send();
    EXPECT_EQ(co_await response.read_all(), "hello");
    EXPECT_EQ(client.counts().idle, 0U);
  });
}

TEST(client_pool, an_idle_connection_that_the_server_closes_or_resets_is_forgotten) {
  for (const bool resets : {false, true})
    with_client(
        [&](peer& client) -> gyre::task<> {
          (void)co_await client.request();
          co_await client.answer("hello");
          resets ? client.reset() : client.close();
        },
        [](http::client& client, scripted_server& server) -> gyre::task<> {
          co_await get(client, server);
          co_await until([&] { return client.counts().idle == 0; });
          co_await get(client, server);
          EXPECT_EQ(client.counts().retried, 0U);
          EXPECT_EQ(server.connections(), 2);
        });
}

TEST(client_pool, idle_connections_are_closed_after_a_while) {
  gyre::event closed;
  with_server(
      [&](peer& client) -> gyre::task<> {
        (void)co_await client.request();
        co_await client.answer("hello");
        EXPECT_EQ(co_await client.rest(), "");
        closed.set();
      },
      [&](scripted_server& server) -> gyre::task<> {
        http::client client({.limits = {.idle = 5ms}});
        co_await get(client, server);
        co_await closed.wait();
        EXPECT_EQ(client.counts().idle, 0U);
      });
}

TEST(client_pool, the_oldest_idle_connection_goes_when_there_are_too_many) {
  with_server(say_hello, [](scripted_server& first) -> gyre::task<> {
    scripted_server second(say_hello);
    auto serving = gyre::spawn(second.run());
    http::client client({.limits = {.idle_connections = 1}});
    co_await get(client, first);
    co_await get(client, second);
    EXPECT_EQ(client.counts().idle, 1U);
    co_await get(client, second);
    EXPECT_EQ(second.connections(), 1);
    co_await get(client, first);
    EXPECT_EQ(first.connections(), 2);
    client.close_idle();
    EXPECT_EQ(client.counts().idle, 0U);
    serving.cancel();
    co_await serving.wait();
  });
}

TEST(client_pool, requests_wait_in_order_for_a_connection) {
  with_server(
      [](peer& client) -> gyre::task<> {
        for (;;) {
          const std::string request = co_await client.request();
          if (request.empty()) co_return;
          co_await gyre::sleep(500us);
          co_await client.answer(request.substr(4, request.find(' ', 4) - 4));
        }
      },
      [](scripted_server& server) -> gyre::task<> {
        http::client client({.limits = {.connections_per_origin = 1}});
        std::string order;
        auto ask = [&](int number) -> gyre::task<> {
          auto response = co_await client.get(server.url("/" + std::to_string(number)));
          order += co_await response.read_all();
        };
        auto all = [&](gyre::task_group& group) -> gyre::task<> {
          for (int i = 0; i < 8; ++i) {
            group.spawn(ask(i));
            co_await gyre::yield();
          }
          EXPECT_EQ(client.counts().waiting, 7U);
          EXPECT_EQ(client.counts().in_use, 1U);
        };
        co_await gyre::task_group::scope(all);
        EXPECT_EQ(order, "/0/1/2/3/4/5/6/7");
        EXPECT_EQ(server.connections(), 1);
        EXPECT_EQ(client.counts().waiting, 0U);
      });
}

TEST(client_pool, waiting_for_a_connection_has_a_limit) {
  with_server(say_hello, [](scripted_server& server) -> gyre::task<> {
    http::client client({.timeouts = {.queue = 5ms}, .limits = {.connections_per_origin = 1}});
    scripted_server slow([](peer& other) -> gyre::task<> {
      (void)co_await other.request();
      co_await other.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhe");
      (void)co_await other.rest();
    });
    auto serving = gyre::spawn(slow.run());
    {
      auto holds = co_await client.get(slow.url());
      EXPECT_EQ(co_await fetched(client, slow.url()), "GET URL (waiting for a connection): timed out after 5 ms");
      EXPECT_EQ(client.counts().waiting, 0U);
      co_await get(client, server);  // another origin has its own
    }
    auto again = co_await client.get(slow.url());
    EXPECT_EQ(again.status(), 200);
    serving.cancel();
    co_await serving.wait();
  });
}

TEST(client_pool, a_whole_small_response_frees_its_connection_before_it_is_read) {
  with_server(say_hello, [](scripted_server& server) -> gyre::task<> {
    http::client client({.limits = {.connections_per_origin = 1}});
    auto first = co_await client.get(server.url());
    auto second = co_await client.get(server.url());
    EXPECT_EQ(co_await second.read_all(), "hello");
    EXPECT_EQ(co_await first.read_all(), "hello");
    EXPECT_EQ(server.connections(), 1);
  });
}

TEST(client_pool, a_closed_connection_costs_an_idempotent_request_nothing) {
  // The server closes just when the request is on its way: it reads it, and does not answer.
  for (const std::string method : {"GET", "PUT", "DELETE"})
    with_client(greets_once(1), [&](http::client& client, scripted_server& server) -> gyre::task<> {
      co_await get(client, server);
      auto request = client.request(method, server.url());
      if (method == "PUT") request.body("text");
      auto response = co_await request.send();
      EXPECT_EQ(co_await response.read_all(), "hello");
      EXPECT_EQ(client.counts().retried, 1U);
      EXPECT_EQ(server.connections(), 2);
    });
}

TEST(client_pool, other_requests_are_not_repeated_unless_they_have_a_key) {
  with_client(greets_once(2), [&](http::client& client, scripted_server& server) -> gyre::task<> {
    co_await get(client, server);
    EXPECT_EQ(co_await error_of(client.post(server.url(), "x", "text/plain")),
              "POST " + server.url() + ": the server closed the connection before it answered");
    co_await get(client, server);
    auto request = client.request("POST", server.url());
    auto response = co_await request.body("x").header("Idempotency-Key", "7").send();
    EXPECT_EQ(co_await response.read_all(), "hello");
    EXPECT_EQ(client.counts().retried, 1U);
  });
}

TEST(client_pool, a_post_is_not_repeated_after_a_408_which_an_application_may_have_sent) {
  with_server(greets_once(2, "HTTP/1.1 408 Request Timeout\r\nContent-Length: 2\r\n\r\nno"),
              [](scripted_server& server) -> gyre::task<> {
                for (const char* const body : {"", "x"}) {
                  http::client client;
                  EXPECT_EQ(co_await fetched(client, server.url()), "hello");
                  auto response = co_await client.post(server.url(), body, "text/plain");
                  EXPECT_EQ(response.status(), 408);
                  EXPECT_EQ(co_await response.read_all(), "no");
                  EXPECT_EQ(client.counts().retried, 0U);
                }
              });
}

TEST(client_pool, a_408_on_a_reused_connection_means_that_the_server_was_about_to_close_it) {
  with_client(greets_once(1, "HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"),
              [&](http::client& client, scripted_server& server) -> gyre::task<> {
                co_await get(client, server);
                co_await get(client, server);
                EXPECT_EQ(server.connections(), 2);
              });
}

TEST(client_pool, origins_do_not_share_connections) {
  with_client(say_hello, [](http::client& client, scripted_server& server) -> gyre::task<> {
    co_await get(client, server);
    std::string other = server.url();
    other.replace(other.find("127.0.0.1"), 9, "localhost");
    EXPECT_EQ(co_await fetched(client, other), "hello");
    EXPECT_EQ(server.connections(), 2);
    EXPECT_EQ(client.counts().idle, 2U);
  });
}
