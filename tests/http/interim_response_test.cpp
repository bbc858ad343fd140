// tests/http/interim_response_test.cpp: hints before a response.
#include <gyre/http/request.hpp>

#include "tests/http/http_client.hpp"
#include "tests/support/co_assert.hpp"
#include "tests/support/error_of.hpp"

#include <stdexcept>
#include <string>
#include <vector>

using namespace gyre_test;
using http::response;

namespace {

const std::string hint = "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n";
const std::vector<http::field> one_link{{"Link", "</a>"}};

/// Answers a second after the hint.
gyre::task<response> hints(http::request& r) {
  const bool sent = co_await r.send_interim(103, one_link);
  co_await gyre::sleep(1s);
  co_return response::text(sent ? "sent" : "not sent");
}

}  // namespace

TEST(interim_response, reaches_the_client_before_the_response) {
  run_client(options_for(hints), [](memory_client& client) -> gyre::task<> {
    const auto begin = gyre::now();
    co_await client.send(hello_request);
    const bool more = co_await client.receive();
    EXPECT_TRUE(more);
    EXPECT_EQ(client.received(), hint);
    EXPECT_EQ(since(begin), 0s);
    const std::string all = co_await client.rest();
    EXPECT_TRUE(all.starts_with(hint + "HTTP/1.1 200 OK\r\n")) << all;
    EXPECT_TRUE(all.ends_with("\r\n\r\nsent")) << all;
  });
}

TEST(interim_response, is_not_sent_to_a_client_of_http_1_0) {
  run_client(options_for(hints), [](memory_client& client) -> gyre::task<> {
    co_await client.send("GET / HTTP/1.0\r\n\r\n");
    const std::string all = co_await client.rest();
    EXPECT_TRUE(all.starts_with("HTTP/1.1 200 OK\r\n")) << all;
    EXPECT_TRUE(all.ends_with("\r\n\r\nnot sent")) << all;
  });
}

TEST(interim_response, waits_for_earlier_responses) {
  run_client(options_for(hints), [](memory_client& client) -> gyre::task<> {
    co_await client.send(hello_request + hello_request);
    const std::string all = co_await client.rest();
    const std::size_t first = all.find("\r\n\r\nsent");
    EXPECT_EQ(all.find(hint), 0U);
    EXPECT_EQ(all.rfind(hint), first + 8) << all;
  });
}

TEST(interim_response, is_not_sent_once_the_response_has_begun) {
  const auto late = [](http::request& r) {
    auto write = [&r](http::body_writer& out) -> gyre::task<> {
      co_await out.write("a");
      const bool sent = co_await r.send_interim(103, one_link);
      co_await out.write(sent ? "sent" : "b");
    };
    return response::stream(write);
  };
  run_in_memory(options_for(late), [](memory_server& server) -> gyre::task<> {
    const auto answer = co_await server.get("/");
    EXPECT_EQ(answer.body, "ab");
  });
}

TEST(interim_response, may_be_sent_while_another_task_asks_for_the_body) {
  const auto both = [](http::request& r) -> gyre::task<response> {
    std::string body;
    auto read = [&]() -> gyre::task<> { body = co_await r.body().read_all(); };
    auto tell = [&]() -> gyre::task<> {
      for (int i = 0; i < 3; ++i) (void)co_await r.send_interim(103, one_link);
    };
    auto reading = read();
    auto telling = tell();
    co_await gyre::gather(std::move(telling), std::move(reading));
    co_return response::text(body);
  };
  run_in_memory(options_for(both), [](memory_server& server) -> gyre::task<> {
    auto client = server.connect(over_tls() ? 65'536 : 16);  // so that each of them has to wait
    co_await client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n");
    std::string all;
    const std::string go_on = "HTTP/1.1 100 Continue\r\n\r\n";
    while (client.received().size() < 3 * hint.size() + go_on.size()) {
      const bool more = co_await client.receive();
      CO_ASSERT_TRUE(more);
    }
    std::string text = client.received();
    const std::size_t at = text.find(go_on);
    CO_ASSERT_TRUE(at != std::string::npos);
    EXPECT_EQ(text.erase(at, go_on.size()), hint + hint + hint);
    co_await client.send("body");
    all = co_await client.rest();
    EXPECT_TRUE(all.ends_with("\r\n\r\nbody")) << all;
  });
}

// Without TLS, which gathers more than one piece.
TEST(interim_response, an_interim_response_on_its_way_is_complete_before_the_final_one_begins) {
  std::vector<gyre::task_handle<void>> background;
  const auto leave = [&](http::request& r) -> gyre::task<response> {
    auto tell = [&r]() -> gyre::task<> {
      for (int i = 0; i < 2; ++i) (void)co_await r.send_interim(103, one_link);
    };
    background.push_back(gyre::spawn(tell));
    co_await gyre::yield_turn();
    co_return response::text(std::string(5000, 'x'));
  };
  run_in_memory(options_for(leave), [&](memory_server& server) -> gyre::task<> {
    if (over_tls()) co_return;
    auto client = server.connect(16);  // the hint has to wait
    co_await client.send(hello_request);
    for (int i = 0; i < 10; ++i) co_await gyre::yield_turn();
    const std::string all = co_await client.rest();
    EXPECT_TRUE(all.starts_with(hint + "HTTP/1.1 200 OK\r\n")) << all;
    EXPECT_TRUE(all.ends_with("\r\n\r\n" + std::string(5000, 'x'))) << all.size();
    for (auto& each : background) co_await each;
  });
}

TEST(interim_response, with_another_status_or_with_framing_is_refused) {
  const auto wrong = [](http::request& r) -> gyre::task<response> {
    for (const int status : {99, 100, 101, 200}) {
      auto sending = r.send_interim(status, {});
      EXPECT_NE(co_await error_of(std::move(sending)), "") << status;
    }
    for (const http::field& each : std::vector<http::field>{{"content-length", "1"},
                                                            {"Transfer-Encoding", "chunked"},
                                                            {"Connection", "x"},
                                                            {"a b", ""},
                                                            {"a", "\n"}}) {
      auto sending = r.send_interim(103, std::span(&each, 1));
      EXPECT_NE(co_await error_of(std::move(sending)), "") << each.name;
    }
    co_return response::text("refused");
  };
  run_client(options_for(wrong), [](memory_client& client) -> gyre::task<> {
    co_await client.send("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    const std::string all = co_await client.rest();
    EXPECT_TRUE(all.starts_with("HTTP/1.1 200 OK\r\n")) << all;
    EXPECT_TRUE(all.ends_with("\r\n\r\nrefused")) << all;
  });
}
