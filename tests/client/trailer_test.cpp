// tests/client/trailer_test.cpp: fields that follow the body of a request.
#include "tests/client/scripted_server.hpp"

#include <vector>

using namespace gyre_test;

namespace {

/// One piece, and then these fields.
class body_with_trailers final : public http::request_body_source {
 public:
  explicit body_with_trailers(std::vector<http::field> trailers) : trailers_(std::move(trailers)) {}
  gyre::task<std::string_view> next() override {
    co_await gyre::yield();
    co_return std::exchange(piece_, {});
  }
  std::vector<http::field> trailers() override { return piece_.empty() ? trailers_ : std::vector<http::field>(); }

 private:
  std::string_view piece_ = "body";
  std::vector<http::field> trailers_;
};

http::request_body_owner body_with(std::vector<http::field> trailers) {
  return http::request_body_owner(new body_with_trailers(std::move(trailers)));
}

}  // namespace

TEST(client_trailer, the_trailers_of_a_source_follow_the_last_chunk) {
  with_client(echo_until("B: 2\r\n\r\n"), [](http::client& client, scripted_server& server) -> gyre::task<> {
    auto request = client.request("POST", server.url());
    request.header("Trailer", "Checksum").body(body_with({{"Checksum", "7"}, {"B", "2"}}));
    auto response = co_await request.send();
    const std::string sent = co_await response.read_all();
    EXPECT_NE(sent.find("\r\nTrailer: Checksum\r\n"), std::string::npos) << sent;
    EXPECT_EQ(sent.substr(sent.find("\r\n\r\n")), "\r\n\r\n4\r\nbody\r\n0\r\nChecksum: 7\r\nB: 2\r\n\r\n");
    EXPECT_EQ(client.counts().idle, 1U);
  });
}

TEST(client_trailer, no_trailer_is_sent_after_a_body_of_known_length) {
  with_client(echo_until("body"), [](http::client& client, scripted_server& server) -> gyre::task<> {
    auto request = client.request("POST", server.url());
    request.body(body_with({{"Checksum", "7"}}), 4);
    auto response = co_await request.send();
    EXPECT_TRUE((co_await response.read_all()).ends_with("\r\n\r\nbody"));
  });
}

TEST(client_trailer, a_trailer_that_a_server_needs_before_the_body_is_an_error) {
  for (const std::string_view name : {"Content-Length", "Host", "If-Match", "a b"})
    with_client(echo_until("never"), [&](http::client& client, scripted_server& server) -> gyre::task<> {
      auto request = client.request("POST", server.url());
      request.body(body_with({{name, "7"}}));
      EXPECT_NE((co_await error_of(request.send())).find("\"" + std::string(name) + "\": "), std::string::npos);
      EXPECT_EQ(client.counts().in_use + client.counts().idle, 0U);
    });
}

TEST(client_trailer, trailers_of_the_response_can_be_asked_for) {
  with_client(echo_until("\r\n\r\n"), [](http::client& client, scripted_server& server) -> gyre::task<> {
    auto request = client.request("GET", server.url());
    request.header("TE", "trailers").header("TE", "trailers");
    auto response = co_await request.send();
    const std::string sent = co_await response.read_all();
    EXPECT_EQ(sent.find("\r\nTE: trailers\r\n"), sent.rfind("\r\nTE: trailers\r\n")) << sent;
    EXPECT_NE(sent.find("\r\nConnection: TE\r\n"), std::string::npos) << sent;
    auto other = client.request("GET", server.url());
    EXPECT_THROW(other.header("TE", "gzip"), std::invalid_argument);
  });
}
