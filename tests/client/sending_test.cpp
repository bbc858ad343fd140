// tests/client/sending_test.cpp: bodies that take time, and servers that answer early.
#include <gyre/testing/http_mock_server.hpp>
#include <gyre/testing/run_test.hpp>

#include "tests/client/scripted_server.hpp"
#include "tests/fs/scratch.hpp"

#include <memory>
#include <vector>

using namespace gyre_test;

namespace {

/// Gives these pieces.
struct pieces {
  std::vector<std::string> all;
  std::size_t next = 0;
  gyre::task<std::string_view> operator()() {
    co_await gyre::yield();
    co_return next < all.size() ? std::string_view(all[next++]) : std::string_view();
  }
};

}  // namespace

TEST(client_sending, a_source_of_unknown_length_is_sent_in_chunks) {
  with_client(echo_until("0\r\n\r\n"), [](http::client& client, scripted_server& server) -> gyre::task<> {
    auto request = client.request("POST", server.url());
    request.body(pieces{.all = {"abc", std::string(20'000, 'x'), "d"}}, {}, "text/plain");
    auto response = co_await request.send();
    const std::string sent = co_await response.read_all();
    EXPECT_NE(sent.find("Content-Type: text/plain\r\n"), std::string::npos);
    EXPECT_NE(sent.find("Transfer-Encoding: chunked\r\n"), std::string::npos);
    EXPECT_EQ(sent.substr(sent.find("\r\n\r\n")),
              "\r\n\r\n3\r\nabc\r\n4e20\r\n" + std::string(20'000, 'x') + "\r\n1\r\nd\r\n0\r\n\r\n");
  });
}

TEST(client_sending, a_source_of_known_length_is_sent_as_it_is) {
  with_client(echo_until("end"), [](http::client& client, scripted_server& server) -> gyre::task<> {
    auto request = client.request("POST", server.url());
    request.body(pieces{.all = {"abc", "the end"}}, 10);
    auto response = co_await request.send();
    const std::string sent = co_await response.read_all();
    EXPECT_NE(sent.find("Content-Length: 10\r\n\r\nabcthe end"), std::string::npos) << sent;
    EXPECT_EQ(client.counts().idle, 1U);
  });
}

TEST(client_sending, a_source_with_another_length_than_announced_is_an_error) {
  for (const std::uint64_t length : {std::uint64_t{2}, std::uint64_t{4}})
    with_client(echo_until("never"), [&](http::client& client, scripted_server& server) -> gyre::task<> {
      auto request = client.request("POST", server.url());
      request.body(pieces{.all = {"abc"}}, length);
      EXPECT_EQ(co_await error_of(request.send()),
                "POST " + server.url() + ": the body of the request does not have the length that was announced");
      EXPECT_EQ(client.counts().in_use + client.counts().idle, 0U);
    });
}

TEST(client_sending, the_exception_of_a_source_reaches_the_caller) {
  with_client(echo_until("never"), [&](http::client& client, scripted_server& server) -> gyre::task<> {
    auto request = client.request("POST", server.url());
    request.body([]() -> gyre::task<std::string_view> {
      co_await gyre::yield();
      throw std::runtime_error("no more milk");
    });
    EXPECT_EQ(co_await error_of(request.send()), "no more milk");
    EXPECT_EQ(client.counts().in_use + client.counts().idle, 0U);
  });
}

TEST(client_sending, a_file_can_be_the_body) {
  const gyre_test::scratch folder;
  const std::string path = folder.put("sent", "text of a file");
  with_client(echo_until("a file"), [&](http::client& client, scripted_server& server) -> gyre::task<> {
    auto request = client.request("PUT", server.url());
    request.body(co_await gyre::fs::file::open(path), 14);
    auto response = co_await request.send();
    EXPECT_NE((co_await response.read_all()).find("\r\n\r\ntext of a file"), std::string::npos);
  });
}

TEST(client_sending, a_large_text_arrives_whole) {
  const std::string text(3'000'000, 'y');
  with_client(
      [&](peer& client) -> gyre::task<> {
        const std::string request = co_await client.request();
        co_await client.answer(std::to_string(request.size() - request.find("\r\n\r\n") - 4));
        co_await say_hello(client);
      },
      [&](http::client& client, scripted_server& server) -> gyre::task<> {
        auto response = co_await client.post(server.url(), text, "text/plain");
        EXPECT_EQ(co_await response.read_all(), "3000000");
        EXPECT_EQ(co_await fetched(client, server.url()), "hello");
        EXPECT_EQ(server.connections(), 1);
      });
}

TEST(client_sending, a_server_that_refuses_early_is_heard_and_left) {
  const std::string text(20'000'000, 'y');
  with_client(
      [&](peer& client) -> gyre::task<> {
        (void)co_await client.receive();
        co_await client.send("HTTP/1.1 413 Content Too Large\r\nContent-Length: 3\r\n\r\nbig");
        co_await gyre::sleep(5s);  // reads nothing; the client leaves before
      },
      [&](http::client& client, scripted_server& server) -> gyre::task<> {
        auto response = co_await client.post(server.url(), text, "text/plain");
        EXPECT_EQ(response.status(), 413);
        EXPECT_EQ(co_await response.read_all(), "big");
        EXPECT_EQ(client.counts().in_use + client.counts().idle, 0U);
      });
}

TEST(client_sending, a_response_before_the_connection_breaks_is_heard) {
  const std::string text(20'000'000, 'y');
  with_client(
      [&](peer& client) -> gyre::task<> {
        (void)co_await client.receive();
        co_await client.send("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n");
        co_await client.stream().shutdown_write();
        for (int i = 0; i < 20; ++i) (void)co_await client.receive();
      },
      [&](http::client& client, scripted_server& server) -> gyre::task<> {
        auto response = co_await client.post(server.url(), text, "text/plain");
        EXPECT_EQ(response.status(), 403);
      });
}

TEST(client_sending, a_server_that_answers_early_and_reads_on_gets_everything) {
  with_client(answers_around("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "2\r\nok\r\n0\r\n\r\n"),
              [&](http::client& client, scripted_server& server) -> gyre::task<> {
                auto request = client.request("POST", server.url());
                request.body(pieces{.all = std::vector<std::string>(100, std::string(30'000, 'z'))});
                auto response = co_await request.send();
                EXPECT_EQ(co_await response.read_all(), "ok");
                EXPECT_EQ(client.counts().idle, 1U);
              });
}

TEST(client_sending, a_server_that_answers_early_and_reads_no_more_is_left_after_a_second) {
  const std::string text(20'000'000, 'y');
  gyre::event left;
  with_client(
      [&](peer& client) -> gyre::task<> {
        (void)co_await client.receive();
        co_await client.answer("enough");
        co_await left.wait();
      },
      [&](http::client& client, scripted_server& server) -> gyre::task<> {
        auto response = co_await client.post(server.url(), text, "text/plain");
        EXPECT_EQ(co_await response.read_all(), "enough");
        EXPECT_EQ(client.counts().idle, 0U);
        left.set();
      });
}

TEST(client_sending, a_source_is_sent_again_only_if_it_can_begin_again) {
  struct rewindable final : http::request_body_source {
    bool done = false;
    bool can;
    explicit rewindable(bool c) : can(c) {}
    gyre::task<std::string_view> next() override { co_return std::exchange(done, true) ? "" : "abc"; }
    bool rewind() override {
      done = false;
      return can;
    }
  };
  for (const bool can : {true, false})
    with_client(
        [](peer& client) -> gyre::task<> {
          (void)co_await client.request();
          co_await client.answer("hello");
          const std::string second = co_await client.request();
          if (client.number() > 1) co_await client.answer(second);
        },
        [&](http::client& client, scripted_server& server) -> gyre::task<> {
          EXPECT_EQ(co_await fetched(client, server.url()), "hello");
          auto request = client.request("PUT", server.url());
          request.body(http::request_body_owner(new rewindable(can)), 3);
          const std::string error = co_await error_of(request.send());
          if (can)
            EXPECT_EQ(error, "");
          else
            EXPECT_NE(error.find("the server closed the connection before it answered"), std::string::npos) << error;
        });
}

// Nobody may wait for ever: the server is content, and the program has no more to say.
TEST(client_sending, a_source_that_delivers_nothing_after_an_early_response_is_given_up) {
  const std::string complete = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
  for (const std::string& answer : {complete, std::string("HTTP/1.1 204 Fine\r\n\r\n"),
                                    std::string("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")}) {
    gyre::event closed;
    with_server(
        [&](peer& client) -> gyre::task<> {
          (void)co_await client.receive();
          co_await client.send(answer);
          EXPECT_TRUE((co_await client.rest()).ends_with("\r\n\r\n"));
          closed.set();
        },
        [&](scripted_server& server) -> gyre::task<> {
          http::client client({.timeouts = {.between_bytes = answer == complete ? 60s : 50ms}});
          auto request = client.request("POST", server.url());
          request.body([]() -> gyre::task<std::string_view> {
            co_await gyre::event().wait();
            co_return "";
          });
          auto sending = gyre::timeout(20s, request.send());
          {
            auto response = co_await std::move(sending);
            EXPECT_TRUE(response.ok());
            if (answer == complete) EXPECT_EQ(co_await response.read_all(), "ok");
          }
          EXPECT_EQ(client.counts().in_use + client.counts().idle, 0U);
          co_await closed.wait();
        });
  }
}

TEST(client_sending, a_slow_source_after_an_early_response_is_sent_to_its_end) {
  with_client(
      [](peer& client) -> gyre::task<> {
        (void)co_await client.receive();
        co_await client.answer("ok");
        while (!client.received().ends_with("zzzzz")) (void)co_await client.receive();
        (void)co_await client.rest();
      },
      [](http::client& client, scripted_server& server) -> gyre::task<> {
        int left = 5;
        auto request = client.request("POST", server.url());
        request.body(
            [&left]() -> gyre::task<std::string_view> {
              if (left-- == 0) co_return "";
              co_await gyre::sleep(300ms);
              co_return "z";
            },
            5);
        auto response = co_await request.send();
        EXPECT_EQ(co_await response.read_all(), "ok");
        EXPECT_EQ(client.counts().idle, 1U) << "the request was not completed";
      });
}

TEST(client_sending, a_form_with_files_is_one_for_the_server_of_gyre) {
  gyre::testing::run_test([]() -> gyre::task<> {
    gyre::testing::http_mock_server server([](http::request& request) -> gyre::task<http::response> {
      const auto boundary = http::multipart_boundary(request.field("Content-Type"));
      http::multipart_decoder parts(boundary.value_or(""));
      const std::string text = co_await request.body().read_all();
      std::string seen;
      std::string_view rest = text;
      for (;;) {
        const auto step = parts.next(rest, true);
        rest.remove_prefix(step.consumed);
        if (step.what == http::multipart_decoder::state::part_begin)
          seen += parts.part().name + "|" + parts.part().file_name.value_or("") + "|" + parts.part().content_type + "|";
        if (step.what == http::multipart_decoder::state::data) seen += step.data;
        if (step.what == http::multipart_decoder::state::part_end) seen += ";";
        if (step.what == http::multipart_decoder::state::complete) break;
        if (step.what == http::multipart_decoder::state::failed) co_return http::response::error(400);
      }
      co_return http::response::text(seen);
    });
    http::client client({.connector = server.connector()});
    auto request = client.request("POST", "http://a.test/");
    request.multipart({{.name = "a\"b", .content = "1"}, {.name = "f", .content = "{}", .file_name = "x.json"}});
    auto response = co_await request.send();
    EXPECT_EQ(co_await response.read_all(), "a\"b|||1;f|x.json|application/json|{};");
  });
}
