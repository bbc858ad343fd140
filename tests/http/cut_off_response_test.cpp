// tests/http/cut_off_response_test.cpp: a response that is cut off ends with a reset, so that nobody takes it for a whole one.
#include <gyre/http/server.hpp>

#include "tests/http/served.hpp"

#include <stdexcept>

using namespace gyre_test;
using http::response;

namespace {

/// HTTP/1.0: the end of the connection is the end of the body.
const std::string until_end_request = "GET / HTTP/1.0\r\n\r\n";

/// The body that begins and never ends.
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

/// Everything has been sent, and then nothing comes any more.
void expect_reset_behind(const std::string& received, const tcp_client& client) {
  EXPECT_TRUE(client.was_reset());
  EXPECT_NE(received.find("200 OK"), std::string::npos) << received;
}

}  // namespace

TEST(cut_off_response, ends_with_a_reset_when_the_drain_is_over) {
  endless app;
  http::server_options options = options_for(app.routes());
  options.timeouts.drain = 4s;
  run_served(std::move(options), [&](served& here) -> gyre::task<> {
    auto client = co_await here.connect();
    co_await client.send(until_end_request);
    co_await app.began.wait();
    here.tell_to_stop();
    co_await here.stopped();
    const auto received = co_await client.rest();
    expect_reset_behind(received, client);
  });
}

TEST(cut_off_response, of_a_write_under_way_ends_with_a_reset_when_the_drain_is_over) {
  const std::string much(16U << 20U, 'x');
  http::server_options options = options_for([&](http::request&) { return response::text(std::string_view(much)); });
  options.timeouts.drain = 4s;
  run_served(std::move(options), [&](served& here) -> gyre::task<> {
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
  options.timeouts.drain = 4s;
  run_served(std::move(options), [&](served& here) -> gyre::task<> {
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
