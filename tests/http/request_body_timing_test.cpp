// tests/http/request_body_timing_test.cpp: bodies that arrive late, that the server asks for, or that are read while
// the response is produced.
#include <gyre/http/body_reader.hpp>

#include "tests/http/socket_server.hpp"

using namespace gyre_test;
using http::response;

namespace {

http::server_options patient_for(std::chrono::nanoseconds time, http::handler routes) {
  http::server_options options = options_for(std::move(routes));
  options.timeouts.body = time;
  return options;
}

}  // namespace

TEST(request_body_timing, one_that_stops_coming_is_answered_with_408) {
  run_client(patient_for(5s, echo_body), [](memory_client& client) -> gyre::task<> {
    const auto begin = gyre::now();
    const auto answer = co_await client.ask(begun_post + "Content-Length: 10\r\n\r\n01234");
    EXPECT_EQ(answer.status, 408);
    EXPECT_EQ(since(begin), 5s);
    co_await client.expect_end();
  });
}

TEST(request_body_timing, a_byte_now_and_then_does_not_keep_a_slow_sender_alive) {
  run_client(patient_for(5s, echo_body), [](memory_client& client) -> gyre::task<> {
    co_await client.send(begun_post + "Content-Length: 1000\r\n\r\n");
    const auto begin = gyre::now();
    auto drip = [&]() -> gyre::task<> {
      for (;;) {
        co_await client.send("x");
        co_await gyre::sleep(1s);
      }
    };
    auto dripping = gyre::spawn(drip);
    const auto answer = co_await client.answer();
    EXPECT_EQ(answer.status, 408);
    EXPECT_LE(since(begin), 6s);
    dripping.cancel();
    co_await dripping.wait();
  });
}

