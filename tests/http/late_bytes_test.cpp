// tests/http/late_bytes_test.cpp: time limits hold even when bytes arrive in every turn of the loop.
#include <gyre/http/server.hpp>

#include "tests/http/http_client.hpp"

using namespace gyre_test;
using http::response;

namespace {

/// Sends `begin`, then a byte per turn without letting the virtual clock advance. The limit has passed from the start.
template <class Server>
gyre::task<int> status_of_drip(Server& server, std::string begin) {
  auto client = server.connect();
  co_await client.send(std::move(begin));
  auto drip = [&]() -> gyre::task<> {
    for (int i = 0; i < 5'000; ++i) {
      co_await client.send("x");
      co_await gyre::yield();
    }
  };
  auto dripping = gyre::spawn(drip);
  const auto answer = co_await client.answer();
  dripping.cancel();
  co_await dripping.wait();
  co_return answer.status;
}

}  // namespace

TEST(late_bytes, a_body_that_comes_byte_by_byte_in_every_turn_is_answered_with_408) {
  run_virtual([]() -> gyre::task<> {
    http::server_options options = options_for(echo_body);
    options.timeouts.body = 0ns;
    memory_server server(std::move(options));
    const int status = co_await status_of_drip(server, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3000\r\n\r\n");
    EXPECT_EQ(status, 408);
  });
}

TEST(late_bytes, a_head_that_comes_byte_by_byte_in_every_turn_is_answered_with_408) {
  run_virtual([]() -> gyre::task<> {
    http::server_options options = options_for(echo_body);
    options.timeouts.head = 0ns;
    options.limits.head = {.size = 4'000};
    memory_server server(std::move(options));
    const int status = co_await status_of_drip(server, "GET / HTTP/1.1\r\nHost: a\r\nX: ");
    EXPECT_EQ(status, 408);
  });
}
