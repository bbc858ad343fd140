// tests/http/coalesced_response_test.cpp: in how many sends a body leaves that is made piece by piece.
#include <gyre/http/body_writer.hpp>
#include <gyre/http/compress.hpp>
#include <gyre/http/server_sent_events.hpp>

#include "decoding.hpp"
#include "tests/http/socket_server.hpp"

#include <linux/tcp.h>
#include <netinet/in.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using namespace gyre_test;
using http::response;

namespace {

constexpr int pieces = 1000;
const std::string piece = "ten bytes\n";

gyre::async_generator<std::string_view> yield_many() {
  for (int i = 0; i < pieces; ++i) co_yield std::string_view(piece);
}
gyre::task<> write_many(http::body_writer& out) {
  for (int i = 0; i < pieces; ++i) co_await out.write(piece);
}
gyre::task<> append_many(http::body_writer& out) {
  for (int i = 0; i < pieces; ++i) out.append(piece);
  co_return;
}

http::handler repeating_routes() {
  http::router routes;
  routes.get("/generator", [](http::request&) { return response::stream(yield_many(), "text/plain"); });
  routes.get("/writer", [](http::request&) { return response::stream(write_many, "text/plain"); });
  routes.get("/appends", [](http::request&) { return response::stream(append_many, "text/plain"); });
  return routes;
}

struct send_log {
  std::vector<std::size_t> sizes;
  std::size_t failing_from = ~std::size_t{0};  // sends from this one on fail
};

/// Records what the server sends.
struct recorded_stream {
  gyre::memory_stream inner;
  std::shared_ptr<send_log> log;

  gyre::task<std::size_t> read_some(std::span<std::byte> buffer) { co_return co_await inner.read_some(buffer); }
  gyre::task<> write_all(std::span<const std::byte> bytes) {
    log->sizes.push_back(bytes.size());
    if (log->sizes.size() > log->failing_from)
      throw gyre::io_error(std::make_error_code(std::errc::broken_pipe), "write", "the client");
    co_await inner.write_all(bytes);
  }
  gyre::task<> shutdown_write() { co_await inner.shutdown_write(); }
  void abort() noexcept { inner.abort(); }
};

/// A server with one connection that is not a socket.
struct recorded_server {
  explicit recorded_server(http::server_options options)
      : recorded_server(std::move(options), gyre::memory_pair(std::size_t{1} << 20U)) {}

  gyre::task<> stop() {
    serving.cancel();
    co_await serving.wait();
  }

  std::shared_ptr<send_log> log = std::make_shared<send_log>();
  http::server server;
  memory_client client;
  gyre::task_handle<void> serving;

 private:
  recorded_server(http::server_options options, gyre::memory_pair pair)
      : server(without_port(std::move(options))),
        client(std::move(pair.first)),
        serving(gyre::spawn(serve_given(server, gyre::any_stream(recorded_stream{std::move(pair.second), log})))) {}
};

unsigned segments_received(tcp_client& client) {
  tcp_info info{};
  socklen_t size = sizeof(info);
  EXPECT_EQ(::getsockopt(client.stream().native_descriptor(), IPPROTO_TCP, TCP_INFO, &info, &size), 0);
  return info.tcpi_data_segs_in;
}

std::string repeated_piece() {
  std::string all;
  for (int i = 0; i < pieces; ++i) all += piece;
  return all;
}

}  // namespace

TEST(coalesced_response, many_pieces_that_are_ready_leave_a_socket_in_few_sends) {
  run_on_sockets(options_for(repeating_routes()), [](socket_server& here) -> gyre::task<> {
    for (const std::string target : {"/generator", "/writer", "/appends"}) {
      auto client = co_await here.connect();
      const http_answer answer = co_await client.ask("GET " + target + " HTTP/1.1\r\nHost: a\r\n\r\n");
      EXPECT_EQ(answer.body, repeated_piece());
      EXPECT_LE(segments_received(client), 3U) << target;
    }
  });
}

TEST(coalesced_response, many_pieces_that_are_ready_leave_any_stream_in_few_sends) {
  run_virtual([]() -> gyre::task<> {
    for (const std::string target : {"/generator", "/writer", "/appends"}) {
      recorded_server here(options_for(repeating_routes()));
      const http_answer answer = co_await here.client.ask("GET " + target + " HTTP/1.1\r\nHost: a\r\n\r\n");
      EXPECT_EQ(answer.body, repeated_piece());
      EXPECT_LE(here.log->sizes.size(), 3U) << target;
      co_await here.stop();
    }
  });
}

TEST(coalesced_response, compressed_pieces_that_are_ready_leave_any_stream_in_few_sends) {
  for (const std::string_view coding : http::available_codings()) {
    run_virtual([coding]() -> gyre::task<> {
      http::router routes;
      routes.use(http::compress());
      routes.get("/", [](http::request&) { return response::stream(yield_many(), "text/plain"); });
      recorded_server here(options_for(std::move(routes)));
      const http_answer answer =
          co_await here.client.ask("GET / HTTP/1.1\r\nHost: a\r\nAccept-Encoding: " + std::string(coding) + "\r\n\r\n");
      EXPECT_EQ(decode(coding, answer.body).text, repeated_piece());
      EXPECT_LE(here.log->sizes.size(), 3U) << coding;
      co_await here.stop();
    });
  }
}

