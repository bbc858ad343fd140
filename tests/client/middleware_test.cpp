// tests/client/middleware_test.cpp: functions around the requests of a client.
#include "tests/client/mock_answers.hpp"
#include "tests/support/co_assert.hpp"

using namespace gyre_test;

TEST(client_middleware, the_first_function_is_outermost_and_each_sees_a_request_once) {
  gyre::testing::run_test([]() -> gyre::task<> {
    http_mock_server server;
    server.reply(http::response::redirect("/b", 302)).reply(503).reply(200, "end");
    std::string order;
    http::client client({.retries = {.attempts = 2}, .connector = server.connector()});
    for (const std::string name : {"1", "2"})
      client.use(
          [&order, name](http::client_request request, http::next_sender next) -> gyre::task<http::client_response> {
            order += name + "(";
            request.header("X-Order", name);
            auto response = co_await next(std::move(request));
            order += std::to_string(response.status()) + ")";
            co_return response;
          });
    co_await expect_answer(client, "http://a.test/a", "200");
    EXPECT_EQ(order, "1(2(200)200)");
    EXPECT_EQ(server.requests().size(), 3U);
    EXPECT_EQ(server.requests()[0].field("X-Order"), "1");
  });
}

TEST(client_middleware, a_function_may_answer_with_an_exception_and_send_nothing) {
  gyre::testing::run_test([]() -> gyre::task<> {
    http_mock_server server;
    http::client client({.connector = server.connector()});
    client.use([](http::client_request request, http::next_sender) -> gyre::task<http::client_response> {
      throw std::runtime_error("not on " + std::string(request.url().host()));
      co_return co_await request.send();
    });
    bool refused = false;
    try {
      (void)co_await client.get("http://a.test/");
    } catch (const std::runtime_error& error) {
      refused = std::string_view(error.what()) == "not on a.test";
    }
    EXPECT_TRUE(refused);
    EXPECT_TRUE(server.requests().empty());
  });
}

TEST(client_middleware, a_copy_of_a_request_has_everything_but_its_observer) {
  gyre::testing::run_test([]() -> gyre::task<> {
    http_mock_server server;
    server.reply(200).reply(200);
    http::client client({.connector = server.connector()});
    auto request = client.request("PUT", "http://a.test/x");
    request.query("a", "b").header("X-A", "1").json("[1]");
    auto copy = request.copy();
    EXPECT_TRUE(copy.has_header("x-a"));
    EXPECT_FALSE(copy.has_header("x"));
    (void)co_await request.send();
    (void)co_await copy.send();
    const auto& seen = server.requests();
    EXPECT_EQ(seen[0].method + seen[0].target + seen[0].body, "PUT/x?a=b[1]");
    EXPECT_EQ(seen[1].fields, seen[0].fields);
    EXPECT_EQ(seen[1].method + seen[1].target + seen[1].body, "PUT/x?a=b[1]");

    auto streamed = client.request("PUT", "http://a.test/x");
    streamed.body([]() -> gyre::task<std::string_view> { co_return ""; });
    EXPECT_TRUE(streamed.has_streamed_body());
    EXPECT_THROW((void)streamed.copy(), std::logic_error);
  });
}

TEST(client_middleware, requests_without_a_response_may_outlive_their_client) {
  gyre::testing::run_test([]() -> gyre::task<> {
    http_mock_server server;
    server.stall();
    std::optional<http::client> client(http::client_options{.connector = server.connector()});
    client->use([](http::client_request request, http::next_sender next) -> gyre::task<http::client_response> {
      co_return co_await next(std::move(request));
    });
    auto asking = gyre::spawn(answer_or_error(*client, "http://a.test/"));
    while (server.requests().empty()) co_await gyre::yield();
    client.reset();
    asking.cancel();
    co_await asking.wait();
    co_await server.closed();
  });
}

TEST(bearer_tokens, a_token_that_has_expired_is_replaced_once_for_all_requests_that_meet_it) {
  gyre::testing::run_test([]() -> gyre::task<> {
    std::string valid = "t1";
    http_mock_server server([&valid](http::request& request) {
      return request.field("Authorization") == "Bearer " + valid ? http::response::text("in")
                                                                 : http::response::error(401);
    });
    int made = 0;
    http::client client({.connector = server.connector()});
    client.use(http::bearer_tokens("https://a.test", [&made]() -> gyre::task<std::string> {
      co_await gyre::sleep(1s);
      co_return "t" + std::to_string(++made);
    }));
    co_await expect_answer(client, "https://a.test/", "200");
    valid = "t2";
    auto many =
        co_await gyre::gather(answer_or_error(client, "https://a.test/1"), answer_or_error(client, "https://a.test/2"),
                              answer_or_error(client, "https://a.test/3"));
    EXPECT_EQ(many.get<0>() + many.get<1>() + many.get<2>(), "200 in200 in200 in");
    EXPECT_EQ(made, 2);
    co_await expect_answer(client, "https://b.test/", "401");
    EXPECT_EQ(server.requests().back().field("Authorization"), "");
    valid = "never";
    co_await expect_answer(client, "https://a.test/", "401");  // a second refusal is the result
    EXPECT_EQ(made, 3);
  });
}

