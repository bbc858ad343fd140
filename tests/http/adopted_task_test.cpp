// tests/http/adopted_task_test.cpp: tasks that are a part of an exchange, and read the body after the handler.
#include <gyre/http/body_reader.hpp>

#include "tests/http/socket_server.hpp"

#include <stdexcept>
#include <string>
#include <utility>

using namespace gyre_test;
using http::response;

namespace {

/// The bytes that a task has read, and whether the task has ended.
struct reading {
  std::string body;
  bool ended = false;
};

gyre::task<> read_to_the_end(http::request& request, reading& into) {
  const gyre::scope_exit at_end([&into]() noexcept { into.ended = true; });
  for (;;) {
    const std::string_view piece = co_await request.body().receive();
    if (piece.empty()) break;
    into.body += piece;
  }
}

void adopt_reader(http::request& request, reading& into) {
  into = {};
  request.adopt(gyre::spawn(read_to_the_end(request, into)));
}

const std::string begun = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n012";

}  // namespace

TEST(adopted_task, ends_before_the_server_skips_the_rest_of_the_body) {
  reading read;
  auto answer = [&read](http::request& request) -> gyre::task<response> {
    adopt_reader(request, read);
    co_await gyre::yield();
    co_return response::text("early");
  };
  run_client(options_for(answer), [&](memory_client& client) -> gyre::task<> {
    for (int i = 0; i < 3; ++i) {
      co_await client.send(begun);
      EXPECT_EQ((co_await client.answer()).body, "early");
      EXPECT_TRUE(read.ended);
      EXPECT_EQ(read.body, "012");
      co_await client.send("3456789");
    }
  });
}

TEST(adopted_task, ends_before_the_answer_to_a_failure) {
  reading read;
  auto fail = [&read](http::request& request) -> gyre::task<response> {
    adopt_reader(request, read);
    co_await gyre::yield();
    throw http::status_error(409, "no");
  };
  run_client(options_for(fail), [&](memory_client& client) -> gyre::task<> {
    co_await client.send(begun);
    EXPECT_EQ((co_await client.answer()).status, 409);
    EXPECT_TRUE(read.ended);
    co_await client.send("3456789" + begun);
    EXPECT_EQ((co_await client.answer()).status, 409);
  });
}

TEST(adopted_task, ends_when_the_time_of_the_handler_is_over) {
  reading read;
  auto wait = [&read](http::request& request) -> gyre::task<response> {
    adopt_reader(request, read);
    co_await forever();
    co_return response();
  };
  http::server_options options = options_for(wait);
  options.timeouts.handler = 1s;
  run_client(std::move(options), [&](memory_client& client) -> gyre::task<> {
    co_await client.send(begun);
    EXPECT_EQ((co_await client.answer()).status, 503);
    EXPECT_TRUE(read.ended);
  });
}

TEST(adopted_task, goes_on_while_the_body_of_the_response_is_made) {
  reading read;
  auto echo = [&read](http::request& request) -> gyre::task<response> {
    adopt_reader(request, read);
    co_await gyre::yield();
    co_return response::stream([&read](http::body_writer& out) -> gyre::task<> {
      co_await out.write("begun ");
      while (!read.ended) co_await gyre::sleep(1ms);
      co_await out.write(read.body);
    });
  };
  run_client(options_for(echo), [&](memory_client& client) -> gyre::task<> {
    for (int i = 0; i < 2; ++i) {
      co_await client.send(begun);
      while (!client.received().contains("begun ")) {
        const bool more = co_await client.receive();
        CO_ASSERT_TRUE(more);
      }
      co_await client.send("3456789");
      EXPECT_EQ((co_await client.answer()).body, "begun 0123456789");
    }
  });
}

TEST(adopted_task, ends_with_its_connection) {
  reading read;
  auto wait = [&read](http::request& request) -> gyre::task<response> {
    adopt_reader(request, read);
    co_await forever();
    co_return response();
  };
  run_in_memory(options_for(wait), [&](memory_server& server) -> gyre::task<> {
    {
      auto client = server.connect();
      co_await client.send(begun);
      co_await gyre::sleep(1ms);
      EXPECT_FALSE(read.ended);
    }
    co_await gyre::sleep(60s);
    EXPECT_TRUE(read.ended);
  });
}

TEST(adopted_task, has_ended_when_the_task_of_its_connection_that_was_cancelled_has) {
  bool ended = false;
  auto wait = [&ended](http::request& request) -> gyre::task<response> {
    auto idle = [&ended]() -> gyre::task<> {
      const gyre::scope_exit at_end([&ended]() noexcept { ended = true; });
      co_await forever();
    };
    request.adopt(gyre::spawn(idle));
    co_await forever();
    co_return response();
  };
  run_in_memory(options_for(wait), [&](memory_server& server) -> gyre::task<> {
    gyre::memory_pair pair(65'536);
    memory_client client(std::move(pair.first));
    auto serving = gyre::spawn(serve_given(server.server(), gyre::any_stream(std::move(pair.second))));
    co_await client.send(begun);
    co_await gyre::sleep(1ms);
    EXPECT_FALSE(ended);
    serving.cancel();
    co_await serving.wait();
    EXPECT_TRUE(ended);
  });
}
