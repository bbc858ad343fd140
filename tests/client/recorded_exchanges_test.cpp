// tests/client/recorded_exchanges_test.cpp: responses that come from a file, or from the program.
#include <gyre/fs.hpp>

#include "tests/client/mock_answers.hpp"

#include <unistd.h>

#include <array>
#include <string>

using namespace gyre_test;
using http::recording;

namespace {

/// A path of its own for each process, removed at the end.
struct scratch_file {
  std::string path = "/tmp/gyre-exchanges-" + std::to_string(::getpid());
  scratch_file() { ::unlink(path.c_str()); }
  scratch_file& operator=(scratch_file&&) = delete;
  ~scratch_file() { ::unlink(path.c_str()); }
};

/// The status and the body, or the sentence of the error.
gyre::task<std::string> post_or_error(http::client& client, std::string text) {
  try {
    auto response = co_await client.post("http://a.test/x", text, "text/plain");
    const std::string body = co_await response.read_all();
    co_return std::to_string(response.status()) + " " + body + " " + std::string(response.field("X-Kind"));
  } catch (const std::exception& error) {
    co_return error.what();
  }
}

gyre::task<> expect_posted(http::client& client, std::string text, std::string expected) {
  const std::string answer = co_await post_or_error(client, text);
  EXPECT_EQ(answer, expected);
}

}  // namespace

TEST(recorded_exchanges, a_response_that_was_requested_once_comes_from_the_file_later) {
  gyre::testing::run_test([]() -> gyre::task<> {
    const scratch_file file;
    http_mock_server server;
    const std::string binary("b\0\n\r\nc", 6);
    {
      server.reply(http::response::text("one").add_field("X-Kind", "k").add_field("Set-Cookie", "secret=1"));
      server.reply(404, "two").reply(200, binary);
      http::client client({.connector = server.connector()});
      client.use(http::recorded_exchanges(file.path, recording::missing));
      co_await expect_posted(client, "1", "200 one k");
      co_await expect_posted(client, "2", "404 two ");
      co_await expect_posted(client, binary, "200 " + binary + " ");
    }
    const std::string kept = co_await gyre::fs::read_all(file.path);
    EXPECT_EQ(kept.find("secret"), std::string::npos);
    http::client client({.connector = server.connector()});
    client.use(http::recorded_exchanges(file.path));
    co_await expect_posted(client, binary, "200 " + binary + " ");
    for (int i = 0; i < 2; ++i) {
      co_await expect_posted(client, "1", "200 one k");
    }
    EXPECT_EQ(server.requests().size(), 3U) << "nothing was requested again";
    EXPECT_EQ(client.counts().opened, 0U);
    const std::string none = co_await post_or_error(client, "4");
    EXPECT_EQ(none, "recorded_exchanges " + file.path +
                        ": there is no response to POST http://a.test/x; use recording::missing to add it");
  });
}

TEST(recorded_exchanges, the_same_request_gets_its_responses_in_order) {
  gyre::testing::run_test([]() -> gyre::task<> {
    const scratch_file file;
    http_mock_server server;
    for (const char* const each : {"first", "second"}) server.reply(200, each);
    {
      http::client client({.connector = server.connector()});
      client.use(http::recorded_exchanges(file.path, recording::renew));
      (void)co_await post_or_error(client, "");
      (void)co_await post_or_error(client, "");
    }
    http::client client({.connector = server.connector()});
    client.use(http::recorded_exchanges(file.path));
    for (const char* const each : {"200 first ", "200 second ", "200 second "}) {
      const std::string got = co_await post_or_error(client, "");
      EXPECT_EQ(got, each);
    }
  });
}

TEST(recorded_exchanges, a_file_that_is_none_or_was_cut_is_refused) {
  gyre::testing::run_test([]() -> gyre::task<> {
    const scratch_file file;
    const auto outcome_with = [&](std::string text) -> gyre::task<std::string> {
      co_await gyre::fs::write_all_to(file.path, text);
      http_mock_server server;
      http::client client({.connector = server.connector()});
      client.use(http::recorded_exchanges(file.path, recording::missing));
      co_return co_await post_or_error(client, "1");
    };
    const std::string whole = "gyre exchanges 1\nPOST http://a.test/x 1\n1\n200 1 3\nX-Kind: k\nabc\n";
    const std::string good = co_await outcome_with(whole);
    EXPECT_EQ(good, "200 abc k");
    for (std::size_t size = 0; size < whole.size(); ++size) {
      const std::string outcome = co_await outcome_with(whole.substr(0, size));
      if (size == 17) continue;  // an empty file of exchanges
      EXPECT_TRUE(outcome.starts_with("recorded_exchanges " + file.path + ": ")) << size << ": " << outcome;
    }
    ::unlink(file.path.c_str());
    http::client client;
    client.use(http::recorded_exchanges(file.path));
    const std::string absent = co_await post_or_error(client, "1");
    EXPECT_EQ(absent, "recorded_exchanges " + file.path + ": No such file or directory");
  });
}

TEST(client_request, a_program_may_answer_a_request_itself) {
  gyre::testing::run_test([]() -> gyre::task<> {
    http::client client;
    client.use([](http::client_request request, http::next_sender) -> gyre::task<http::client_response> {
      const std::array<http::field, 2> fields{{{"X-Kind", "own"}, {"Content-Length", "7"}}};
      co_return std::move(request).answer(203, fields, "a body");
    });
    co_await expect_posted(client, "1", "203 a body own");
    auto head = co_await client.head("http://a.test/");
    EXPECT_EQ(head.field("Content-Length"), "6");
    EXPECT_TRUE(head.body().at_end());
    EXPECT_THROW((void)client.request("GET", "http://a.test/").answer(99, {}, ""), std::invalid_argument);
    const std::array<http::field, 1> split{{{"A", "b\r\nC: d"}}};
    EXPECT_THROW((void)client.request("GET", "http://a.test/").answer(200, split, ""), std::invalid_argument);
    EXPECT_EQ(client.counts().opened, 0U);
  });
}
