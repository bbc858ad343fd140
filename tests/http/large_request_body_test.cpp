// tests/http/large_request_body_test.cpp: request bodies that are larger than the common receive buffers.
#include <gyre/http/body_reader.hpp>

#include "tests/http/over_tls.hpp"
#include "tests/http/socket_server.hpp"

#include <algorithm>
#include <string>

using namespace gyre_test;
using http::response;

namespace {

constexpr std::size_t sent_size = 4'000'000;
std::size_t largest_piece = 0;

gyre::task<response> measure(http::request& r) {
  std::size_t total = 0;
  largest_piece = 0;
  for (;;) {
    const std::string_view piece = co_await r.body().receive();
    if (piece.empty()) break;
    total += piece.size();
    largest_piece = std::max(largest_piece, piece.size());
  }
  co_return response::text(std::to_string(total));
}

http::server_options options_for_large_bodies() {
  http::server_options options = options_for(measure);
  options.limits.body = 2 * sent_size;
  return options;
}

}  // namespace

TEST(large_request_body, arrives_in_pieces_that_are_larger_than_the_common_buffers) {
  if (over_tls()) GTEST_SKIP() << "a piece of TLS has 16 KiB";
  run_on_sockets(options_for_large_bodies(), [](socket_server& here) -> gyre::task<> {
    auto client = co_await here.connect();
    const http_answer answer =
        co_await client.ask("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: " + std::to_string(sent_size) + "\r\n\r\n" +
                            std::string(sent_size, 'x'));
    EXPECT_EQ(answer.body, std::to_string(sent_size));
    EXPECT_GT(largest_piece, 16'384U);
  });
}
