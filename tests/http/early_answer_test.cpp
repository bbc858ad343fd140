// tests/http/early_answer_test.cpp: answers that are ready before the client has sent the rest of its request's body.
#include <gyre/http/body_reader.hpp>

#include "tests/http/socket_server.hpp"

using namespace gyre_test;
using http::response;

namespace {

response refuse(http::request&) { return response::error(403); }

http::server_options patient_for(std::chrono::nanoseconds time, http::handler routes = refuse) {
  http::server_options options = options_for(std::move(routes));
  options.timeouts.body = time;
  return options;
}

std::string begun_body(const std::string& more, const std::string& begin = "012") {
  return begun_post + more + "Content-Length: 10\r\n\r\n" + begin;
}

// Reads the answer, and returns when it came.
gyre::task<std::chrono::nanoseconds> time_of_answer(memory_client& client, int status) {
  const auto begin = gyre::now();
  const auto answer = co_await client.answer();
  EXPECT_EQ(answer.status, status);
  co_return since(begin);
}

}  // namespace

TEST(early_answer, does_not_wait_for_the_rest_of_the_body) {
  const std::string chunked = begun_post + "Transfer-Encoding: chunked\r\n\r\n5\r\n01";
  for (const std::string& request :
       {begun_body(""), begun_body("", ""), begun_body("Connection: close\r\n"), chunked,
        std::string("POST / HTTP/1.0\r\nContent-Length: 10\r\n\r\n012"), begun_body("Expect: 100-continue\r\n", "")}) {
    run_client(patient_for(5s), [&](memory_client& client) -> gyre::task<> {
      co_await client.send(request);
      const auto late = co_await time_of_answer(client, 403);
      EXPECT_EQ(late, 0s) << request;
    });
  }
}

TEST(early_answer, a_handler_whose_time_is_over_does_not_wait_for_the_body) {
  auto slow = [](http::request&) -> gyre::task<response> {
    co_await forever();
    co_return response();
  };
  for (const char* const more : {"", "Connection: close\r\n"}) {
    http::server_options options = patient_for(5s, slow);
    options.timeouts.handler = 1s;
    run_client(std::move(options), [&](memory_client& client) -> gyre::task<> {
      co_await client.send(begun_body(more));
      const auto late = co_await time_of_answer(client, 503);
      EXPECT_EQ(late, 1s);
    });
  }
}

TEST(early_answer, a_time_limit_around_a_handler_does_not_wait_for_the_body) {
  for (const char* const more : {"", "Connection: close\r\n"}) {
    http::router routes;
    routes.use(http::handler_timeout({.limit = 1s}));
    routes.post("/", echo_body);
    run_client(patient_for(5s, std::move(routes)), [&](memory_client& client) -> gyre::task<> {
      co_await client.send(begun_body(more));
      const auto late = co_await time_of_answer(client, 503);
      EXPECT_EQ(late, 1s);
    });
  }
}

TEST(early_answer, keeps_the_connection_when_the_rest_comes) {
  run_client(patient_for(5s), [](memory_client& client) -> gyre::task<> {
    for (int i = 0; i < 3; ++i) {
      co_await client.send(begun_body(""));
      (void)co_await time_of_answer(client, 403);
      co_await gyre::sleep(4s);
      co_await client.send("3456789");
    }
    co_await client.send(hello_request);
    (void)co_await time_of_answer(client, 403);
  });
}

TEST(early_answer, comes_before_the_answers_to_requests_that_follow_the_body) {
  run_client(patient_for(5s, ignore_body), [](memory_client& client) -> gyre::task<> {
    co_await client.send(hello_request + begun_body(""));
    (void)co_await time_of_answer(client, 200);
    (void)co_await time_of_answer(client, 200);
    co_await client.send("3456789" + hello_request + hello_request);
    (void)co_await time_of_answer(client, 200);
    (void)co_await time_of_answer(client, 200);
  });
}

TEST(early_answer, to_an_earlier_request_does_not_wait_for_a_body_that_a_later_handler_reads) {
  http::router routes;
  routes.get("/", says("earlier"));
  routes.post("/", echo_body);
  auto in_pieces = [](http::request& r) {
    auto produce = [&r](http::body_writer& out) -> gyre::task<> {
      co_await out.write("first");
      const std::string rest = co_await r.body().read_all();
      co_await out.write(rest);
    };
    return response::stream(produce);
  };
  routes.post("/in-pieces", in_pieces);
  run_client(options_for(std::move(routes)), [](memory_client& client) -> gyre::task<> {
    co_await client.send(hello_request + begun_body(""));
    (void)co_await time_of_answer(client, 200);
    co_await client.send("3456789" + hello_request +
                         "POST /in-pieces HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n01");
    (void)co_await time_of_answer(client, 200);
    (void)co_await time_of_answer(client, 200);
    while (!client.received().ends_with("first\r\n")) {
      const bool more = co_await client.receive();
      CO_ASSERT_TRUE(more);
    }
    const auto answer = co_await client.ask("234");
    EXPECT_EQ(answer.body, "first01234");
  });
}

