// tests/http/cut_off_response_test.cpp: a truncated response ends with a reset, so that no client takes it for a
// complete one.
#include <gyre/http/server.hpp>

#include "tests/http/socket_server.hpp"

#include <stdexcept>

using namespace gyre_test;
using http::response;

namespace {

/// In HTTP/1.0, the end of the connection is the end of the body.
const std::string until_end_request = "GET / HTTP/1.0\r\n\r\n";

/// A body that never ends.
struct endless {
  gyre::event began;

  http::handler routes() {
    return [this](http::request&) {
      auto produce = [this](http::body_writer& out) -> gyre::task<> {
        co_await out.write("the first half");
        began.set();
        co_await forever();
      };
      return response::stream(produce);
    };
  }
};

response breaks_off(http::request&) {
  auto produce = [](http::body_writer& out) -> gyre::task<> {
    co_await out.write("the first half");
    co_await out.flush();
    throw std::runtime_error("the disk is gone");
  };
  return response::stream(produce);
}

/// A server that is given one connection, which its caller has accepted.
class given_tcp_connection {
 public:
  explicit given_tcp_connection(http::server_options options)
      : server_(without_port(std::move(options))), serving(gyre::spawn(serve_one())) {}

  gyre::task<tcp_client> connect() {
    auto stream = co_await gyre::tcp_stream::connect(listener_.local_address());
    co_return tcp_client(std::move(stream));
  }

 private:
  gyre::task<> serve_one() {
    auto peer = co_await listener_.accept();
    co_await serve_given(server_, gyre::any_stream(std::move(peer)));
  }

  gyre::tcp_listener listener_ = gyre::tcp_listener::bind("127.0.0.1:0");
  http::server server_;

 public:
  gyre::task_handle<void> serving;
};

/// Expects that the response has begun and that the connection has then been reset.
template <class Client>
void expect_reset_behind(const std::string& received, const Client& client) {
  EXPECT_TRUE(client.was_reset());
  EXPECT_NE(received.find("200 OK"), std::string::npos) << received;
}

}  // namespace

TEST(cut_off_response, a_failing_body_ends_with_a_reset_on_a_given_connection) {
  run_real([]() -> gyre::task<> {
    const reports heard;
    given_tcp_connection here(options_for(breaks_off));
    auto client = co_await here.connect();
    co_await client.send(until_end_request);
    const auto received = co_await client.rest();
    expect_reset_behind(received, client);
    EXPECT_TRUE(received.ends_with("the first half")) << received;
    EXPECT_EQ(heard.texts.size(), 1U);
    co_await here.serving;
  });
}

TEST(cut_off_response, a_failing_body_ends_with_a_reset_in_memory) {
  run_virtual([]() -> gyre::task<> {
    const reports heard;
    given_connection here(options_for(breaks_off));
    co_await here.client.send(until_end_request);
    const auto received = co_await here.client.rest();
    expect_reset_behind(received, here.client);
    EXPECT_TRUE(received.ends_with("the first half")) << received;
    co_await here.serving;
  });
}

TEST(cut_off_response, a_whole_response_ends_without_a_reset_in_memory) {
  run_virtual([]() -> gyre::task<> {
    given_connection here(options_for(says("whole")));
    co_await here.client.send(until_end_request);
    const auto received = co_await here.client.rest();
    EXPECT_TRUE(received.ends_with("whole")) << received;
    EXPECT_FALSE(here.client.was_reset());
  });
}

TEST(cut_off_response, to_a_peer_that_never_reads_ends_with_a_reset_on_a_given_connection) {
  const std::string much(16U << 20U, 'x');
  http::server_options options = options_for([&](http::request&) { return response::text(std::string_view(much)); });
  options.timeouts.write = 200ms;
  run_real([&]() -> gyre::task<> {
    given_tcp_connection here(std::move(options));
    auto client = co_await here.connect();
    co_await client.send(until_end_request);
    co_await here.serving;
    const auto received = co_await client.rest();
    expect_reset_behind(received.substr(0, 200), client);
    EXPECT_LT(received.size(), much.size());
  });
}

TEST(cut_off_response, on_a_given_connection_ends_with_a_reset_when_its_task_is_cancelled) {
  endless app;
  run_real([&]() -> gyre::task<> {
    given_tcp_connection here(options_for(app.routes()));
    auto client = co_await here.connect();
    co_await client.send(until_end_request);
    co_await app.began.wait();
    (void)co_await client.receive();
    here.serving.cancel();
    co_await here.serving.wait();
    const auto received = co_await client.rest();
    expect_reset_behind(received, client);
  });
}

TEST(cut_off_response, ends_with_a_reset_when_the_drain_is_over) {
  endless app;
  http::server_options options = options_for(app.routes());
  options.timeouts.drain = 100ms;
  run_on_sockets(std::move(options), [&](socket_server& here) -> gyre::task<> {
    auto client = co_await here.connect();
    co_await client.send(until_end_request);
    co_await app.began.wait();
    here.tell_to_stop();
    co_await here.stopped();
    const auto received = co_await client.rest();
    expect_reset_behind(received, client);
  });
}

TEST(cut_off_response, a_write_under_way_ends_with_a_reset_when_the_drain_is_over) {
  const std::string much(16U << 20U, 'x');
  http::server_options options = options_for([&](http::request&) { return response::text(std::string_view(much)); });
  options.timeouts.drain = 100ms;
  run_on_sockets(std::move(options), [&](socket_server& here) -> gyre::task<> {
    auto client = co_await here.connect();
    co_await client.send(until_end_request);
    (void)co_await client.receive();
    here.tell_to_stop();
    co_await here.stopped();
    const auto received = co_await client.rest();
    EXPECT_TRUE(client.was_reset());
    EXPECT_LT(received.size(), much.size());
  });
}

TEST(cut_off_response, is_none_when_the_request_behind_it_is_cancelled) {
  gyre::event began;
  http::server_options options = options_for([&](http::request& r) -> gyre::task<response> {
    if (r.path() == "/") co_return response::text("whole");
    began.set();
    co_await forever();
    co_return response::text("never");
  });
  options.timeouts.drain = 100ms;
  run_on_sockets(std::move(options), [&](socket_server& here) -> gyre::task<> {
    auto client = co_await here.connect();
    co_await client.send(hello_request + "GET /slow HTTP/1.1\r\nHost: a\r\n\r\n");
    co_await began.wait();
    here.tell_to_stop();
    co_await here.stopped();
    const auto received = co_await client.rest();
    EXPECT_FALSE(client.was_reset());
    EXPECT_TRUE(received.ends_with("whole")) << received;
  });
}
