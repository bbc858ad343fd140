// tests/http/server_sent_events_test.cpp: events as browsers parse them, and streams that stay alive.
#include <gyre/http/server_sent_events.hpp>

#include <gyre/http/compress.hpp>
#include <gyre/http/router.hpp>
#include <gyre/stream/memory_stream.hpp>
#include <gyre/testing/http_test_client.hpp>

#include "decoding.hpp"
#include "tests/http/http_client.hpp"
#include "tests/support/virtual_run.hpp"

#include <gtest/gtest.h>

#include <array>
#include <random>

namespace http = gyre::http;
using gyre::task;
using gyre_test::http_test_client;
using gyre_test::run_virtual;
using namespace std::chrono_literals;

namespace {

std::string event_text(const http::server_event& what) {
  std::string text;
  http::append_event(text, what);
  return text;
}

// The algorithm of the HTML standard, §9.2.6, for the data of all events.
std::vector<std::string> data_of_events(std::string_view stream) {
  std::vector<std::string> events;
  std::string data;
  while (!stream.empty()) {
    const std::size_t end = stream.find('\n');
    if (end == std::string_view::npos) break;
    std::string_view line = stream.substr(0, end);
    stream.remove_prefix(end + 1);
    if (line.empty()) {
      if (!data.empty()) {
        data.pop_back();
        events.push_back(data);
        data.clear();
      }
    } else if (line.starts_with("data:")) {
      line.remove_prefix(5);
      if (line.starts_with(' ')) line.remove_prefix(1);
      data.append(line).append("\n");
    }
  }
  return events;
}

// A connection whose bytes are visible as soon as they arrive.
struct watched {
  explicit watched(http::handler routes) : server(options_with(std::move(routes))) {}
  static http::server_options options_with(http::handler routes) {
    http::server_options options;
    options.listen.clear();
    options.routes = std::move(routes);
    return options;
  }
  task<> run() {
    const std::string_view request = "GET / HTTP/1.0\r\nHost: a\r\n\r\n";
    (void)co_await pair.first.write_all(std::as_bytes(std::span(request)));
    std::array<std::byte, 4096> buffer;
    while (const std::size_t n = co_await pair.first.read_some(buffer))
      received.append(reinterpret_cast<const char*>(buffer.data()), n);
  }
  void start() {
    gyre::spawn(server.serve_connection(gyre::any_stream(std::move(pair.second)))).detach();  // which keeps the stream
    reading.emplace(gyre::spawn(run()));
  }
  [[nodiscard]] std::string body() const {
    const std::size_t end = received.find("\r\n\r\n");
    return end == std::string::npos ? "no head" : received.substr(end + 4);
  }

  http::server server;
  gyre::memory_pair pair;
  std::string received;
  std::optional<gyre::task_handle<void>> reading;
};

}  // namespace

TEST(append_event, each_part_has_its_line) {
  EXPECT_EQ(event_text({.data = "hello"}), "data: hello\n\n");
  EXPECT_EQ(event_text({.event = "tick", .data = "1", .id = "7", .retry = 2500ms}),
            "event: tick\nid: 7\nretry: 2500\ndata: 1\n\n");
  EXPECT_EQ(event_text({.data = ""}), "data: \n\n");
  EXPECT_EQ(event_text({.id = ""}), "id: \n\n");
  EXPECT_EQ(event_text({.retry = 0ms}), "retry: 0\n\n");
}

TEST(append_event, lines_of_the_data_become_lines) {
  EXPECT_EQ(event_text({.data = "a\nb\rc\r\nd"}), "data: a\ndata: b\ndata: c\ndata: d\n\n");
  EXPECT_EQ(event_text({.data = "a\n"}), "data: a\ndata: \n\n");
  EXPECT_EQ(event_text({.data = "\r\r\n\n"}), "data: \ndata: \ndata: \ndata: \n\n");
  EXPECT_EQ(event_text({.data = " id: 1\nevent: x"}), "data:  id: 1\ndata: event: x\n\n");
}

TEST(append_event, nothing_in_the_data_makes_another_event) {
  std::mt19937 random(5);
  constexpr const char* pieces[] = {"\n", "\r", "\r\n", "data: x", "id: 1", ":", " ", "a", "event: y"};
  for (int i = 0; i < 20'000; ++i) {
    std::string data;
    for (unsigned n = static_cast<unsigned>(random()) % 7; n > 0; --n) data += pieces[random() % std::size(pieces)];
    const auto events = data_of_events(event_text({.data = data}));
    ASSERT_EQ(events.size(), 1u) << testing::PrintToString(data);
    std::string expected;
    for (std::size_t at = 0; at < data.size(); ++at) {
      if (data[at] == '\r' && at + 1 < data.size() && data[at + 1] == '\n') continue;
      expected += data[at] == '\r' ? '\n' : data[at];
    }
    ASSERT_EQ(events.front(), expected);
  }
}

TEST(append_event, a_line_end_in_a_name_is_refused) {
  std::string out = "before";
  const std::string nul("a\0b", 3);
  for (const http::server_event& bad : {http::server_event{.event = "a\nb"},
                                        {.event = "a\r"},
                                        {.id = "1\n"},
                                        {.id = nul},
                                        {.data = "x", .retry = -1ms}}) {
    EXPECT_THROW(http::append_event(out, bad), std::invalid_argument);
    EXPECT_EQ(out, "before");
  }
}