TEST(early_answer, ends_the_connection_when_the_rest_does_not_come_in_time) {
  run_client(patient_for(5s), [](memory_client& client) -> gyre::task<> {
    co_await client.send(begun_body(""));
    (void)co_await time_of_answer(client, 403);
    const auto begin = gyre::now();
    co_await client.expect_end();
    EXPECT_FALSE(client.was_reset());
    EXPECT_EQ(since(begin), 5s);
  });
}

TEST(early_answer, gives_the_rest_half_a_minute_at_most_even_if_it_drips) {
  run_client(patient_for(1h), [](memory_client& client) -> gyre::task<> {
    co_await client.send(begun_post + "Content-Length: 1000\r\n\r\n");
    (void)co_await time_of_answer(client, 403);
    const auto begin = gyre::now();
    auto drip = [&]() -> gyre::task<> {
      for (;;) {
        co_await gyre::sleep(1s);
        co_await client.send("x");
      }
    };
    auto dripping = gyre::spawn(drip);
    co_await client.expect_end();
    EXPECT_EQ(since(begin), 30s);
    dripping.cancel();
    co_await dripping.wait();
  });
}

TEST(early_answer, gives_the_rest_only_the_time_that_the_handler_has_left) {
  http::server_options options = patient_for(20s);
  options.timeouts.handler = 3s;
  run_client(std::move(options), [](memory_client& client) -> gyre::task<> {
    co_await client.send(begun_body(""));
    const auto begin = gyre::now();
    (void)co_await time_of_answer(client, 403);
    co_await client.expect_end();
    EXPECT_EQ(since(begin), 3s);
  });
}

TEST(early_answer, to_a_body_that_is_too_long_to_be_skipped_says_that_the_connection_ends) {
  for (const char* const length : {"65537", "9000000000"})
    run_client(patient_for(5s), [&](memory_client& client) -> gyre::task<> {
      const auto answer = co_await client.ask(begun_post + "Content-Length: " + length + "\r\n\r\n01");
      EXPECT_EQ(answer.field("Connection"), "close");
      co_await client.expect_end();
    });
}

TEST(early_answer, ends_the_connection_when_a_chunked_rest_is_too_long) {
  run_client(patient_for(5s), [](memory_client& client) -> gyre::task<> {
    co_await client.send(begun_post + "Transfer-Encoding: chunked\r\n\r\n");
    (void)co_await time_of_answer(client, 403);
    auto sending = gyre::spawn(client.send("20000\r\n" + std::string(0x20000, 'x')));
    co_await client.expect_end();
    co_await sending.wait();
  });
}

TEST(early_answer, ends_the_connection_when_the_rest_is_malformed) {
  run_client(patient_for(5s), [](memory_client& client) -> gyre::task<> {
    co_await client.send(begun_post + "Transfer-Encoding: chunked\r\n\r\n");
    (void)co_await time_of_answer(client, 403);
    co_await client.send("no chunk\r\n" + hello_request);
    co_await client.expect_end();
  });
}

TEST(early_answer, is_logged_before_the_rest_comes) {
  exchange_log log;
  http::server_options options = patient_for(5s);
  options.observer = &log;
  run_client(std::move(options), [&](memory_client& client) -> gyre::task<> {
    co_await client.send(begun_body(""));
    (void)co_await time_of_answer(client, 403);
    EXPECT_EQ(log.statuses, std::vector{403});
    EXPECT_EQ(log.complete, std::vector{true});
  });
}

TEST(early_answer, does_not_hold_up_a_server_that_stops) {
  run_on_sockets(patient_for(30s), [](socket_server& here) -> gyre::task<> {
    auto client = co_await here.connect();
    const auto answer = co_await client.ask(begun_body(""));
    EXPECT_EQ(answer.status, 403);
    const auto begin = gyre::now();
    here.tell_to_stop();
    co_await client.expect_end();
    EXPECT_LE(since(begin), 4s);
  });
}
