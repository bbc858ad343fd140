// tests/tls/https_end_test.cpp: how connections of an HTTP server over TLS end.
#include "tests/support/seeds.hpp"
#include "tests/tls/cut_stream.hpp"
#include "tests/tls/https_server.hpp"

#include <array>
#include <cstdlib>

using namespace gyre_test;
using http::response;

TEST(https_server, a_request_and_the_goodbye_in_one_piece_are_both_noticed) {
  run_on_sockets(over_tls(says("hello")), [](socket_server& server) -> gyre::task<> {
    auto below = co_await connect_to(server);
    gyre::memory_pair pair;
    auto forward = [](auto& from, auto& to) -> gyre::task<> {
      std::array<std::byte, 20'000> buffer{};
      while (const std::size_t n = co_await from.read_some(std::span<std::byte>(buffer)))
        co_await to.write_all(std::span<const std::byte>(buffer).first(n));
    };
    auto back = gyre::spawn(forward(below, pair.second));
    auto there = gyre::spawn(forward(pair.second, below));
    const tls::client_config trusts(client_that_trusts());
    https_client client(co_await tls::connect(std::move(pair.first), "server.test", trusts));
    co_await client.send(hello_request);
    EXPECT_EQ((co_await client.answer()).body, "hello");
    there.cancel();
    co_await there.wait();
    co_await client.send(hello_request);
    co_await client.stream().shutdown_write();
    auto both = gyre::spawn(forward(pair.second, below));  // one read, and so one write
    EXPECT_EQ((co_await client.answer()).body, "hello");
    EXPECT_EQ(co_await client.rest(), "");
    EXPECT_FALSE(client.was_reset());
    both.cancel();
    co_await both.wait();
    co_await back.wait();
  });
}

TEST(https_server, an_idle_client_sees_an_end_in_order_when_the_server_stops) {
  http::server_options options = over_tls(says("hello"));
  options.timeouts.last_request = 10ms;
  run_on_sockets(std::move(options), [](socket_server& server) -> gyre::task<> {
    auto client = co_await connect_over_tls(server);
    auto stalled = co_await connect_to(server);
    co_await stalled.write_all(beginning_of_handshake);
    co_await client.send(hello_request);
    (void)co_await client.answer();
    server.tell_to_stop();
    EXPECT_EQ(co_await client.rest(), "");
    EXPECT_FALSE(client.was_reset());  // close_notify
    EXPECT_TRUE(co_await is_closed_without_an_answer(stalled));
    co_await server.stopped();
  });
}

TEST(https_server, a_client_that_leaves_cancels_its_handler) {
  gyre::event began;
  gyre::event cancelled;
  auto routes = [&](http::request&) -> gyre::task<response> {
    const gyre::scope_exit at_end([&] { cancelled.set(); });
    began.set();
    co_await forever();
    co_return response::text("never");
  };
  http::server_options options = over_tls(routes);
  options.timeouts.half_closed = 1ms;
  run_on_sockets(std::move(options), [&](socket_server& server) -> gyre::task<> {
    auto client = co_await connect_over_tls(server);
    co_await client.send(hello_request);
    co_await began.wait();
    client.stream() = tls::stream();
    co_await cancelled.wait();
  });
}

TEST(https_server, a_response_that_is_cut_off_is_no_end_in_order) {
  auto routes = [](http::request&) {
    return response::stream([](http::body_writer& body) -> gyre::task<> {
      co_await body.write("some");
      throw std::runtime_error("broken");
    });
  };
  run_on_sockets(over_tls(routes), [](socket_server& server) -> gyre::task<> {
    const reports expected;
    auto client = co_await connect_over_tls(server);
    co_await client.send("GET / HTTP/1.0\r\n\r\n");  // its end is the end of the connection
    (void)co_await client.rest();
    EXPECT_TRUE(client.was_reset());
  });
}
