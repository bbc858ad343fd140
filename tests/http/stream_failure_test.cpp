// tests/http/stream_failure_test.cpp: streamed bodies that fail before their first byte. The answer then says so.
#include <gyre/http/body_reader.hpp>

#include "tests/http/socket_server.hpp"

#include <stdexcept>

using namespace gyre_test;
using http::response;

namespace {

using producer = gyre::task<> (*)(http::body_writer&);

http::handler streams(producer produce) {
  return [produce](http::request&) {
    auto made = response::stream(produce, "text/csv");
    made.add_field("ETag", "\"1\"");
    return made;
  };
}

http::handler streams_with_length(producer produce) {
  return [produce](http::request&) {
    auto made = response::stream(produce, "text/csv");
    made.set_length(100);
    return made;
  };
}

gyre::task<> write_nothing(http::body_writer&) { co_return; }

gyre::task<> wait_forever(http::body_writer&) { co_await forever(); }

gyre::task<> write_late(http::body_writer& out) {
  co_await gyre::sleep(5s);
  co_await out.write("x");
}

gyre::task<> send_head_and_write_late(http::body_writer& out) {
  out.send_head();
  co_await write_late(out);
}

gyre::task<> fail_at_once(http::body_writer&) {
  throw std::runtime_error("no table");
  co_return;
}

gyre::task<> fail_later(http::body_writer&) {
  co_await gyre::sleep(1s);
  throw std::runtime_error("no table");
}

gyre::task<> fail_with_status(http::body_writer&) {
  co_await gyre::sleep(1s);
  throw http::status_error(404, "no such table");
}

gyre::task<> fail_behind_the_head(http::body_writer& out) {
  out.send_head();
  co_await gyre::sleep(1s);
  throw std::runtime_error("no table");
}

gyre::task<> fail_behind_a_flush(http::body_writer& out) {
  co_await out.flush();
  throw std::runtime_error("no table");
}

gyre::task<> fail_behind_a_byte(http::body_writer& out) {
  out.append("1");
  throw std::runtime_error("no table");
  co_return;
}

// Sends two requests, the second of which must be answered, too. Returns both answers.
std::vector<http_answer> two_answers(http::server_options options, const std::string& request) {
  std::vector<http_answer> all;
  run_client(std::move(options), [&](memory_client& client) -> gyre::task<> {
    co_await client.send(request + request);
    for (int i = 0; i < 2; ++i) {
      auto answer = co_await client.answer();
      all.push_back(std::move(answer));
    }
  });
  return all;
}

}  // namespace

TEST(stream_failure, before_the_first_byte_is_answered_with_500_and_reported) {
  for (const producer each : {&fail_at_once, &fail_later}) {
    for (const bool with_length : {false, true}) {
      run_virtual([&]() -> gyre::task<> {
        const reports heard;
        memory_server server(options_for(with_length ? streams_with_length(each) : streams(each)));
        auto client = server.connect();
        const auto answer = co_await client.ask(hello_request);
        EXPECT_EQ(answer.status, 500);
        EXPECT_EQ(answer.body, "Internal Server Error\n");
        EXPECT_EQ(answer.field("ETag"), "");
        EXPECT_EQ(answer.field("Content-Type"), "text/plain; charset=utf-8");
        EXPECT_EQ(heard.texts, std::vector<std::string>{"no table"});
      });
    }
  }
}

TEST(stream_failure, with_a_status_error_is_answered_with_its_status_and_not_reported) {
  run_virtual([]() -> gyre::task<> {
    const reports heard;
    memory_server server(options_for(streams(fail_with_status)));
    const auto answer = co_await server.get("/");
    EXPECT_EQ(answer.status, 404);
    EXPECT_EQ(answer.body, "no such table\n");
    EXPECT_TRUE(heard.texts.empty());
  });
}

TEST(stream_failure, keeps_the_connection_of_http_1_1_and_closes_that_of_http_1_0) {
  const auto both = two_answers(options_for(streams(fail_with_status)), hello_request);
  EXPECT_EQ(both[1].status, 404);
  run_client(options_for(streams(fail_with_status)), [](memory_client& client) -> gyre::task<> {
    co_await client.send("GET / HTTP/1.0\r\n\r\n");
    const auto bytes = co_await client.rest();
    EXPECT_EQ(status_of(bytes), 404);
    EXPECT_TRUE(bytes.ends_with("no such table\n")) << bytes;
    EXPECT_FALSE(client.was_reset());
  });
}

TEST(stream_failure, keeps_the_fields_that_are_not_about_the_content) {
  auto made = [](http::request&) {
    auto all = response::stream(fail_with_status, "text/csv");
    for (const char* const about_content :
         {"ETag", "content-disposition", "Cache-Control", "Last-Modified", "Location"})
      all.add_field(about_content, "x");
    all.add_field("X-Request-ID", "7");
    return all;
  };
  http::router routes;
  routes.use(http::cors({.origins = {"https://a.example"}}));
  routes.get("/", made);
  run_client(options_for(std::move(routes)), [](memory_client& client) -> gyre::task<> {
    const auto answer = co_await client.ask(get_request("/", "Origin: https://a.example\r\n"));
    EXPECT_EQ(answer.status, 404);
    EXPECT_EQ(answer.field("X-Request-ID"), "7");
    EXPECT_EQ(answer.field("Access-Control-Allow-Origin"), "https://a.example");
    for (const char* const about_content :
         {"ETag", "Content-Disposition", "Cache-Control", "Last-Modified", "Location"})
      EXPECT_EQ(answer.field(about_content), "") << about_content;
  });
}

