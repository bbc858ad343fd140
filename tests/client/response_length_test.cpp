// tests/client/response_length_test.cpp: servers that lie about the length of a response.
#include "tests/client/scripted_server.hpp"

#include <vector>

using namespace gyre_test;

namespace {

const std::string head = "HTTP/1.1 200 OK\r\n";

}  // namespace

TEST(client_response_length, an_ambiguous_length_is_refused_and_the_connection_closed) {
  const std::string chunks = "\r\n5\r\nhello\r\n0\r\n\r\n";
  for (const std::string& answer :
       std::vector<std::string>{head + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n" + chunks,
                                head + "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n" + chunks,
                                head + "Content-Length: 0\r\nTransfer-Encoding: identity\r\n\r\n",
                                head + "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello!",
                                head + "Content-Length: 5, 6\r\n\r\nhello!",
                                head + "Content-Length: +5\r\n\r\nhello",
                                head + "Content-Length: -5\r\n\r\nhello",
                                head + "Content-Length: 0x5\r\n\r\nhello",
                                head + "Content-Length: 5 5\r\n\r\nhello",
                                head + "Content-Length: 5;\r\n\r\nhello",
                                head + "Content-Length:\r\n\r\nhello",
                                head + "Content-Length: 18446744073709551621\r\n\r\nhello",
                                head + "Content-Length : 5\r\n\r\nhello",
                                head + "Content-Length: 5\r\n Content-Length: 6\r\n\r\nhello!",
                                head + "Transfer-Encoding: chunked, chunked\r\n" + chunks,
                                head + "Transfer-Encoding: chunked, gzip\r\n" + chunks,
                                head + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n" + chunks,
                                head + "Transfer-Encoding: xchunked\r\n" + chunks,
                                head + "Transfer-Encoding:\r\n" + chunks,
                                "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n" + chunks}) {
    SCOPED_TRACE(answer);
    gyre::event closed;
    with_server(
        [&](peer& client) -> gyre::task<> {
          (void)co_await client.request();
          if (client.number() > 1) co_return co_await client.answer("again");
          co_await client.send(answer);
          EXPECT_EQ(co_await client.rest(), "");
          closed.set();
        },
        [&](scripted_server& server) -> gyre::task<> {
          http::client client({.retries = {.attempts = 3, .backoff = 1us}});
          const std::string text = co_await fetched(client, server.url());
          EXPECT_EQ(text.find("GET URL: the response is malformed: "), 0U) << text;
          EXPECT_EQ(client.counts().in_use + client.counts().idle, 0U);
          co_await closed.wait();
          EXPECT_EQ(co_await fetched(client, server.url()), "again");
          EXPECT_EQ(server.connections(), 2);
        });
  }
}

TEST(client_response_length, bytes_beyond_a_response_never_become_the_next_one) {
  struct lie {
    std::string method, answer, body;
  };
  const std::string evil = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil";
  for (const lie& each : std::vector<lie>{{"GET", head + "Content-Length: 5\r\n\r\nhello", "hello"},
                                          {"GET", head + "Content-Length: 0\r\n\r\n", ""},
                                          {"GET", head + "Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n", "a"},
                                          {"HEAD", head + "Content-Length: 45\r\n\r\n", ""},
                                          {"HEAD", head + "Transfer-Encoding: chunked\r\n\r\n", ""},
                                          {"GET", "HTTP/1.1 204 No Content\r\n\r\n", ""},
                                          {"GET", "HTTP/1.1 304 Not Modified\r\nContent-Length: 45\r\n\r\n", ""}})
    for (const bool late : {false, true}) {
      gyre::event lied;
      with_client(
          [&](peer& client) -> gyre::task<> {
            (void)co_await client.request();
            if (client.number() > 1) co_return co_await client.answer("good");
            const std::string first = late ? each.answer : each.answer + evil;
            co_await client.send(first);
            for (int i = 0; late && i < 3; ++i) co_await gyre::yield_turn();
            if (late) co_await client.send(evil);
            lied.set();
            (void)co_await client.rest();
          },
          [&](http::client& client, scripted_server& server) -> gyre::task<> {
            auto response = co_await client.request(each.method, server.url()).send();
            EXPECT_EQ(co_await response.read_all(), each.body) << each.answer;
            co_await lied.wait();
            for (int i = 0; i < 3; ++i) co_await gyre::yield_turn();
            EXPECT_EQ(co_await fetched(client, server.url()), "good") << each.answer;
            EXPECT_EQ(server.connections(), 2) << each.answer;
          });
    }
}

TEST(client_response_length, chunks_that_lie_end_the_body_with_an_error_that_stays) {
  for (const std::string chunks : {"5\r\nhello!\r\n0\r\n\r\n", "6\r\nhello\r\n0\r\n\r\n", "-1\r\nx\r\n0\r\n\r\n",
                                   "10000000000000005\r\nhello\r\n0\r\n\r\n", "5\nhello\r\n0\r\n\r\n",
                                   "5\r\nhello\n0\r\n\r\n", " 5\r\nhello\r\n0\r\n\r\n", "0x5\r\nhello\r\n0\r\n\r\n"})
    with_client(
        answers_and_waits(head + "Transfer-Encoding: chunked\r\n\r\n" + chunks),
        [&](http::client& client, scripted_server& server) -> gyre::task<> {
          auto response = co_await client.get(server.url());
          for (int i = 0; i < 2; ++i)
            EXPECT_NE((co_await error_of(response.read_all())).find(": the response is malformed: "), std::string::npos)
                << chunks;
          EXPECT_EQ(client.counts().in_use + client.counts().idle, 0U);
        });
}
