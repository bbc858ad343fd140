// tests/client/full_duplex_test.cpp: responses that are read while the request is sent.
#include <gyre/testing/cancel_at_every_await.hpp>
#include <gyre/testing/http_mock_server.hpp>
#include <gyre/testing/run_test.hpp>

#include "tests/client/scripted_server.hpp"

#include <deque>
#include <memory>
#include <stdexcept>
#include <utility>

using namespace gyre_test;

namespace {

/// A source to which the test adds pieces.
struct piece_queue {
  std::deque<std::string> pieces;
  gyre::event added;
  bool ended = false;
  std::string last;

  void add(std::string piece) {
    pieces.push_back(std::move(piece));
    added.set();
  }
  void end() {
    ended = true;
    added.set();
  }
  gyre::task<std::string_view> next() {
    while (pieces.empty() && !ended) {
      added.clear();
      co_await added.wait();
    }
    if (pieces.empty()) co_return "";
    last = std::move(pieces.front());
    pieces.pop_front();
    co_return last;
  }
};

struct feeding {
  piece_queue* from;
  GYRE_CORO_WRAPPER gyre::task<std::string_view> operator()() const { return from->next(); }
};

http::client_request post(http::client& client, scripted_server& server, piece_queue& source) {
  auto request = client.request("POST", server.url());
  request.body(feeding{&source}).full_duplex();
  return request;
}

/// Answers at once, and sends a piece for each one that it gets.
gyre::task<> answer_each_piece(peer& client) {
  while (client.received().find("\r\n\r\n") == std::string::npos) {
    const bool more = co_await client.receive();
    if (!more) co_return;
  }
  co_await client.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
  std::size_t seen = client.received().find("\r\n\r\n") + 4;
  while (!client.received().ends_with("0\r\n\r\n")) {
    if (client.received().size() > seen) co_await client.send("2\r\nok\r\n");
    seen = client.received().size();
    const bool more = co_await client.receive();
    if (!more) co_return;
  }
  co_await client.send("0\r\n\r\n");
  (void)co_await client.rest();
}

}  // namespace

TEST(client_full_duplex, a_response_is_read_while_the_request_is_sent) {
  with_client(answer_each_piece, [](http::client& client, scripted_server& server) -> gyre::task<> {
    piece_queue source;
    auto response = co_await post(client, server, source).send();
    EXPECT_EQ(response.status(), 200);
    EXPECT_TRUE(response.sending());
    for (int i = 0; i < 5; ++i) {
      source.add("piece");
      const std::string_view got = co_await response.body().receive();
      EXPECT_EQ(got, "ok");
    }
    source.end();
    EXPECT_EQ(co_await response.read_all(), "");
    EXPECT_FALSE(response.sending());
    EXPECT_TRUE(response.body().at_end());
    EXPECT_EQ(client.counts().idle, 1U) << "both were complete";
  });
}

TEST(client_full_duplex, the_body_of_a_complete_response_ends_when_the_request_has_been_sent) {
  with_client(answers_around("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", ""),
              [](http::client& client, scripted_server& server) -> gyre::task<> {
                piece_queue source;
                auto response = co_await post(client, server, source).send();
                const std::string_view got = co_await response.body().receive();
                EXPECT_EQ(got, "ok");
                EXPECT_FALSE(response.body().at_end());
                EXPECT_FALSE(response.body().has_failed());
                source.add("a");
                co_await gyre::sleep(600ms);
                source.add("b");
                auto rest = response.body().receive();
                source.end();
                EXPECT_EQ(co_await std::move(rest), "");
                EXPECT_EQ(client.counts().idle, 1U);
              });
}

TEST(client_full_duplex, a_source_that_delivers_nothing_after_a_complete_response_is_given_up_after_a_second) {
  with_client(answers_early("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"),
              [](http::client& client, scripted_server& server) -> gyre::task<> {
                piece_queue source;
                auto response = co_await post(client, server, source).send();
                const gyre::time_point before = gyre::now();
                EXPECT_EQ(co_await response.read_all(), "ok");
                EXPECT_GE(gyre::now() - before, 900ms);
                EXPECT_EQ(client.counts().in_use + client.counts().idle, 0U);
              });
}

// On virtual time, because a machine that is busy for longer than the limit would end the response, and rightly so.
TEST(client_full_duplex, progress_of_the_request_extends_the_time_for_the_response) {
  gyre::testing::run_test([]() -> gyre::task<> {
    gyre::testing::http_mock_server server([](http::request& r) {
      const auto answer_around_body = [&r](http::body_writer& out) -> gyre::task<> {
        co_await out.flush();
        (void)co_await r.body().read_all();
        co_await out.write("ok");
      };
      return http::response::stream(answer_around_body, "text/plain");
    });
    http::client client({.timeouts = {.between_bytes = 1500ms}, .connector = server.connector()});
    piece_queue source;
    auto request = client.request("POST", "http://a.test/");
    request.body(feeding{&source}).full_duplex();
    auto response = co_await request.send();
    auto slow = [&](gyre::task_group& group) -> gyre::task<> {
      auto feed = [&source]() -> gyre::task<> {
        for (int i = 0; i < 10; ++i) {
          source.add("x");
          co_await gyre::sleep(1400ms);
        }
        source.end();
      };
      group.spawn(feed);
      EXPECT_EQ(co_await response.read_all(), "ok");
    };
    co_await gyre::task_group::scope(slow);
  });
}