TEST(circuit_breaker, a_server_that_fails_has_a_pause_and_then_one_request_tries) {
  gyre::testing::run_test([]() -> gyre::task<> {
    http_mock_server server;
    http::client client({.connector = server.connector()});
    client.use(http::circuit_breaker({.failures = 2, .pause = 30s}));
    server.reply(500);
    co_await expect_answer(client, "http://a.test/", "500");
    client.close_idle();
    server.refuse();
    co_await expect_answer(client, "http://a.test/", "connect http://a.test: Connection refused");
    co_await expect_answer(
        client, "http://a.test/",
        "GET http://a.test/: the server has failed too often, so no request is sent to it for a while");
    server.reply(200);
    co_await expect_answer(client, "http://b.test/", "200");  // another origin counts for itself

    co_await gyre::sleep(31s);
    server.reply(503);
    co_await expect_answer(client, "http://a.test/", "503");
    co_await expect_answer(client, "http://a.test/", "failed too often");

    co_await gyre::sleep(31s);
    server.stall();
    auto cancelled = gyre::spawn(answer_or_error(client, "http://a.test/"));
    const std::size_t before = server.requests().size();
    while (server.requests().size() == before) co_await gyre::yield();
    co_await expect_answer(client, "http://a.test/", "failed too often");  // only one request tries
    cancelled.cancel();
    co_await cancelled.wait();
    server.reply(200).reply(200);
    co_await expect_answer(client, "http://a.test/", "200");  // a trial that was cancelled makes room for another
    co_await expect_answer(client, "http://a.test/", "200");
  });
}

TEST(circuit_breaker, a_request_that_began_before_the_pause_does_not_end_it) {
  gyre::testing::run_test([]() -> gyre::task<> {
    http_mock_server server([](http::request& request) -> gyre::task<http::response> {
      if (request.path() != "/slow") co_return http::response::error(500);
      co_await gyre::sleep(10s);
      co_return http::response::text("late");
    });
    http::client client({.connector = server.connector()});
    client.use(http::circuit_breaker({.failures = 1, .pause = 30s}));
    auto slow = gyre::spawn(answer_or_error(client, "http://a.test/slow"));
    while (server.requests().empty()) co_await gyre::yield();
    co_await expect_answer(client, "http://a.test/", "500");
    const std::string late = co_await slow;
    EXPECT_EQ(late, "200 late");
    co_await expect_answer(client, "http://a.test/", "failed too often");
    co_await gyre::sleep(31s);
    co_await expect_answer(client, "http://a.test/slow", "200");
    co_await expect_answer(client, "http://a.test/slow", "200");  // the trial has ended the pause
  });
}

TEST(request_log, each_request_is_told_with_its_end) {
  gyre::testing::run_test([]() -> gyre::task<> {
    http_mock_server server;
    server.reply(404).stall();
    std::vector<std::string> lines;
    http::client client({.connector = server.connector()});
    client.use(http::log_requests([&lines](const http::request_record& record) { lines.push_back(record.string()); }));
    (void)co_await answer_or_error(client, "http://ann:secret@a.test/x#y");
    client.close_idle();
    server.refuse();
    (void)co_await answer_or_error(client, "http://a.test/x");
    auto limited = gyre::timeout(1500ms, answer_or_error(client, "http://a.test/x"));
    (void)co_await gyre::as_result(std::move(limited));
    EXPECT_EQ(lines.size(), 3U);
    EXPECT_EQ(lines[0], "GET http://a.test/x 404 0.0 ms");
    EXPECT_EQ(lines[1], "GET http://a.test/x failed 0.0 ms: connect http://a.test: Connection refused");
    EXPECT_EQ(lines[2].substr(0, 43), "GET http://a.test/x failed 1500.0 ms: cance");
  });
}

TEST(propagate_trace, a_request_within_a_handler_continues_the_trace_of_the_client) {
  gyre::testing::run_test([]() -> gyre::task<> {
    http_mock_server server;
    server.reply(200).reply(200).reply(200);
    http::client client({.connector = server.connector()});
    client.use(http::propagate_trace());
    {
      http::trace_context trace = http::trace_context::begin();
      trace.state = "vendor=1";
      trace.sampled = false;
      const auto bound = http::current_trace().bind(trace);
      (void)co_await answer_or_error(client, "http://a.test/");
      const auto sent = http::trace_context::parse(server.requests()[0].field("traceparent"));
      CO_ASSERT_TRUE(sent);
      EXPECT_EQ(sent->trace_id, trace.trace_id);
      EXPECT_NE(sent->parent_id, trace.parent_id);
      EXPECT_FALSE(sent->sampled);
      EXPECT_EQ(server.requests()[0].field("tracestate"), "vendor=1");
    }
    (void)co_await answer_or_error(client, "http://a.test/");
    EXPECT_TRUE(http::trace_context::parse(server.requests()[1].field("traceparent"))) << "a new trace";
    (void)co_await client.request("GET", "http://a.test/").header("traceparent", "own").send();
    EXPECT_EQ(server.requests()[2].field("traceparent"), "own");
  });
}
