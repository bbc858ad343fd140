// tests/http/response_trailer_test.cpp: fields that follow the body of a response.
#include <gyre/http/body_writer.hpp>
#include <gyre/http/compress.hpp>
#include <gyre/http/response.hpp>

#include "tests/http/http_client.hpp"

#include <optional>
#include <stdexcept>

using namespace gyre_test;
using http::response;

namespace {

gyre::task<> with_checksum(http::body_writer& out) {
  co_await out.write("body");
  out.add_trailer("Checksum", "7");
  out.add_trailer("X-Rows", "2");
}

std::string response_bytes(http::handler routes, std::string request) {
  std::string result;
  run_virtual([&]() -> gyre::task<> {
    http_test_client app(std::move(routes));
    result = co_await app.exchange_bytes(request, false);
  });
  return result;
}

http::handler sends(std::optional<std::uint64_t> length = {}) {
  return [length](http::request&) {
    response made = response::stream(with_checksum, "text/plain");
    if (length) made.set_length(*length);
    return made;
  };
}

}  // namespace

TEST(response_trailer, follows_the_last_chunk) {
  const auto bytes = response_bytes(sends(), hello_request);
  EXPECT_TRUE(bytes.ends_with("\r\n\r\n4\r\nbody\r\n0\r\nChecksum: 7\r\nX-Rows: 2\r\n\r\n")) << bytes;
}

TEST(response_trailer, is_dropped_where_the_body_is_not_sent_in_chunks) {
  EXPECT_TRUE(response_bytes(sends(), "GET / HTTP/1.0\r\n\r\n").ends_with("\r\n\r\nbody"));
  EXPECT_TRUE(response_bytes(sends(4), hello_request).ends_with("\r\n\r\nbody"));
}

TEST(response_trailer, follows_a_compressed_body) {
  http::router routes;
  routes.use(http::compress({.min_size = 1}));
  routes.get("/", sends());
  const auto bytes = response_bytes(std::move(routes), "GET / HTTP/1.1\r\nHost: a\r\nAccept-Encoding: gzip\r\n\r\n");
  EXPECT_NE(bytes.find("Content-Encoding: gzip\r\n"), std::string::npos) << bytes;
  EXPECT_TRUE(bytes.ends_with("\r\n0\r\nChecksum: 7\r\nX-Rows: 2\r\n\r\n")) << bytes;
}

TEST(response_trailer, a_field_that_a_client_needs_before_the_body_is_refused) {
  const auto bytes = response_bytes(
      [](http::request&) {
        return response::stream([](http::body_writer& out) -> gyre::task<> {
          for (const std::string_view name :
               {"content-length", "Transfer-Encoding", "Set-Cookie", "Connection", "If-X", "Trailer", "a b", ""})
            EXPECT_THROW(out.add_trailer(name, "1"), std::invalid_argument) << name;
          EXPECT_THROW(out.add_trailer("A", "1\r\nB: 2"), std::invalid_argument);
          out.add_trailer("A", "");
          co_return;
        });
      },
      hello_request);
  EXPECT_TRUE(bytes.ends_with("\r\n\r\n0\r\nA: \r\n\r\n")) << bytes;
}