TEST(stream_failure, an_empty_body_that_announced_a_length_is_answered_with_500) {
  run_virtual([]() -> gyre::task<> {
    const reports heard;
    memory_server server(options_for(streams_with_length(write_nothing)));
    const auto answer = co_await server.get("/");
    EXPECT_EQ(answer.status, 500);
    EXPECT_EQ(heard.texts.size(), 1U);
  });
}

TEST(stream_failure, a_handler_whose_time_is_over_is_answered_with_503) {
  http::server_options options = options_for(streams(wait_forever));
  options.timeouts.handler = 3s;
  run_in_memory(std::move(options), [](memory_server& server) -> gyre::task<> {
    const auto begin = gyre::now();
    const auto answer = co_await server.get("/");
    EXPECT_EQ(answer.status, 503);
    EXPECT_EQ(since(begin), 3s);
  });
}

TEST(stream_failure, inside_a_compressed_body_is_answered_too) {
  http::router routes;
  routes.use(http::compress());
  routes.get("/", streams(fail_with_status));
  run_client(options_for(std::move(routes)), [](memory_client& client) -> gyre::task<> {
    const auto answer = co_await client.ask(get_request("/", "Accept-Encoding: gzip\r\n"));
    EXPECT_EQ(answer.status, 404);
    EXPECT_EQ(answer.field("Content-Encoding"), "");
    EXPECT_EQ(answer.body, "no such table\n");
  });
}

TEST(stream_failure, a_request_body_that_came_too_slowly_is_answered_with_408) {
  auto echo = [](http::request& r) {
    auto produce = [&r](http::body_writer& out) -> gyre::task<> {
      const std::string all = co_await r.body().read_all();
      co_await out.write(all);
    };
    return response::stream(produce);
  };
  http::server_options options = options_for(echo);
  options.timeouts.body = 5s;
  run_client(std::move(options), [](memory_client& client) -> gyre::task<> {
    const auto answer = co_await client.ask(begun_post + "Content-Length: 10\r\n\r\n012");
    EXPECT_EQ(answer.status, 408);
    EXPECT_EQ(answer.field("Connection"), "close");
  });
}

TEST(stream_failure, behind_the_head_or_a_byte_resets_the_connection) {
  for (const producer each : {&fail_behind_the_head, &fail_behind_a_flush, &fail_behind_a_byte})
    run_virtual([&]() -> gyre::task<> {
      const reports heard;
      memory_server server(options_for(streams(each)));
      auto client = server.connect();
      co_await client.send(hello_request);
      (void)co_await client.rest();
      EXPECT_TRUE(client.was_reset());
      EXPECT_EQ(heard.texts.size(), 1U);
    });
}

TEST(stream_failure, is_logged_with_the_status_that_was_sent) {
  struct one {
    producer produce;
    int status;
    bool complete;
  };
  for (const one& each : {one{&fail_later, 500, true}, one{&fail_with_status, 404, true},
                          one{&fail_behind_the_head, 200, false}, one{&fail_behind_a_byte, 200, false}}) {
    exchange_log log;
    http::server_options options = options_for(streams(each.produce));
    options.observer = &log;
    run_in_memory(std::move(options), [&](memory_server& server) -> gyre::task<> {
      const reports heard;
      auto client = server.connect();
      co_await client.send("GET / HTTP/1.0\r\n\r\n");
      (void)co_await client.rest();
      EXPECT_EQ(log.statuses, std::vector{each.status});
      EXPECT_EQ(log.complete, std::vector{each.complete});
    });
  }
}

TEST(stream_failure, a_client_that_has_left_before_the_first_byte_is_logged_as_499) {
  exchange_log log;
  http::server_options options = options_for(streams(wait_forever));
  options.observer = &log;
  run_in_memory(std::move(options), [&](memory_server& server) -> gyre::task<> {
    const reports heard;
    auto client = server.connect();
    co_await client.send(hello_request);
    co_await client.shutdown_write();
    const auto bytes = co_await client.rest();
    EXPECT_EQ(bytes, "");
    EXPECT_EQ(log.statuses, std::vector{499});
    EXPECT_TRUE(heard.texts.empty());
  });
}

TEST(stream_head, leaves_when_it_is_asked_for_and_otherwise_with_the_first_byte) {
  for (const bool at_once : {true, false})
    run_in_memory(options_for(streams(at_once ? send_head_and_write_late : write_late)),
                  [&](memory_server& server) -> gyre::task<> {
                    auto client = server.connect();
                    const auto begin = gyre::now();
                    co_await client.send(hello_request);
                    (void)co_await client.receive();
                    EXPECT_EQ(since(begin), at_once ? 0s : 5s);
                    EXPECT_TRUE(client.received().starts_with("HTTP/1.1 200 OK\r\n"));
                    const auto answer = co_await client.answer();
                    EXPECT_EQ(answer.body, "x");
                  });
}

TEST(stream_head, passes_a_compressor_when_it_is_asked_for) {
  http::router routes;
  routes.use(http::compress());
  routes.get("/", streams([](http::body_writer& out) -> gyre::task<> {
               out.send_head();
               co_await forever();
             }));
  run_client(options_for(std::move(routes)), [](memory_client& client) -> gyre::task<> {
    co_await client.send(get_request("/", "Accept-Encoding: gzip\r\n"));
    (void)co_await client.receive();
    EXPECT_TRUE(client.received().starts_with("HTTP/1.1 200 OK\r\n"));
    EXPECT_NE(client.received().find("Content-Encoding: gzip\r\n"), std::string::npos);
  });
}

TEST(stream_head, the_head_of_an_empty_body_leaves_at_its_end) {
  const auto both = two_answers(options_for(streams(write_nothing)), hello_request);
  EXPECT_EQ(both[1].status, 200);
  EXPECT_EQ(both[1].body, "");
}