TEST(client_full_duplex, the_request_and_then_the_response_end_without_progress_in_either_direction) {
  with_server(answers_early("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"),
              [](scripted_server& server) -> gyre::task<> {
                http::client client({.timeouts = {.between_bytes = 50ms}});
                piece_queue source;
                auto response = co_await post(client, server, source).send();
                const std::string error = co_await error_of(response.read_all());
                EXPECT_NE(error.find("receiving the body"), std::string::npos) << error;
                EXPECT_FALSE(response.sending());
                EXPECT_EQ(client.counts().in_use + client.counts().idle, 0U);
              });
}

TEST(client_full_duplex, the_exception_of_a_source_ends_the_response) {
  with_client(answers_early("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"),
              [](http::client& client, scripted_server& server) -> gyre::task<> {
                gyre::event go;
                auto request = client.request("POST", server.url());
                request
                    .body([&go]() -> gyre::task<std::string_view> {
                      co_await go.wait();
                      throw std::runtime_error("no more milk");
                    })
                    .full_duplex();
                auto response = co_await request.send();
                go.set();
                EXPECT_EQ(co_await error_of(response.read_all()), "no more milk");
                EXPECT_TRUE(response.body().has_failed());
                EXPECT_EQ(client.counts().in_use + client.counts().idle, 0U);
              });
}

TEST(client_full_duplex, a_response_that_is_destroyed_ends_the_sending) {
  with_client(answers_early("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"),
              [](http::client& client, scripted_server& server) -> gyre::task<> {
                piece_queue source;
                gyre::task_handle<> sending;
                {
                  auto response = co_await post(client, server, source).send();
                  sending = response.sending();
                  EXPECT_FALSE(sending.done());
                }
                co_await sending.wait();
                sending.detach();
                EXPECT_EQ(client.counts().in_use + client.counts().idle, 0U);
              });
}

TEST(client_full_duplex, a_response_outlives_its_client_while_the_request_is_sent) {
  with_server(answer_each_piece, [](scripted_server& server) -> gyre::task<> {
    auto client = std::make_unique<http::client>();
    piece_queue source;
    auto response = co_await post(*client, server, source).send();
    client.reset();
    source.add("piece");
    const std::string_view got = co_await response.body().receive();
    EXPECT_EQ(got, "ok");
    source.end();
    EXPECT_EQ(co_await response.read_all(), "");
  });
}

TEST(client_full_duplex, a_refusal_ends_the_sending_before_it_is_handed_out) {
  with_client(answers_early("HTTP/1.1 413 Content Too Large\r\nContent-Length: 3\r\n\r\nbig"),
              [](http::client& client, scripted_server& server) -> gyre::task<> {
                piece_queue source;
                source.add("x");
                auto response = co_await post(client, server, source).send();
                EXPECT_EQ(response.status(), 413);
                EXPECT_FALSE(response.sending());
                EXPECT_EQ(co_await response.read_all(), "big");
                EXPECT_EQ(client.counts().in_use + client.counts().idle, 0U);
              });
}

TEST(client_full_duplex, a_response_that_is_refused_leaves_no_task_behind) {
  with_client(answers_early("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n"),
              [](http::client& client, scripted_server& server) -> gyre::task<> {
                std::error_code reason;
                {
                  piece_queue source;  // stops the program if a task still waits in it
                  auto response = co_await gyre::as_expected(post(client, server, source).send());
                  if (!response) reason = response.error();
                }
                EXPECT_EQ(reason, http::client_errc::bad_response);
              });
}

TEST(client_full_duplex, a_cancel_anywhere_leaves_no_task_behind) {
  int answered = 0;
  const auto scenario = [&answered]() -> gyre::task<> {
    scripted_server server(answer_each_piece);
    auto both = [&](gyre::task_group& group) -> gyre::task<> {
      group.spawn(server.run());
      http::client client;
      piece_queue source;
      gyre::task_handle<> sending;
      std::exception_ptr failure;
      try {
        auto response = co_await post(client, server, source).send();
        sending = response.sending();
        source.add("piece");
        (void)co_await response.body().receive();
        source.end();
        (void)co_await response.read_all();
      } catch (const gyre::io_error&) {
        failure = std::current_exception();
      } catch (const gyre::cancelled&) {
        failure = std::current_exception();
      }
      if (sending) {
        co_await gyre::uninterrupted_join_op(sending.state());
        sending.detach();
      }
      co_await gyre::yield();  // the server is cancelled, too, and may have closed the connection first
      if (failure) std::rethrow_exception(failure);
      EXPECT_EQ(client.counts().in_use, 0U);
      ++answered;
      group.cancel();
    };
    co_await gyre::task_group::scope(both);
  };
  const auto report = gyre::testing::cancel_at_every_await(scenario, [](bool) {});
  EXPECT_GT(report.cancelled, 5U);
  EXPECT_GE(answered, 1);
}