TEST(coalesced_response, a_piece_leaves_any_stream_when_its_producer_waits) {
  if (over_tls()) GTEST_SKIP() << "the handshake sends, too";
  run_virtual([]() -> gyre::task<> {
    gyre::event go_on;
    auto tick = [&]() -> gyre::async_generator<std::string> {
      for (;;) {
        co_yield "tick\n";
        co_yield "tock\n";
        co_await go_on.wait();
        go_on.clear();
      }
    };
    recorded_server here(options_for([&](http::request&) { return response::stream(tick()); }));
    co_await here.client.send(hello_request);
    const gyre::time_point began = gyre::now();
    for (std::size_t sends = 1; sends <= 5; ++sends) {
      co_await here.client.receive();
      EXPECT_TRUE(here.client.received().ends_with("tick\n\r\n5\r\ntock\n\r\n"));
      EXPECT_EQ(here.log->sizes.size(), sends);
      go_on.set();
    }
    EXPECT_EQ(gyre::now(), began);
    co_await here.stop();
  });
}

TEST(coalesced_response, a_producer_waits_for_a_stream_that_takes_nothing) {
  std::size_t written = 0;
  auto write_for_ever = [&](http::body_writer& out) -> gyre::task<> {
    for (;; written += piece.size()) co_await out.write(piece);
  };
  run_in_memory(options_for([&](http::request&) { return response::stream(write_for_ever); }),
                [&](memory_server& here) -> gyre::task<> {
                  auto client = here.connect(1000);
                  co_await client.send(hello_request);
                  co_await gyre::sleep(1s);
                  EXPECT_GT(written, 0U);
                  EXPECT_LT(written, std::size_t{64} << 10U);
                });
}

// The producer returns before the stream has taken anything.
TEST(coalesced_response, a_send_that_fails_behind_the_producer_ends_the_connection) {
  if (over_tls()) GTEST_SKIP() << "the handshake sends, too";
  run_virtual([]() -> gyre::task<> {
    int requests = 0;
    recorded_server here(options_for([&](http::request&) {
      ++requests;
      return response::stream(yield_many());
    }));
    here.log->failing_from = 0;
    co_await here.client.send(hello_request + hello_request);
    (void)co_await here.client.rest();
    EXPECT_TRUE(here.client.was_reset());
    co_await here.serving;
    EXPECT_EQ(here.log->sizes.size(), 1U) << "nothing follows a send that has failed";
  });
}

TEST(coalesced_response, a_send_that_fails_while_the_producer_waits_is_reported_by_its_next_write) {
  if (over_tls()) GTEST_SKIP() << "the handshake sends, too";
  run_virtual([]() -> gyre::task<> {
    bool failed = false;
    auto produce = [&](http::body_writer& out) -> gyre::task<> {
      co_await out.write(piece);
      co_await gyre::sleep(1s);
      try {
        co_await out.write(piece);
      } catch (const gyre::io_error&) {
        failed = true;
        throw;
      }
    };
    exchange_log heard;
    http::server_options options = options_for([&](http::request&) { return response::stream(produce); });
    options.observer = &heard;
    recorded_server here(std::move(options));
    here.log->failing_from = 0;
    co_await here.client.send(hello_request);
    co_await here.serving;
    EXPECT_TRUE(failed);
    CO_ASSERT_EQ(heard.complete.size(), 1U);
    EXPECT_FALSE(heard.complete[0]);
  });
}

TEST(coalesced_response, an_event_leaves_in_one_send_with_its_frame) {
  if (over_tls()) GTEST_SKIP() << "the handshake sends, too";
  run_virtual([]() -> gyre::task<> {
    auto tick = [](http::event_writer& events) -> gyre::task<> {
      for (int i = 0; i < 3; ++i) {
        co_await gyre::sleep(1s);
        co_await events.send({.data = "tick"});
      }
    };
    recorded_server here(options_for([tick](http::request&) { return http::event_stream(tick); }));
    const http_answer answer = co_await here.client.ask(hello_request);
    EXPECT_EQ(answer.body, "data: tick\n\ndata: tick\n\ndata: tick\n\n");
    EXPECT_EQ(here.log->sizes.size(), 5U) << "the head, three events, the end";
    co_await here.stop();
  });
}

namespace {

constexpr std::string_view ok_and_bad = "GET /ok HTTP/1.1\r\nHost: a\r\n\r\nGET /bad HTTP/1.1\r\nHost: a\r\n\r\n";

http::router with_a_producer_that_fails_at_once(std::size_t size) {
  http::router routes;
  routes.get("/ok", [size](http::request&) { return response::text(std::string(size, 'h')); });
  routes.get("/bad", [](http::request&) {
    const auto fail = [](http::body_writer&) -> gyre::task<> {
      throw std::runtime_error("a test");
      co_return;
    };
    return response::stream(fail, "text/plain");
  });
  return routes;
}

}  // namespace

TEST(coalesced_response, the_answer_before_a_producer_that_fails_at_once_reaches_the_client_of_a_stream) {
  for (const std::size_t size : {5U, 20'000U}) {
    run_virtual([size]() -> gyre::task<> {
      recorded_server here(options_for(with_a_producer_that_fails_at_once(size)));
      co_await here.client.send(std::string(ok_and_bad));
      const std::string all = co_await here.client.rest();
      EXPECT_NE(all.find(std::string(size, 'h')), std::string::npos);
      co_await here.serving.wait();
    });
  }
}

TEST(coalesced_response, the_answer_before_a_producer_that_fails_at_once_reaches_the_client_of_a_socket) {
  for (const std::size_t size : {5U, 20'000U}) {
    run_on_sockets(options_for(with_a_producer_that_fails_at_once(size)), [size](socket_server& here) -> gyre::task<> {
      auto client = co_await here.connect();
      const auto answer = co_await client.ask(std::string(ok_and_bad));
      EXPECT_EQ(answer.body, std::string(size, 'h'));
    });
  }
}
