// tests/http/other_loop_threads_test.cpp: servers and bodies that the loops of several threads use.
#include <gyre/http/access_log.hpp>
#include <gyre/http/body_reader.hpp>
#include <gyre/http/body_writer.hpp>
#include <gyre/http/server.hpp>

#include "tests/http/http_client.hpp"
#include "tests/support/two_loops.hpp"

#include <unistd.h>

#include <string>
#include <thread>
#include <utility>

using namespace gyre_test;
using http::response;

namespace {

/// Runs `body` on the loop of another thread, and waits for its end without a turn of this loop.
template <class Body>
void elsewhere_run(Body body) {
  std::thread([&] { gyre::run([&]() -> gyre::task<> { co_await body(); }); }).join();
}

/// A server without a listener that serves a connection.
template <class While>
void while_a_server_serves(While act) {
  run_virtual([&]() -> gyre::task<> {
    http::server_options options = options_for([](http::request&) { return response::text("x"); });
    options.listen = "";
    http::server server(std::move(options));
    gyre::memory_pair pair;
    auto serving = gyre::spawn(server.serve_connection(gyre::any_stream(std::move(pair.second))));
    co_await gyre::yield();
    act(server);
    serving.cancel();
    co_await serving.wait();
  });
}

void answer(http::handler handler, const std::string& request) {
  run_virtual([&]() -> gyre::task<> {
    http_test_client app(options_for(std::move(handler)));
    (void)co_await app.exchange_bytes(request);
  });
}

}  // namespace

TEST(other_loop_http_death, a_server_that_serves_on_two_loops) {
  const auto serve_elsewhere = [](http::server& server) {
    elsewhere_run([&]() -> gyre::task<> {
      gyre::memory_pair pair;
      co_await server.serve_connection(gyre::any_stream(std::move(pair.second)));
    });
  };
  EXPECT_DEATH(while_a_server_serves(serve_elsewhere), elsewhere("serve_connection", "an http::server"));
}

TEST(other_loop_http_death, a_server_whose_connections_another_thread_counts) {
  if (!gyre::checks_everything) GTEST_SKIP() << "a check of debug builds";
  const auto count = [](http::server& server) { std::thread([&] { (void)server.connections(); }).join(); };
  EXPECT_DEATH(while_a_server_serves(count), elsewhere("connections", "an http::server"));
  const auto look = [](http::server& server) { std::thread([&] { (void)server.draining(); }).join(); };
  EXPECT_DEATH(while_a_server_serves(look), elsewhere("draining", "an http::server"));
}

TEST(other_loop_http_death, a_body_of_a_request) {
  if (!gyre::checks_everything) GTEST_SKIP() << "a check of debug builds";
  const auto read_elsewhere = [](http::request& request) -> gyre::task<response> {
    std::array<std::byte, 1> one;
    (void)co_await request.body().read_some(one);
    elsewhere_run([&]() -> gyre::task<> { (void)co_await request.body().receive(); });
    co_return response::text("x");
  };
  EXPECT_DEATH(answer(read_elsewhere, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nabcd"),
               elsewhere("receive", "the body of a request"));
}

TEST(other_loop_http_death, a_writer_of_a_response) {
  if (!gyre::checks_everything) GTEST_SKIP() << "a check of debug builds";
  const auto write_elsewhere = [](http::request&) {
    return response::stream([](http::body_writer& body) -> gyre::task<> {
      co_await body.write("here");
      elsewhere_run([&]() -> gyre::task<> { co_await body.write("there"); });
    });
  };
  EXPECT_DEATH(answer(write_elsewhere, "GET / HTTP/1.1\r\nHost: a\r\n\r\n"), elsewhere("write", "a body_writer"));
}

// ---- the first use is on the other loop: a request belongs to the loop of its connection from the beginning

TEST(other_loop_http_death, a_request_whose_hints_another_loop_sends) {
  if (!gyre::checks_everything) GTEST_SKIP() << "a check of debug builds";
  const auto hint_elsewhere = [](http::request& request) -> gyre::task<response> {
    elsewhere_run([&]() -> gyre::task<> { (void)co_await request.send_interim(103, {}); });
    co_return response::text("x");
  };
  EXPECT_DEATH(answer(hint_elsewhere, "GET / HTTP/1.1\r\nHost: a\r\n\r\n"), elsewhere("send_interim", "a request"));
}

TEST(other_loop_http_death, a_request_that_another_loop_changes) {
  if (!gyre::checks_everything) GTEST_SKIP() << "a check of debug builds";
  const auto parse_elsewhere = [](http::request& request) {
    std::thread([&] { (void)request.query_parameters(); }).join();
    return response::text("x");
  };
  EXPECT_DEATH(answer(parse_elsewhere, "GET /?a=b HTTP/1.1\r\nHost: a\r\n\r\n"),
               elsewhere("query_parameters", "a request"));
  const auto set_elsewhere = [](http::request& request) {
    std::thread([&] { request.set_attribute("user", "ann"); }).join();
    return response::text("x");
  };
  EXPECT_DEATH(answer(set_elsewhere, "GET / HTTP/1.1\r\nHost: a\r\n\r\n"), elsewhere("set_attribute", "a request"));
}

TEST(other_loop_http_death, a_body_that_only_another_loop_reads_or_writes) {
  if (!gyre::checks_everything) GTEST_SKIP() << "a check of debug builds";
  const auto read_elsewhere = [](http::request& request) -> gyre::task<response> {
    elsewhere_run([&]() -> gyre::task<> { (void)co_await request.json_text(); });
    co_return response::text("x");
  };
  EXPECT_DEATH(answer(read_elsewhere,
                      "POST / HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 1\r\n\r\n1"),
               elsewhere("receive", "the body of a request"));
  const auto write_elsewhere = [](http::request&) {
    return response::stream([](http::body_writer& body) -> gyre::task<> {
      elsewhere_run([&]() -> gyre::task<> { co_await body.write("there"); });
      co_return;
    });
  };
  EXPECT_DEATH(answer(write_elsewhere, "GET / HTTP/1.1\r\nHost: a\r\n\r\n"), elsewhere("write", "a body_writer"));
  const auto end_elsewhere = [](http::request&) {
    return response::stream([](http::body_writer& body) -> gyre::task<> {
      std::thread([&] { body.add_trailer("X-Sum", "1"); }).join();
      co_return;
    });
  };
  EXPECT_DEATH(answer(end_elsewhere, "GET / HTTP/1.1\r\nHost: a\r\n\r\n"), elsewhere("add_trailer", "a body_writer"));
}

TEST(other_loop_http, a_thread_may_look_at_a_request_while_its_handler_waits) {
  std::string seen;
  const auto look = [&](http::request& request) -> gyre::task<response> {
    auto read = [&] { seen = std::string(request.path()) + std::string(request.field("Host")); };
    co_await gyre::to_thread(read);
    co_return response::text("x");
  };
  answer(look, "GET /path HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_EQ(seen, "/patha");
}

TEST(other_loop_http_death, an_access_log_of_servers_on_two_loops) {
  const auto log_on_two_loops = [] {
    http::access_log log(STDERR_FILENO);
    auto serve = [&]() -> gyre::task<> {
      http::server_options options = options_for([](http::request&) { return response::text("x"); });
      options.observer = &log;
      http_test_client app(std::move(options));
      (void)co_await app.exchange_bytes("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    };
    auto twice = [&]() -> gyre::task<> {
      co_await serve();
      elsewhere_run(serve);
    };
    gyre::run(twice);
  };
  EXPECT_DEATH(log_on_two_loops(), "with several loops, give each its own by loop_local");
}
