// tests/client/mock_server_test.cpp: connections of the program's own, and the server in memory of tests.
#include <gyre/testing/cancel_at_every_await.hpp>
#include <gyre/tls.hpp>

#include "tests/client/mock_answers.hpp"

using namespace gyre_test;
namespace tls = gyre::tls;

TEST(http_mock_server, replies_are_given_in_order_and_requests_are_kept) {
  gyre::testing::run_test([]() -> gyre::task<> {
    http_mock_server server;
    server.reply(201, "one").reply(http::response::json("[2]").add_field("X-A", "b"));
    http::client client({.connector = server.connector()});
    auto first = co_await client.post("https://api.test/items?x=1", "text", "text/plain");
    EXPECT_EQ(first.status(), 201);
    const std::string one = co_await first.read_all();
    EXPECT_EQ(one, "one");
    auto second = co_await client.get("https://api.test/");
    EXPECT_EQ(second.field("X-A"), "b");
    const std::string two = co_await second.read_all();
    EXPECT_EQ(two, "[2]");
    EXPECT_EQ(server.requests().size(), 2U);
    const auto& request = server.requests().front();
    EXPECT_EQ(request.origin, "https://api.test");
    EXPECT_EQ(request.method + request.target + request.body, "POST/items?x=1text");
    EXPECT_EQ(request.field("content-type"), "text/plain");
    EXPECT_EQ(server.connections(), 1);
    EXPECT_EQ(server.replies_left(), 0U);
    EXPECT_EQ(client.counts().idle, 1U);
  });
}

TEST(http_mock_server, a_request_without_a_reply_is_answered_by_the_routes_or_by_a_sentence) {
  gyre::testing::run_test([]() -> gyre::task<> {
    http_mock_server nothing;
    http::client lost({.connector = nothing.connector()});
    co_await expect_answer(lost, "http://a.test/x", "there is no reply for GET /x");

    http_mock_server server([](http::request& request) { return http::response::text(std::string(request.host())); });
    http::client client({.connector = server.connector()});
    co_await expect_answer(client, "http://a.test/x", "200 a.test");
  });
}

TEST(http_mock_server, retries_and_their_waits_take_no_time) {
  gyre::testing::run_test([]() -> gyre::task<> {
    http_mock_server server;
    server.refuse().reply(503).reply_bytes("", http_mock_server::then::reset).reply(200, "at last");
    http::client client({.retries = {.attempts = 4, .backoff = 10s}, .connector = server.connector()});
    const auto before = std::chrono::steady_clock::now();
    co_await expect_answer(client, "http://a.test/", "200 at last");
    EXPECT_EQ(client.counts().retried, 3U);
    EXPECT_LT(std::chrono::steady_clock::now() - before, 5s);
  });
}

TEST(http_mock_server, strange_bytes_arrive_unchanged) {
  gyre::testing::run_test([]() -> gyre::task<> {
    http_mock_server server;
    server.reply_bytes("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf").reply_bytes("SSH-2.0\r\n\r\n");
    http::client client({.connector = server.connector()});
    co_await expect_answer(client, "http://a.test/", "ended within the response");
    co_await expect_answer(client, "http://a.test/", "response");
    EXPECT_EQ(client.counts().idle + client.counts().in_use, 0U);
  });
}

TEST(http_mock_server, time_limits_end_waits_on_streams_that_are_no_sockets) {
  gyre::testing::run_test([]() -> gyre::task<> {
    http_mock_server server;
    server.stall().reply_bytes("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf", http_mock_server::then::stay_open);
    http::client client({.timeouts = {.first_byte = 2s, .between_bytes = 3s}, .connector = server.connector()});
    co_await expect_answer(client, "http://a.test/",
                           "GET http://a.test/ (waiting for the response): timed out after 2 s");
    co_await expect_answer(client, "http://a.test/", "GET http://a.test/ (receiving the body): timed out after 3 s");
    EXPECT_EQ(client.counts().idle + client.counts().in_use, 0U);
  });
}

TEST(http_mock_server, a_cancel_anywhere_leaks_nothing) {
  const auto scenario = []() -> gyre::task<> {
    http_mock_server server([](http::request&) { return http::response::text("hello"); });
    const auto asks = [](http_mock_server& to) -> gyre::task<> {
      http::client client({.connector = to.connector()});
      for (int i = 0; i < 2; ++i) {
        auto response = co_await client.post("http://a.test/", std::string(100'000, 'x'), "text/plain");
        const std::string text = co_await response.read_all();
        EXPECT_EQ(text, "hello");
      }
    };
    std::exception_ptr failure;
    try {
      co_await asks(server);
    } catch (...) {
      failure = std::current_exception();
    }
    co_await gyre::shield(server.closed());
    if (failure) std::rethrow_exception(failure);
  };
  const auto report = gyre::testing::cancel_at_every_await(scenario, [](bool) {});
  EXPECT_GT(report.cancelled, 5U);
  EXPECT_GE(report.completed, 1U);
}

TEST(client_connector, https_is_encrypted_on_a_stream_of_the_program) {
  gyre::testing::run_test([]() -> gyre::task<> {
    const auto shown = tls::certificate::self_signed({"a.test"});
    tls::server_options settings;
    settings.certificates.push_back(shown);
    const tls::server_config config(settings);
    http::server_options options;
    options.listen.clear();
    options.routes = [](http::request& request) { return http::response::text(std::string(request.host())); };
    http::server server(std::move(options));
    auto group_body = [&](gyre::task_group& group) -> gyre::task<> {
      const auto connect = [&](const http::url&) -> gyre::task<gyre::memory_stream> {
        gyre::memory_pair pair;
        group.spawn([](gyre::memory_stream below, tls::server_config with, http::server& by) -> gyre::task<> {
          auto stream = co_await tls::accept(std::move(below), with);
          co_await by.serve_connection(gyre::any_stream(std::move(stream)));
        }(std::move(pair.second), config, server));
        co_return std::move(pair.first);
      };
      {
        http::client client({.tls = tls::client_config({.authorities = shown.chain}), .connector = connect});
        for (int i = 0; i < 2; ++i) {
          co_await expect_answer(client, "https://a.test/", "200 a.test");
        }
        EXPECT_EQ(client.counts().opened, 1U);
      }
      co_await group.wait();
    };
    co_await gyre::task_group::scope(group_body);
  });
}

TEST(client_connector, an_exception_of_the_callable_arrives_at_the_request) {
  gyre::testing::run_test([]() -> gyre::task<> {
    const auto connect = [](const http::url& to) -> gyre::task<gyre::memory_stream> {
      throw std::runtime_error("no way to " + std::string(to.host()));
      co_return {};
    };
    http::client client({.connector = connect});
    std::string text;
    try {
      (void)co_await client.get("http://a.test/");
    } catch (const std::runtime_error& error) {
      text = error.what();
    }
    EXPECT_EQ(text, "no way to a.test");
    EXPECT_EQ(client.counts().in_use, 0U);
  });
}

TEST(client_connector, a_connector_that_takes_too_long_is_cancelled) {
  gyre::testing::run_test([]() -> gyre::task<> {
    const auto connect = [](const http::url&) -> gyre::task<gyre::memory_stream> {
      co_await gyre::sleep(1h);
      co_return {};
    };
    http::client client({.timeouts = {.connect = 7s}, .connector = connect});
    co_await expect_answer(client, "http://a.test/", "GET http://a.test/ (connecting): timed out after 7 s");
  });
}
