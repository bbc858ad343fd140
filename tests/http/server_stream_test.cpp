// tests/http/server_stream_test.cpp: connections that are not sockets: data and disconnects while a handler runs.
#include <gyre/http/server.hpp>
#include <gyre/testing/cancel_at_every_await.hpp>

#include "tests/http/http_client.hpp"

#include <array>
#include <string>
#include <utility>
#include <vector>

using namespace gyre_test;
using http::response;

namespace {

/// Answers with the body of the request. Answers "/wait" only when the test allows it.
struct gated {
  gyre::event began;
  gyre::event go_on;
  gyre::event cancelled;

  http::handler routes() {
    return [this](http::request& r) -> gyre::task<response> {
      if (r.path() == "/wait") co_await wait();
      std::string all = co_await r.body().read_all();
      co_return response::text(std::string(r.path()) + ' ' + all);
    };
  }
  gyre::task<> wait() {
    struct at_end {
      gated& self;
      bool done = false;
      ~at_end() {
        if (!done) self.cancelled.set();
      }
    } guard{*this};
    began.set();
    co_await go_on.wait();
    guard.done = true;
  }
};

/// Cannot end its sending side, as a TLS connection whose peer does not read.
struct stuck_at_end {
  gyre::memory_stream inner;
  int* ends;
  bool* aborted;

