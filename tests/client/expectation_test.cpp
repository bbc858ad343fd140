// tests/client/expectation_test.cpp: Expect: 100-continue, and the many ways to answer it. RFC 9110 §10.1.1.
#include "tests/client/scripted_server.hpp"

#include <vector>

using namespace gyre_test;

namespace {

/// Reads the head of a request.
gyre::task<> head_of(peer& client) {
  for (bool more = true; more && client.received().find("\r\n\r\n") == std::string::npos;)
    more = co_await client.receive();
}

const std::string go_on = "HTTP/1.1 100 Continue\r\n\r\n";

gyre::task<std::string> posted(http::client& client, std::string url, bool expects) {
  auto response = co_await client.request("POST", url).body("text").expect_continue(expects).send();
  co_return co_await response.read_all();
}

}  // namespace

TEST(client_expectation, the_body_is_sent_once_however_many_100s_come) {
  for (const bool expects : {true, false}) {
    std::string seen;
    with_server(
        [&](peer& client) -> gyre::task<> {
          if (!expects) co_await client.send(go_on);  // before the request, and without being asked
          co_await head_of(client);
          co_await client.send(go_on + go_on + "HTTP/1.1 102 Processing\r\n\r\n" + go_on);
          seen = co_await client.request();
          co_await client.answer("thanks", "X: y\r\n");
          co_await say_hello(client);
        },
        [&](scripted_server& server) -> gyre::task<> {
          http::client client({.timeouts = {.expect = 30s}});
          const std::string text = co_await posted(client, server.url(), expects);
          EXPECT_EQ(text, "thanks");
          const std::string asked = expects ? "Expect: 100-continue\r\n" : "";
          EXPECT_TRUE(seen.ends_with("Content-Length: 4\r\n" + asked + "\r\ntext")) << seen;
          EXPECT_EQ(co_await fetched(client, server.url()), "hello");
          EXPECT_EQ(server.connections(), 1);
        });
  }
}

TEST(client_expectation, a_100_that_comes_after_the_time_out_changes_nothing) {
  with_server(
      [](peer& client) -> gyre::task<> {
        (void)co_await client.request();  // with the body: the client waits no longer
        co_await client.send(go_on);
        co_await client.answer("thanks");
        co_await say_hello(client);
      },
      [](scripted_server& server) -> gyre::task<> {
        http::client client({.timeouts = {.expect = 3ms}});
        const std::string text = co_await posted(client, server.url(), true);
        EXPECT_EQ(text, "thanks");
        EXPECT_EQ(co_await fetched(client, server.url()), "hello");
        EXPECT_EQ(server.connections(), 1);
      });
}

// A connection on which a body was announced and never sent is useless: CVE-2024-24791.
TEST(client_expectation, a_final_answer_does_not_poison_the_next_request) {
  for (const std::string status : {"200 OK", "401 Unauthorized", "417 Expectation Failed", "500 Oops"}) {
    gyre::event closed;
    with_server(
        [&](peer& client) -> gyre::task<> {
          co_await head_of(client);
          if (client.number() > 1) co_return co_await say_hello(client);
          co_await client.send("HTTP/1.1 " + status + "\r\nContent-Length: 2\r\n\r\nno");
          EXPECT_TRUE((co_await client.rest()).ends_with("\r\n\r\n")) << "a part of the body was sent";
          closed.set();
        },
        [&](scripted_server& server) -> gyre::task<> {
          http::client client({.timeouts = {.expect = 30s}});
          int pieces = 0;
          auto request = client.request("POST", server.url());
          request.body([&pieces]() -> gyre::task<std::string_view> { co_return ++pieces == 1 ? "text" : ""; }, 4);
          auto response = co_await request.expect_continue().send();
          EXPECT_EQ(co_await response.read_all(), "no") << status;
          EXPECT_EQ(pieces, 0) << "the source was asked for a body that nobody wants";
          EXPECT_EQ(co_await fetched(client, server.url()), "hello") << status;
          co_await closed.wait();
          EXPECT_EQ(server.connections(), 2);
        });
  }
}

TEST(client_expectation, a_redirect_instead_of_100_takes_the_body_along) {
  std::string second;
  with_server(
      [&](peer& client) -> gyre::task<> {
        co_await head_of(client);
        if (client.number() == 1) {
          co_await client.send("HTTP/1.1 307 Elsewhere\r\nLocation: /other\r\nContent-Length: 0\r\n\r\n");
          EXPECT_TRUE((co_await client.rest()).ends_with("\r\n\r\n"));
          co_return;
        }
        co_await client.send(go_on);
        second = co_await client.request();
        co_await client.answer("thanks");
      },
      [&](scripted_server& server) -> gyre::task<> {
        http::client client({.timeouts = {.expect = 30s}});
        const std::string text = co_await posted(client, server.url(), true);
        EXPECT_EQ(text, "thanks");
        EXPECT_EQ(second.find("POST /other HTTP/1.1\r\n"), 0U) << second;
        EXPECT_NE(second.find("Expect: 100-continue\r\n"), std::string::npos) << second;
        EXPECT_TRUE(second.ends_with("\r\n\r\ntext")) << second;
      });
}

TEST(client_expectation, a_connection_that_is_closed_at_any_byte_ends_the_request_at_once) {
  const std::string answer = go_on + "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
  std::size_t at = 0;
  with_server(
      [&](peer& client) -> gyre::task<> {
        co_await head_of(client);
        co_await client.send(answer.substr(0, at));
        co_await client.stream().shutdown_write();
        (void)co_await client.rest();  // a close would reset the connection when the body comes
      },
      [&](scripted_server& server) -> gyre::task<> {
        for (at = 0; at <= answer.size(); ++at) {
          http::client client({.timeouts = {.expect = 1h}});
          const std::string error = co_await error_of(posted(client, server.url(), true));
          const std::string expected = at == 0              ? "closed the connection before it answered"
                                       : at < answer.size() ? "the connection ended within the response"
                                                            : "";
          EXPECT_TRUE(error.ends_with(expected) && error.empty() == expected.empty()) << at << " " << error;
          EXPECT_EQ(client.counts().in_use, 0U) << at;
        }
        EXPECT_EQ(server.connections(), static_cast<int>(answer.size()) + 1);
      });
}
