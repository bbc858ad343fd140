// tests/client/generated_body_test.cpp: request bodies that a generator makes while they are sent.
#include "tests/client/scripted_server.hpp"

#include <cstddef>
#include <span>
#include <stdexcept>
#include <vector>

using namespace gyre_test;

TEST(client_generated_body, the_pieces_of_a_generator_are_sent_in_chunks_without_the_empty_ones) {
  auto texts = []() -> gyre::async_generator<std::string> {
    co_yield "abc";
    co_await gyre::yield();
    co_yield "";
    co_yield std::string(20'000, 'x');
  };
  with_client(echo_until("0\r\n\r\n"), [&](http::client& client, scripted_server& server) -> gyre::task<> {
    auto request = client.request("POST", server.url());
    request.body(texts(), {}, "text/plain");
    auto response = co_await request.send();
    const std::string sent = co_await response.read_all();
    EXPECT_NE(sent.find("Content-Type: text/plain\r\n"), std::string::npos);
    EXPECT_NE(sent.find("Transfer-Encoding: chunked\r\n"), std::string::npos);
    EXPECT_EQ(sent.substr(sent.find("\r\n\r\n")),
              "\r\n\r\n3\r\nabc\r\n4e20\r\n" + std::string(20'000, 'x') + "\r\n0\r\n\r\n");
    EXPECT_EQ(client.counts().idle, 1U);
  });
}

TEST(client_generated_body, a_generator_may_yield_views_or_bytes_and_have_a_length) {
  auto views = []() -> gyre::async_generator<const std::string_view> {
    co_yield "vie";
    co_yield "ws";
  };
  auto bytes = []() -> gyre::async_generator<std::vector<std::byte>> {
    co_yield std::vector<std::byte>(5, std::byte{'b'});
  };
  auto spans = []() -> gyre::async_generator<std::span<const std::byte>> {
    const std::string_view text = "spans";
    co_yield std::as_bytes(std::span(text));
  };
  with_client(
      [](peer& client) -> gyre::task<> {
        for (int i = 0; i < 3; ++i) {
          const std::string request = co_await client.request();
          co_await client.answer(request.substr(request.find("\r\n\r\n") + 4));
        }
      },
      [&](http::client& client, scripted_server& server) -> gyre::task<> {
        auto sent = [&](auto pieces) -> gyre::task<std::string> {
          auto request = client.request("PUT", server.url());
          request.body(std::move(pieces), 5);
          auto response = co_await request.send();
          co_return co_await response.read_all();
        };
        const std::string from_views = co_await sent(views());
        EXPECT_EQ(from_views, "views");
        const std::string from_bytes = co_await sent(bytes());
        EXPECT_EQ(from_bytes, "bbbbb");
        const std::string from_spans = co_await sent(spans());
        EXPECT_EQ(from_spans, "spans");
      });
}

TEST(client_generated_body, a_cancel_ends_the_generator_of_a_body_where_it_waits) {
  gyre::event waits;
  bool cancelled = false;
  bool ended = false;
  auto endless = [&]() -> gyre::async_generator<std::string> {
    const gyre::scope_exit at_end([&] { ended = true; });
    co_yield "one";
    waits.set();
    try {
      co_await gyre::sleep(1h);
    } catch (const gyre::cancelled&) {
      cancelled = true;
      throw;
    }
  };
  with_client(echo_until("never"), [&](http::client& client, scripted_server& server) -> gyre::task<> {
    auto asking = gyre::spawn([&]() -> gyre::task<> {
      auto request = client.request("POST", server.url());
      request.body(endless());
      (void)co_await request.send();
    });
    co_await waits.wait();
    asking.cancel();
    co_await asking.wait();
    EXPECT_TRUE(cancelled);
    EXPECT_TRUE(ended);
    EXPECT_EQ(client.counts().in_use + client.counts().idle, 0U);
  });
}

TEST(client_generated_body, a_server_that_refuses_early_ends_the_generator_of_the_body) {
  bool ended = false;
  auto endless = [&]() -> gyre::async_generator<std::string> {
    const gyre::scope_exit at_end([&] { ended = true; });
    for (const std::string piece(30'000, 'z');;) co_yield std::string(piece);
  };
  with_client(answers_early("HTTP/1.1 413 Content Too Large\r\nContent-Length: 3\r\n\r\nbig"),
              [&](http::client& client, scripted_server& server) -> gyre::task<> {
                {
                  auto request = client.request("POST", server.url());
                  request.body(endless());
                  auto response = co_await request.send();
                  EXPECT_EQ(response.status(), 413);
                  EXPECT_EQ(co_await response.read_all(), "big");
                }
                EXPECT_TRUE(ended);
                EXPECT_EQ(client.counts().in_use + client.counts().idle, 0U);
              });
}