TEST(event_stream, has_the_fields_of_one) {
  run_virtual([]() -> task<> {
    const auto count = [](http::event_writer& events) -> task<> {
      for (int i = 0; i < 3; ++i) {
        const std::string number = std::to_string(i);
        co_await events.send({.data = number});
      }
      co_await events.comment("that was\nall");
    };
    http::handler routes = [count](http::request&) { return http::event_stream(count); };
    http_test_client app(std::move(routes));
    const auto answer = co_await app.get("/");
    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(answer.field("Content-Type"), "text/event-stream");
    EXPECT_EQ(answer.field("Cache-Control"), "no-store");
    EXPECT_EQ(answer.body, "data: 0\n\ndata: 1\n\ndata: 2\n\n: that was\n: all\n\n");
  });
}

TEST(event_stream, an_event_arrives_when_it_is_sent) {
  run_virtual([]() -> task<> {
    const auto tick = [](http::event_writer& events) -> task<> {
      co_await gyre::sleep(1s);
      co_await events.send({.data = "one"});
      co_await gyre::sleep(1s);
    };
    watched connection([tick](http::request&) { return http::event_stream(tick); });
    connection.start();
    co_await gyre::sleep(500ms);
    EXPECT_EQ(connection.body(), "") << "the head has come";
    co_await gyre::sleep(1s);
    EXPECT_EQ(connection.body(), "data: one\n\n");
    co_await connection.reading->wait();
  });
}

TEST(event_stream, silence_is_broken_by_comments) {
  run_virtual([]() -> task<> {
    const auto tick = [](http::event_writer& events) -> task<> {
      co_await gyre::sleep(25s);
      co_await events.send({.data = "one"});
      co_await gyre::sleep(4s);
      co_await events.send({.data = "two"});
      co_await gyre::sleep(21s);
    };
    watched connection([tick](http::request&) { return http::event_stream(tick, {.keep_alive = 10s}); });
    connection.start();
    co_await connection.reading->wait();
    EXPECT_EQ(connection.body(), ": \n\n: \n\ndata: one\n\ndata: two\n\n: \n\n");
  });
}

TEST(event_stream, several_tasks_may_send) {
  run_virtual([]() -> task<> {
    const auto send_many = [](http::event_writer& events) -> task<> {
      const auto one = [&events](char letter) -> task<> {
        const std::string data(20'000, letter);
        for (int i = 0; i < 5; ++i) co_await events.send({.data = data});
      };
      co_await gyre::gather(one('a'), one('b'), one('c'));
    };
    http::handler routes = [send_many](http::request&) { return http::event_stream(send_many); };
    http_test_client app(std::move(routes));
    const auto answer = co_await app.get("/");
    const auto events = data_of_events(answer.body);
    EXPECT_EQ(events.size(), 15u);
    for (const std::string& each : events) EXPECT_EQ(each, std::string(20'000, each.front()));
  });
}

TEST(event_stream, an_exception_cuts_it_off) {
  run_virtual([]() -> task<> {
    const auto silent = [](const gyre::background_failure&, void*) noexcept {};
    gyre::event_loop::current().set_exception_handler(silent, nullptr);
    const auto fail = [](http::event_writer& events) -> task<> {
      co_await events.send({.data = "one"});
      co_await events.send({.event = "a\nb"});
    };
    http::handler routes = [fail](http::request&) { return http::event_stream(fail); };
    http_test_client app(std::move(routes));
    const std::string bytes = co_await app.exchange_bytes("GET / HTTP/1.1\r\nHost: a\r\n\r\n", false);
    EXPECT_NE(bytes.find("data: one"), std::string::npos);
    EXPECT_EQ(bytes.find("\r\n0\r\n"), std::string::npos);
  });
}

TEST(event_stream, ends_when_the_client_has_left) {
  run_virtual([]() -> task<> {
    bool ended = false;
    const auto wait = [&ended](http::event_writer&) -> task<> {
      try {
        co_await gyre::sleep(24h);
      } catch (const gyre::cancelled&) {
        ended = true;
        throw;
      }
    };
    gyre_test::memory_server server(
        gyre_test::options_for([wait](http::request&) { return http::event_stream(wait); }));
    {
      auto client = server.connect();
      co_await client.send(gyre_test::hello_request);
      EXPECT_TRUE(co_await client.receive());
    }
    const auto begin = gyre::now();
    while (!ended && gyre_test::since(begin) < 1min) co_await gyre::sleep(100ms);
    EXPECT_TRUE(ended);
  });
}

TEST(event_stream, can_be_compressed) {
  run_virtual([]() -> task<> {
    const auto tick = [](http::event_writer& events) -> task<> {
      for (int i = 0; i < 3; ++i) {
        co_await events.send({.data = "the same again"});
        co_await gyre::sleep(20s);
      }
    };
    http::router routes;
    routes.use(http::compress());
    routes.get("/", [tick](http::request&) { return http::event_stream(tick); });
    http_test_client app(std::move(routes));
    for (const std::string_view coding : http::available_codings()) {
      std::vector<std::pair<std::string, std::string>> fields = {{"Accept-Encoding", std::string(coding)}};
      const auto answer = co_await app.request("GET", "/", std::move(fields), "");
      EXPECT_EQ(answer.field("Content-Encoding"), coding);
      EXPECT_EQ(data_of_events(gyre_test::decode(coding, answer.body).text).size(), 3u) << coding;
    }
  });
}

TEST(last_event_id, is_what_the_page_says) {
  run_virtual([]() -> task<> {
    http::handler routes = [](http::request& r) { return http::response::text(http::last_event_id(r)); };
    http_test_client app(std::move(routes));
    std::vector<std::pair<std::string, std::string>> fields = {{"Last-Event-ID", "42"}};
    EXPECT_EQ((co_await app.request("GET", "/", std::move(fields), "")).body, "42");
    EXPECT_EQ((co_await app.get("/")).body, "");
  });
}
