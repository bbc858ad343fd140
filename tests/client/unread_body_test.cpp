// tests/client/unread_body_test.cpp: responses that the program does not read to their end.
#include "tests/client/scripted_server.hpp"

#include <vector>

using namespace gyre_test;

namespace {

struct answer {
  std::string head, body;
};

answer sized(std::size_t size) {
  return {"HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(size) + "\r\n\r\n", std::string(size, 'x')};
}

answer chunked(std::size_t size) {
  answer made{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", ""};
  for (constexpr std::size_t chunk = 1000; size > 0; size -= chunk)
    made.body += "3e8\r\n" + std::string(chunk, 'x') + "\r\n";
  made.body += "0\r\n\r\n";
  return made;
}

/// Whether the connection is kept after a response is dropped, all of which has arrived.
bool is_kept(const answer& sent) {
  bool kept = false;
  gyre::event begun, complete;
  with_client(
      [&](peer& client) -> gyre::task<> {
        (void)co_await client.request();
        co_await client.send(sent.head);
        co_await begun.wait();
        co_await client.send(sent.body);
        complete.set();
        (void)co_await client.rest();
      },
      [&](http::client& client, scripted_server& server) -> gyre::task<> {
        {
          auto response = co_await client.get(server.url());
          begun.set();
          co_await complete.wait();
          for (int i = 0; i < 10; ++i) co_await gyre::yield_turn();
        }
        EXPECT_EQ(client.counts().in_use, 0U);
        kept = client.counts().idle == 1;
      });
  return kept;
}

}  // namespace

TEST(client_unread_body, a_small_rest_that_has_arrived_is_dropped_and_the_connection_kept) {
  for (const std::size_t size : {1000U, 10'000U, 60'000U}) {
    EXPECT_TRUE(is_kept(sized(size))) << size;
    EXPECT_TRUE(is_kept(chunked(size))) << size;
  }
}

TEST(client_unread_body, more_than_64_kib_closes_the_connection_although_it_has_arrived) {
  for (const std::size_t size : {66'000U, 100'000U, 200'000U}) {
    EXPECT_FALSE(is_kept(sized(size))) << size;
    EXPECT_FALSE(is_kept(chunked(size))) << size;
  }
}

TEST(client_unread_body, a_body_without_end_is_not_followed) {
  gyre::event left;
  with_client(
      [&](peer& client) -> gyre::task<> {
        (void)co_await client.request();
        co_await client.send("HTTP/1.1 200 OK\r\n\r\n");
        try {
          for (;;) co_await client.send(std::string(10'000, 'x'));
        } catch (const gyre::io_error&) {
          left.set();
        }
      },
      [&](http::client& client, scripted_server& server) -> gyre::task<> {
        {
          auto response = co_await client.get(server.url());
          const std::string_view first = co_await response.body().receive();
          EXPECT_FALSE(first.empty());
        }
        EXPECT_EQ(client.counts().in_use + client.counts().idle, 0U);
        co_await left.wait();
      });
}

TEST(client_unread_body, no_way_to_drop_a_response_blocks_the_only_connection_of_a_pool) {
  const auto all = [](const answer& each) { return each.head + each.body; };
  const std::string gone = "HTTP/1.1 302 Found\r\nContent-Length: 9\r\nLocation: /\r\n\r\ngo";  // and no more
  for (const std::string& each : std::vector<std::string>{
           all(sized(5)), all(sized(100'000)), all(chunked(5000)), all(chunked(100'000)),
           "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhe", "HTTP/1.1 200 OK\r\n\r\nhello",
           "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
           "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "HTTP/1.1 204 Gone\r\n\r\n",
           "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 9\r\n\r\nnot gzip!", "HTTP/1.1 2",
           "nonsense\r\n\r\n", gone}) {
    SCOPED_TRACE(each.substr(0, 80));
    with_server(
        [&](peer& client) -> gyre::task<> {
          for (;;) {
            const std::string request = co_await client.request();
            if (request.empty()) co_return;
            if (request.starts_with("GET /good"))
              co_await client.answer("hello");
            else
              co_await client.send(each);
          }
        },
        [&](scripted_server& server) -> gyre::task<> {
          http::client client({.timeouts = {.queue = 5s, .first_byte = 50ms, .between_bytes = 50ms},
                               .limits = {.body = 10, .connections_per_origin = 1}});
          const auto drop_unread = [&]() -> gyre::task<> { (void)co_await client.get(server.url()); };
          const auto drop_half_read = [&]() -> gyre::task<> {
            auto response = co_await client.get(server.url());
            std::array<std::byte, 2> two;
            (void)co_await response.body().read_some(two);
          };
          const auto drop_refused = [&]() -> gyre::task<> { (void)co_await fetched(client, server.url()); };
          const auto drop_cancelled = [&]() -> gyre::task<> {
            (void)co_await error_of(gyre::timeout(1ms, fetched(client, server.url())));
          };
          for (int i = 0; i < 2; ++i) {
            (void)co_await error_of(drop_unread());
            (void)co_await error_of(drop_half_read());
            (void)co_await error_of(drop_refused());
            (void)co_await error_of(drop_cancelled());
          }
          EXPECT_EQ(client.counts().in_use + client.counts().waiting, 0U);
          EXPECT_EQ(co_await fetched(client, server.url("/good")), "hello");
        });
  }
}
