// tests/client/response_bytes_test.cpp: responses that come in pieces or break off, at every byte, in every framing.
#include "tests/client/scripted_server.hpp"

#include <vector>

using namespace gyre_test;

namespace {

using namespace std::string_literals;

/// "abcdefg" as a gzip member with one stored block: RFC 1951 §3.2.4, RFC 1952 §2.3.
const std::string gzip =
    "\x1f\x8b\x08\0\0\0\0\0\0\xff\x01\x07\0\xf8\xff"
    "abcdefg\xa6\x6a\x2a\x31\x07\0\0\0"s;

struct exchange {
  std::string name;
  std::string method;
  std::string head;
  std::string body = {};  // as it is sent
  std::string text = {};  // as the program gets it
  bool until_close = false;
  bool compressed = false;

  [[nodiscard]] std::string all() const { return head + body; }
};

const std::string in_chunks = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n";
const std::string in_gzip = "Content-Encoding: gzip\r\n";

/// Whether this build decompresses: otherwise compressed bodies pass through.
bool knows_gzip() {
  std::string request;
  expect_fetched(keeps_request(request), "hello");
  return request.find("gzip") != std::string::npos;
}

std::vector<exchange> exchanges() {
  std::vector<exchange> all = {
      {"sized", "GET", "HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n", "abcdefg", "abcdefg"},
      {"chunked", "GET", in_chunks + "\r\n", "4\r\nabcd\r\n03;x=y\r\nefg\r\n0\r\nT: u\r\n\r\n", "abcdefg"},
      {"until the end", "GET", "HTTP/1.1 200 OK\r\n\r\n", "abcdefg", "abcdefg", true},
      {"HEAD", "HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n"},
      {"HEAD in chunks", "HEAD", in_chunks + "\r\n"},
      {"204", "GET", "HTTP/1.1 204 No Content\r\n\r\n"},
      {"304", "GET", "HTTP/1.1 304 Not Modified\r\nContent-Length: 7\r\n\r\n"},
      {"interim", "GET", "HTTP/1.1 103 Early Hints\r\nA: b\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n", "a",
       "a"}};
  if (!knows_gzip()) return all;
  const std::string size = std::to_string(gzip.size());
  all.push_back({"gzip", "GET", "HTTP/1.1 200 OK\r\n" + in_gzip + "Content-Length: " + size + "\r\n\r\n", gzip,
                 "abcdefg", false, true});
  all.push_back({"gzip in chunks", "GET", in_chunks + in_gzip + "\r\n",
                 "5\r\n" + gzip.substr(0, 5) + "\r\n19\r\n" + gzip.substr(5) + "\r\n0\r\n\r\n", "abcdefg", false,
                 true});
  all.push_back({"gzip until the end", "GET", "HTTP/1.1 200 OK\r\n" + in_gzip + "\r\n", gzip, "abcdefg", true, true});
  return all;
}

/// The body, or the sentence of the error.
gyre::task<std::string> outcome(http::client& client, const exchange& tried, std::string url) {
  try {
    auto response = co_await client.request(tried.method, url).send();
    co_return co_await response.read_all();
  } catch (const gyre::io_error& error) {
    const std::string text = error.what();
    co_return text.substr(text.find(": ", text.find(url)) + 2);
  }
}

/// The answer that the program gets when only so many bytes have come.
std::string expected(const exchange& tried, std::size_t bytes) {
  if (bytes == tried.all().size()) return tried.text;
  if (bytes == 0) return "the server closed the connection before it answered";
  if (!tried.until_close || bytes < tried.head.size()) return "the connection ended within the response";
  std::string body = tried.body.substr(0, bytes - tried.head.size());
  if (!tried.compressed || body.empty()) return body;
  return "the body of the response cannot be decompressed: it is cut off";
}

/// Runs `body(server, tried)` for each exchange, beside a server that runs `script`.
template <class Body>
void for_each_exchange(peer_script script, Body body) {
  for (const exchange& tried : exchanges()) {
    SCOPED_TRACE(tried.name);
    with_server(script, [&](scripted_server& server) -> gyre::task<> { co_await body(server, tried); });
  }
}

gyre::task<> until_it_is_read() {
  for (int i = 0; i < 3; ++i) co_await gyre::yield_turn();
}

}  // namespace

TEST(client_response_bytes, a_response_in_two_pieces_is_the_same_wherever_it_is_split) {
  std::string answer;
  std::size_t at = 0;
  bool close = false;
  const auto script = [&](peer& client) -> gyre::task<> {
    (void)co_await client.request();
    co_await client.send(answer.substr(0, at));
    co_await until_it_is_read();
    co_await client.send(answer.substr(at));
    if (close) co_return client.close();
    co_await say_hello(client);
  };
  for_each_exchange(script, [&](scripted_server& server, const exchange& tried) -> gyre::task<> {
    answer = tried.all();
    close = tried.until_close;
    for (at = 1; at < answer.size(); ++at) {
      http::client client;
      const std::string text = co_await outcome(client, tried, server.url());
      EXPECT_EQ(text, tried.text) << at;
      const int before = server.connections();
      const std::string next = close ? tried.text : "hello";
      EXPECT_EQ(co_await fetched(client, server.url()), next) << at;
      EXPECT_EQ(server.connections(), close ? before + 1 : before) << at;
    }
  });
}