  gyre::task<std::size_t> read_some(std::span<std::byte> buffer) { co_return co_await inner.read_some(buffer); }
  gyre::task<> write_all(std::span<const std::byte> bytes) { co_await inner.write_all(bytes); }
  gyre::task<> shutdown_write() {
    ++*ends;
    co_await gyre::sleep(24h);
  }
  void abort() noexcept {
    *aborted = true;
    inner.abort();
  }
};

const std::string waiting = "GET /wait HTTP/1.1\r\nHost: a\r\n\r\n";
const std::string next = "GET /next HTTP/1.1\r\nHost: a\r\n\r\n";

/// Pieces of the client's data arrive while the handler waits. Every request is answered as it was sent.
void expect_all_answered(const std::vector<std::string>& pieces, const std::vector<std::string>& bodies) {
  gated app;
  run_client(options_for(app.routes()), [&](memory_client& client) -> gyre::task<> {
    co_await client.send(waiting);
    co_await app.began.wait();
    auto send_rest = [&]() -> gyre::task<> {
      for (const std::string& each : pieces) {
        co_await client.send(each);
        for (int i = 0; i < 5; ++i) co_await gyre::yield();
      }
    };
    auto sending = gyre::spawn(send_rest());
    co_await gyre::sleep(1s);
    app.go_on.set();
    const auto first = co_await client.answer();
    EXPECT_EQ(first.body, "/wait ");
    for (const std::string& each : bodies) {
      const auto answer = co_await client.answer();
      EXPECT_TRUE(answer.body == each) << answer.body.substr(0, 100);
    }
    co_await sending;
  });
}

std::string post_request(const std::string& body) {
  return "POST /post HTTP/1.1\r\nHost: a\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

/// Text in which no two positions look the same.
std::string number_text(std::size_t count) {
  std::string text;
  while (text.size() < count) text += std::to_string(text.size()) + ' ';
  return text;
}

}  // namespace

TEST(server_stream, a_handler_is_cancelled_when_its_client_has_sent_more_and_closes) {
  gated app;
  exchange_log heard;
  http::server_options options = options_for(app.routes());
  options.observer = &heard;
  run_in_memory(std::move(options), [&](memory_server& here) -> gyre::task<> {
    reports none;
    auto client = here.connect();
    const auto begin = gyre::now();
    co_await client.send(waiting);
    co_await app.began.wait();
    co_await client.send(next + next);
    client.close();
    co_await app.cancelled.wait();
    EXPECT_LT(since(begin), 1100ms);
    for (int i = 0; i < 100 && here.connections() > 0; ++i) co_await gyre::yield();
    EXPECT_EQ(here.connections(), 0U);
    EXPECT_EQ(heard.statuses, std::vector<int>{499});
    EXPECT_EQ(heard.complete, std::vector<bool>{false});
    EXPECT_EQ(none.texts, std::vector<std::string>());
  });
}

TEST(server_stream, requests_that_come_while_a_handler_runs_are_answered_behind_it) {
  expect_all_answered({next, next}, {"/next ", "/next "});
}

TEST(server_stream, requests_in_pieces_that_come_while_a_handler_runs_are_answered_behind_it) {
  const std::string both = next + post_request("with a body");
  std::vector<std::string> pieces;
  for (const char each : both) pieces.emplace_back(1, each);
  expect_all_answered(pieces, {"/next ", "/post with a body"});
}

TEST(server_stream, more_than_is_read_ahead_waits_and_arrives_whole) {
  const std::string body = number_text(1'000'000);
  expect_all_answered({post_request(body), next}, {"/post " + body, "/next "});
}

TEST(server_stream, reading_ahead_is_bounded) {
  gated app;
  run_virtual([&]() -> gyre::task<> {
    memory_server server(options_for(app.routes()));
    auto client = server.connect(1024);
    co_await client.send(waiting);
    co_await app.began.wait();
    std::size_t sent = 0;
    auto send_much = [&]() -> gyre::task<> {
      for (;; sent += 1000) co_await client.send(std::string(1000, 'x'));
    };
    auto sending = gyre::spawn(send_much());
    co_await gyre::sleep(1s);
    EXPECT_LT(sent, 100'000U);
    sending.cancel();
    co_await sending.wait();
  });
}

TEST(server_stream, a_request_beside_one_that_waits_may_be_cancelled_anywhere) {
  std::vector<std::string> bodies;
  auto scenario = [&]() -> gyre::task<> {
    bodies.clear();
    auto answer = [](http::request& r) -> gyre::task<response> {
      if (r.path() == "/wait")
        for (int i = 0; i < 4; ++i) co_await gyre::yield();
      std::string all = co_await r.body().read_all();
      co_return response::text(std::move(all));
    };
    http::server_options options = options_for(answer);
    options.listen.clear();
    http::server server(std::move(options));
    gyre::memory_pair pair;
    memory_client client(std::move(pair.first));
    auto talk = [&]() -> gyre::task<> {
      co_await client.send(waiting);
      co_await gyre::yield();
      co_await client.send(post_request("one"));
      co_await client.send(post_request("two"));
      for (int i = 0; i < 3; ++i) {
        const auto heard = co_await client.answer();
        bodies.push_back(heard.body);
      }
      client.close();
    };
    auto both = gyre::gather(serve_given(server, gyre::any_stream(std::move(pair.second))), talk());
    co_await std::move(both);
    EXPECT_EQ(server.connections(), 0U);
  };
  gyre::loop_options virtual_time;
  virtual_time.virtual_time = true;
  const auto report = gyre::testing::cancel_at_every_await(
      scenario,
      [&](bool was_cancelled) {
        if (!was_cancelled) EXPECT_EQ(bodies, (std::vector<std::string>{"", "one", "two"}));
      },
      virtual_time);
  EXPECT_GT(report.cancelled, 5U);
  EXPECT_GT(report.completed, 0U);
}

TEST(server_stream, a_client_that_leaves_anywhere_ends_its_connection) {
  for (std::size_t size = 0; size <= waiting.size() + next.size(); ++size) {
    gated app;
    run_virtual([&]() -> gyre::task<> {
      reports none;
      memory_server server(options_for(app.routes()));
      auto client = server.connect();
      co_await client.send((waiting + next).substr(0, size));
      for (int i = 0; i < 5; ++i) co_await gyre::yield();
      client.close();
      const auto begin = gyre::now();
      while (server.connections() > 0) co_await gyre::sleep(1ms);
      EXPECT_LT(since(begin), 1100ms) << size;
      EXPECT_EQ(none.texts, std::vector<std::string>()) << size;
    });
  }
}

TEST(server_stream, a_client_that_does_not_take_the_end_is_reset_after_the_time_of_a_write) {
  http::server_options options = options_for([](http::request&) { return response::text("all"); });
  options.listen.clear();
  options.timeouts.write = 5s;
  run_virtual([&]() -> gyre::task<> {
    int ends = 0;
    bool aborted = false;
    http::server server(std::move(options));
    gyre::memory_pair pair;
    gyre::memory_stream client = std::move(pair.first);
    auto serving =
        gyre::spawn(server.serve_connection(gyre::any_stream(stuck_at_end{std::move(pair.second), &ends, &aborted})));
    const auto begin = gyre::now();
    const std::string_view nonsense = "nonsense\r\n\r\n";
    co_await client.write_all(std::as_bytes(std::span(nonsense)));
    co_await serving.wait();
    EXPECT_EQ(ends, 1);
    EXPECT_TRUE(aborted);
    EXPECT_GE(since(begin), 5s);
    EXPECT_LT(since(begin), 6s);
  });
}