TEST(request_body_timing, a_steady_sender_may_take_longer_than_the_limit_in_all) {
  run_client(patient_for(5s, echo_body), [](memory_client& client) -> gyre::task<> {
    co_await client.send(begun_post + "Content-Length: 163840\r\n\r\n");
    const auto begin = gyre::now();
    for (int i = 0; i < 10; ++i) {
      co_await gyre::sleep(4s);
      co_await client.send(std::string(16'384, 'x'));
    }
    const auto answer = co_await client.answer();
    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(since(begin), 40s);
  });
}

TEST(request_body_timing, the_time_a_handler_takes_between_reads_is_not_the_senders) {
  auto slow = [](http::request& r) -> gyre::task<response> {
    (void)co_await r.body().receive();
    co_await gyre::sleep(100s);
    co_return co_await echo_body(r);
  };
  run_client(patient_for(5s, slow), [&](memory_client& client) -> gyre::task<> {
    co_await client.send(begun_post + "Content-Length: 4\r\n\r\nab");
    co_await gyre::sleep(102s);
    const auto answer = co_await client.ask("cd");
    EXPECT_EQ(answer.body, "cd");
  });
}

TEST(request_body_timing, the_senders_time_begins_anew_with_each_request) {
  run_client(patient_for(5s, echo_body), [](memory_client& client) -> gyre::task<> {
    for (int i = 0; i < 3; ++i) {
      co_await client.send(begun_post + "Content-Length: 4\r\n\r\nab");
      co_await gyre::sleep(4s);
      co_await client.send("cd" + begun_post.substr(0, 4));  // the next request has begun: no idle connection
      const auto answer = co_await client.answer();
      EXPECT_EQ(answer.status, 200);
      const auto empty = co_await client.ask(begun_post.substr(4) + "Content-Length: 0\r\n\r\n");
      EXPECT_EQ(empty.status, 200);
    }
  });
}

TEST(request_body_timing, a_client_that_waits_for_100_gets_it_when_the_body_is_read) {
  run_client(options_for(echo_body), [](memory_client& client) -> gyre::task<> {
    co_await client.send(begun_post + "Content-Length: 5\r\nExpect: 100-Continue\r\n\r\n");
    const bool more = co_await client.receive();
    EXPECT_TRUE(more);
    EXPECT_EQ(client.received(), "HTTP/1.1 100 Continue\r\n\r\n");
    const auto answer = co_await client.ask("hello" + hello_request);
    EXPECT_EQ(answer.body, "hello");
    const auto next = co_await client.answer();
    EXPECT_EQ(next.status, 200);
    EXPECT_EQ(client.interim(), 1) << "and once";
  });
}

TEST(request_body_timing, a_client_that_has_sent_the_body_already_is_not_told_to_continue) {
  run_client(options_for(echo_body), [](memory_client& client) -> gyre::task<> {
    const auto answer = co_await client.ask(begun_post + "Content-Length: 5\r\nExpect: 100-continue\r\n\r\nhello");
    EXPECT_EQ(answer.body, "hello");
    EXPECT_EQ(client.interim(), 0);
  });
}

TEST(request_body_timing, a_handler_that_does_not_want_the_body_answers_without_asking_for_it) {
  run_client(options_for(ignore_body), [](memory_client& client) -> gyre::task<> {
    const auto answer = co_await client.ask(begun_post + "Content-Length: 5\r\nExpect: 100-continue\r\n\r\n");
    EXPECT_EQ(answer.body, "ignored");
    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(client.interim(), 0);
    const auto rest = co_await client.rest();
    EXPECT_EQ(rest, "") << "nobody knows whether the body comes: the connection ends";
  });
}

TEST(request_body_timing, another_expectation_is_answered_with_417) {
  run_virtual([]() -> gyre::task<> {
    http_test_client app{http::handler(ignore_body)};
    const auto bytes = co_await app.exchange_bytes(begun_post + "Content-Length: 0\r\nExpect: miracles\r\n\r\n");
    EXPECT_TRUE(bytes.starts_with("HTTP/1.1 417 "));
  });
}

TEST(request_body_timing, a_client_of_http_1_0_is_not_told_to_continue) {
  run_client(options_for(echo_body), [](memory_client& client) -> gyre::task<> {
    co_await client.send("POST / HTTP/1.0\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n");
    co_await gyre::sleep(1s);
    co_await client.send("hello");
    const auto bytes = co_await client.rest();
    EXPECT_TRUE(bytes.starts_with("HTTP/1.1 200 OK\r\n")) << bytes;
  });
}

TEST(request_body_timing, a_stream_may_read_the_body_while_it_writes_the_answer) {
  auto echo_stream = [](http::request& r) {
    auto produce = [&r](http::body_writer& out) -> gyre::task<> {
      for (;;) {
        const std::string_view piece = co_await r.body().receive();
        if (piece.empty()) break;
        co_await out.write(piece);
      }
    };
    return response::stream(produce);
  };
  run_client(options_for(echo_stream), [&](memory_client& client) -> gyre::task<> {
    const std::string body(200'000, 'b');
    co_await client.send(begun_post + "Content-Length: 200000\r\n\r\n" + body.substr(0, 10));
    bool more = co_await client.receive();
    while (more && client.received().find("bbbbb") == std::string::npos) more = co_await client.receive();
    EXPECT_TRUE(more) << "the beginning comes back before the rest has been sent";
    auto sending = gyre::spawn(client.send(body.substr(10) + hello_request));
    const auto answer = co_await client.answer();
    EXPECT_EQ(answer.body.size(), body.size());
    co_await sending;
    const auto next = co_await client.answer();
    EXPECT_EQ(next.status, 200) << "and the connection goes on";
  });
}

TEST(request_body_timing, a_client_that_waits_for_100_gets_it_before_an_answer_that_may_read_the_body) {
  auto read_late = [](http::request& r) {
    auto produce = [&r](http::body_writer& out) -> gyre::task<> {
      co_await out.write("first ");
      const std::string body = co_await r.body().read_all();
      co_await out.write(body);
    };
    return response::stream(produce);
  };
  run_client(options_for(read_late), [&](memory_client& client) -> gyre::task<> {
    co_await client.send(begun_post + "Content-Length: 5\r\nExpect: 100-continue\r\n\r\n");
    (void)co_await client.receive();
    EXPECT_TRUE(client.received().starts_with("HTTP/1.1 100 Continue\r\n\r\n")) << client.received();
    const auto answer = co_await client.ask("hello" + hello_request);
    EXPECT_EQ(answer.body, "first hello");
    EXPECT_EQ(client.interim(), 1);
    const auto next = co_await client.answer();
    EXPECT_EQ(next.status, 200) << "and the connection goes on";
  });
}

TEST(request_body_timing, a_streamed_answer_that_refuses_the_body_or_one_too_large_does_not_ask_for_it) {
  auto refuse = [](http::request& r) {
    auto produce = [](http::body_writer& out) -> gyre::task<> { co_await out.write("no"); };
    return response::stream(produce).set_status(r.body().length() == 5U ? 403 : 200);
  };
  for (const char* const length : {"5", "9000000000"})
    run_client(options_for(refuse), [&](memory_client& client) -> gyre::task<> {
      const auto answer =
          co_await client.ask(begun_post + "Content-Length: " + length + "\r\nExpect: 100-continue\r\n\r\n");
      EXPECT_EQ(answer.body, "no");
      EXPECT_EQ(client.interim(), 0);
      co_await client.expect_end();
    });
}

TEST(request_body_timing, a_handler_whose_time_is_over_is_answered_with_503_also_when_a_body_is_unread) {
  auto too_long = [](http::request&) -> gyre::task<response> {
    co_await forever();
    co_return response();
  };
  run_virtual([&]() -> gyre::task<> {
    http::server_options options = options_for(too_long);
    options.timeouts.handler = 3s;
    memory_server server(std::move(options));
    auto client = server.connect();
    co_await client.send(begun_post + "Content-Length: 5\r\n\r\n01");
    co_await gyre::sleep(4s);
    const auto answer = co_await client.answer();
    EXPECT_EQ(answer.status, 503);
    EXPECT_EQ(answer.body, "the server took too long to respond\n");
    co_await client.expect_end();
  });
}

TEST(request_body_timing, a_refusal_that_closes_the_connection_does_not_wait_for_the_body) {
  auto refuse = [](http::request&) {
    auto made = response::error(403);
    made.close_connection();
    return made;
  };
  run_client(patient_for(5s, refuse), [&](memory_client& client) -> gyre::task<> {
    const auto begin = gyre::now();
    const auto answer = co_await client.ask(begun_post + "Content-Length: 10\r\n\r\n01234");
    EXPECT_EQ(answer.status, 403);
    EXPECT_EQ(since(begin), 0s);
  });
}

// Everything has arrived before the server looks: it has had no reason to wait, and has sent nothing.
TEST(request_body_timing, one_that_is_cut_off_does_not_take_the_earlier_answers_with_it) {
  http::router routes;
  routes.get("/", says("earlier"));
  routes.post("/", echo_body);
  run_on_sockets(options_for(std::move(routes)), [](socket_server& here) -> gyre::task<> {
    auto client = co_await here.connect();
    co_await client.send(hello_request + hello_request + begun_post + "Content-Length: 10\r\n\r\n01234");
    co_await client.shutdown_write();
    for (int i = 0; i < 2; ++i) {
      const auto answer = co_await client.answer();
      EXPECT_EQ(answer.body, "earlier");
    }
    co_await client.expect_end();
  });
}

TEST(request_body_timing, the_end_of_a_streamed_answer_does_not_wait_for_a_body_that_nobody_reads) {
  auto produce = [](http::body_writer& out) -> gyre::task<> { co_await out.write("no"); };
  run_on_sockets(options_for([&](http::request&) { return response::stream(produce); }),
                 [](socket_server& here) -> gyre::task<> {
                   auto client = co_await here.connect();
                   co_await client.send(begun_post + "Content-Length: 5\r\n\r\n01");
                   auto read_answer = [&]() -> gyre::task<> { (void)co_await client.answer(); };
                   EXPECT_TRUE(co_await gyre::as_expected(gyre::timeout(5s, read_answer)));
                   const auto next = co_await client.ask("234" + hello_request);
                   EXPECT_EQ(next.body, "no");
                 });
}