TEST(client_response_bytes, a_response_that_comes_byte_by_byte_is_the_same) {
  std::string answer;
  bool close = false;
  const auto script = [&](peer& client) -> gyre::task<> {
    (void)co_await client.request();
    for (const char each : answer) {
      co_await client.send(std::string(1, each));
      co_await until_it_is_read();
    }
    if (close) co_return client.close();
    co_await say_hello(client);
  };
  for_each_exchange(script, [&](scripted_server& server, const exchange& tried) -> gyre::task<> {
    answer = tried.all();
    close = tried.until_close;
    http::client client;
    const std::string text = co_await outcome(client, tried, server.url());
    EXPECT_EQ(text, tried.text);
    EXPECT_EQ(client.counts().idle, close ? 0U : 1U);
  });
}

TEST(client_response_bytes, a_fresh_connection_that_is_closed_at_any_byte_is_an_error_and_not_tried_again) {
  std::string answer;
  const auto script = [&](peer& client) -> gyre::task<> {
    (void)co_await client.request();
    co_await client.send(answer);
    client.close();
  };
  for_each_exchange(script, [&](scripted_server& server, const exchange& tried) -> gyre::task<> {
    int requests = 0;
    for (std::size_t at = 0; at <= tried.all().size(); ++at) {
      answer = tried.all().substr(0, at);
      http::client client;
      const std::string text = co_await outcome(client, tried, server.url());
      EXPECT_EQ(text, expected(tried, at)) << at;
      EXPECT_EQ(client.counts().in_use, 0U) << at;
      EXPECT_EQ(server.connections(), ++requests) << at;
    }
  });
}

TEST(client_response_bytes, a_reused_connection_that_is_closed_is_replaced_only_before_the_first_byte) {
  std::string answer;
  const auto script = [&](peer& client) -> gyre::task<> {
    (void)co_await client.request();
    co_await client.send("HTTP/1.1 200 OK\r\nX: first\r\nContent-Length: 0\r\n\r\n");
    const std::string second = co_await client.request();
    if (second.empty()) co_return;
    co_await client.send(answer);
    client.close();
  };
  for_each_exchange(script, [&](scripted_server& server, const exchange& tried) -> gyre::task<> {
    for (std::size_t at = 0; at <= tried.all().size(); ++at) {
      answer = tried.all().substr(0, at);
      const int before = server.connections();
      http::client client;
      EXPECT_EQ(co_await fetched(client, server.url()), "");
      const std::string text = co_await outcome(client, tried, server.url());
      EXPECT_EQ(text, at == 0 ? "" : expected(tried, at)) << at;
      EXPECT_EQ(client.counts().retried, at == 0 ? 1U : 0U) << at;
      EXPECT_EQ(server.connections(), before + (at == 0 ? 2 : 1)) << at;
      EXPECT_EQ(client.counts().in_use, 0U) << at;
    }
  });
}

TEST(client_response_bytes, a_policy_of_retries_repeats_only_what_breaks_off_within_the_head) {
  std::string answer;
  int requests = 0;
  const auto script = [&](peer& client) -> gyre::task<> {
    (void)co_await client.request();
    if (++requests % 2 == 1) {
      co_await client.send(answer);
      co_return client.close();
    }
    co_await client.answer("again");
  };
  for_each_exchange(script, [&](scripted_server& server, const exchange& tried) -> gyre::task<> {
    for (std::size_t at = 0; at < tried.all().size(); ++at) {
      answer = tried.all().substr(0, at);
      requests = 0;
      http::client client({.retries = {.attempts = 2, .backoff = 1us}});
      const std::string text = co_await outcome(client, tried, server.url());
      const bool repeated = at < tried.head.size();
      EXPECT_EQ(text, !repeated ? expected(tried, at) : tried.method == "HEAD" ? "" : "again") << at;
      EXPECT_EQ(requests, repeated ? 2 : 1) << at;
    }
  });
}

TEST(client_response_bytes, a_body_until_the_end_is_not_complete_when_the_connection_is_reset) {
  std::string answer;
  const auto script = [&](peer& client) -> gyre::task<> {
    (void)co_await client.request();
    co_await client.send(answer);
    client.reset();
  };
  for_each_exchange(script, [&](scripted_server& server, const exchange& tried) -> gyre::task<> {
    for (std::size_t at = 0; tried.until_close && at <= tried.all().size(); ++at) {
      answer = tried.all().substr(0, at);
      http::client client;
      EXPECT_EQ(co_await outcome(client, tried, server.url()), "Connection reset by peer") << at;
      EXPECT_EQ(client.counts().in_use + client.counts().idle, 0U) << at;
    }
  });
}
