// tests/client/decompression_test.cpp: compressed bodies, and those that expand too much.
#include <gyre/http/compress.hpp>

#include "tests/client/scripted_server.hpp"

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

using namespace gyre_test;

namespace {

/// A text that compresses, and never repeats whole.
std::string compressible_text(std::size_t size) {
  std::string text;
  for (std::size_t i = 0; text.size() < size; ++i) text += "line " + std::to_string(i * i) + "\n";
  text.resize(size);
  return text;
}

/// The text in this coding, as gyre's server sends it. Empty when it does not know the coding.
gyre::task<std::string> encode(std::string text, std::string coding) {
  http::server_options options;
  options.listen = "127.0.0.1:0";
  http::router routes;
  routes.use(http::compress());
  routes.get("/", [&text](http::request&) { return http::response::text(std::string_view(text)); });
  options.routes = std::move(routes);
  http::server server(std::move(options));
  auto serving = gyre::spawn(server.run());
  std::string body;
  {
    http::client client;
    auto request = client.request("GET", "http://" + server.where() + "/");
    auto response = co_await request.header("Accept-Encoding", coding).send();
    const bool known = response.field("Content-Encoding") == coding;
    std::string all = co_await response.read_all();
    if (known) body = std::move(all);
  }
  serving.cancel();
  co_await serving.wait();
  co_return body;
}

std::string encoded(const std::string& text, const std::string& coding) {
  std::string body;
  run_real([&]() -> gyre::task<> { body = co_await encode(text, coding); });
  return body;
}

/// Answers with these bytes in this coding.
peer_script answers_in(std::string coding, std::string body) {
  return answers_once("HTTP/1.1 200 OK\r\nContent-Encoding: " + coding +
                      "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
}

const std::vector<std::string> codings = {"gzip", "br", "zstd"};
const std::string undecodable = "GET URL: the body of the response cannot be decompressed";

/// Expects that this body ends with the error of one that expands too much.
void expect_stopped(const std::string& coding, const std::string& body, http::client_limits limits) {
  with_client(answers_in(coding, body),
              [&](http::client& client, scripted_server& server) -> gyre::task<> {
                auto response = co_await client.get(server.url());
                std::size_t read = 0;
                std::string error;
                try {
                  for (std::size_t size = 1; size > 0; read += size) size = (co_await response.body().receive()).size();
                } catch (const http::client_error& failure) {
                  error = failure.what();
                }
                EXPECT_NE(error.find("the decompressed body of the response is beyond the limit"), std::string::npos)
                    << coding;
                EXPECT_LT(read, 7'000'000U);
                EXPECT_EQ(client.counts().in_use, 0U);
              },
              {.limits = limits});
}

}  // namespace

TEST(client_decompression, every_coding_of_the_server_is_understood) {
  const std::string text = compressible_text(300'000);
  for (const std::string& coding : codings) {
    const std::string body = encoded(text, coding);
    if (body.empty()) continue;
    EXPECT_LT(body.size(), text.size());
    with_client(answers_in(coding, body), [&](http::client& client, scripted_server& server) -> gyre::task<> {
      auto response = co_await client.get(server.url());
      EXPECT_FALSE(response.body().length().has_value());
      EXPECT_EQ(response.field("Content-Encoding"), coding);
      EXPECT_TRUE(co_await response.read_all() == text) << coding;
      EXPECT_EQ(response.body().received(), text.size());
      EXPECT_TRUE(response.body().at_end());
    });
  }
}

// RFC 9110 §8.4.1.2: some servers leave the zlib format out.
TEST(client_decompression, deflate_is_understood_with_and_without_the_zlib_format) {
  const std::string text = compressible_text(300'000);
  const std::string gzip = encoded(text, "gzip");
  if (gzip.empty()) GTEST_SKIP() << "built without zlib";
  const std::string raw = gzip.substr(10, gzip.size() - 18);  // without the header and the trailer of gzip
  std::uint32_t low = 1;
  std::uint32_t high = 0;
  for (const char c : text) {
    low = (low + static_cast<unsigned char>(c)) % 65521;
    high = (high + low) % 65521;
  }
  std::string checksum;  // Adler-32: RFC 1950 §8.2
  for (const std::uint32_t part : {high >> 8U, high, low >> 8U, low}) checksum += static_cast<char>(part & 0xFFU);
  const std::string zlib = "\x78\x9c" + raw + checksum;
  expect_fetched(answers_in("deflate", raw), text);
  expect_fetched(answers_in("deflate", zlib), text);
  expect_fetched(answers_in("deflate", ""), "");
  expect_fetched(answers_in("deflate", zlib + "more"), undecodable);
  expect_fetched(answers_in("deflate", raw.substr(0, raw.size() - 1)), undecodable + ": it is cut off");
  expect_fetched(answers_in("deflate", "\x78\x9c" + raw + "abcd"), undecodable);  // a wrong checksum
}

TEST(client_decompression, codings_are_asked_for_unless_the_program_does_or_wants_a_range) {
  const auto asked = [](auto change) {
    std::string seen;
    with_client(keeps_request(seen), [&](http::client& client, scripted_server& server) -> gyre::task<> {
      auto request = client.request("GET", server.url());
      change(request);
      auto response = co_await request.send();
      EXPECT_EQ(co_await response.read_all(), "hello");
    });
    const std::size_t at = seen.find("Accept-Encoding: ");
    return at == std::string::npos ? std::string() : seen.substr(at + 17, seen.find("\r\n", at) - at - 17);
  };
  EXPECT_NE(asked([](http::client_request&) {}), "");
  EXPECT_EQ(asked([](http::client_request& request) { request.header("Range", "bytes=0-1"); }), "");
  EXPECT_EQ(asked([](http::client_request& request) { request.header("accept-encoding", "x"); }), "");
}

TEST(client_decompression, a_coding_that_was_not_asked_for_is_left_alone) {
  expect_fetched(answers_in("gzip", "not gzip"), "not gzip", {.decompress = false});
  expect_fetched(answers_in("unheard-of", "abc"), "abc");
}

TEST(client_decompression, a_body_that_is_cut_or_malformed_is_an_error) {
  const std::string text = compressible_text(2000);
  for (const std::string& coding : codings) {
    SCOPED_TRACE(coding);
    const std::string body = encoded(text, coding);
    if (body.empty()) continue;
    for (std::size_t at = 1; at < body.size(); at += 1 + body.size() / 50)
      expect_fetched(answers_in(coding, body.substr(0, at)), undecodable + ": it is cut off");
    expect_fetched(answers_in(coding, "this is no such coding, whatever it says"), undecodable);
  }
}

TEST(client_decompression, a_bomb_is_stopped_while_it_expands) {
  for (const std::string& coding : codings) {
    const std::string body = encoded(std::string(12'000'000, 'a'), coding);
    if (body.empty()) continue;
    EXPECT_LT(body.size(), 60'000U);
    expect_stopped(coding, body, {.expansion = 100});
    expect_stopped(coding, body, {.decompressed = 1'000'000, .expansion = 1'000'000});
  }
}

TEST(client_decompression, an_empty_body_and_a_head_have_nothing_to_decompress) {
  with_client(answers_in("gzip", ""), [](http::client& client, scripted_server& server) -> gyre::task<> {
    EXPECT_EQ(co_await fetched(client, server.url()), "");
    auto response = co_await client.head(server.url());
    EXPECT_EQ(co_await response.read_all(), "");
  });
}

// RFC 9659: a window is memory that the server makes the client use.
TEST(client_decompression, a_zstd_frame_may_have_a_window_of_8_mib_and_no_larger_one) {
  using namespace std::string_literals;
  if (encoded("text", "zstd").empty()) GTEST_SKIP() << "built without zstd";
  for (const int exponent : {13, 14, 15, 20, 31}) {
    const std::string frame = "\x28\xb5\x2f\xfd\0"s + static_cast<char>(exponent << 3U) +
                              "\x29\0\0hello"s;  // one block as it is: RFC 8878 §3.1.1
    expect_fetched(answers_in("zstd", frame), exponent == 13 ? "hello" : undecodable);
  }
}

TEST(client_decompression, identity_is_no_coding) {
  const std::string text = compressible_text(2000);
  const std::string once = encoded(text, "gzip");
  if (once.empty()) GTEST_SKIP() << "built without zlib";
  for (const std::string coding : {"gzip, identity", "identity\r\nContent-Encoding: GZIP,"})
    with_client(answers_in(coding, once), [&](http::client& client, scripted_server& server) -> gyre::task<> {
      auto response = co_await client.get(server.url());
      EXPECT_TRUE(response.body().is_decompressed());
      EXPECT_TRUE(co_await response.read_all() == text) << coding;
    });
  with_client(answers_in("identity", "abc"), [](http::client& client, scripted_server& server) -> gyre::task<> {
    auto response = co_await client.get(server.url());
    EXPECT_FALSE(response.body().is_decompressed());
    EXPECT_EQ(co_await response.read_all(), "abc");
  });
}

TEST(client_decompression, a_body_with_several_codings_is_left_alone) {
  const std::string once = encoded(compressible_text(2000), "gzip");
  if (once.empty()) GTEST_SKIP() << "built without zlib";
  for (const std::string codings_of_it : {"gzip, gzip", "gzip\r\nContent-Encoding: gzip",
                                          "gzip\r\nContent-Encoding: br", "gzip,gzip,gzip,gzip,gzip,gzip"})
    expect_fetched(answers_in(codings_of_it, once), once);
}

TEST(client_decompression, a_bomb_in_many_members_or_as_deflate_is_stopped_too) {
  const std::string member = encoded(std::string(1'000'000, 'a'), "gzip");
  if (member.empty()) GTEST_SKIP() << "built without zlib";
  std::string members;
  for (int i = 0; i < 12; ++i) members += member;
  const std::string bomb = encoded(std::string(12'000'000, 'a'), "gzip");
  expect_stopped("gzip", members, {.decompressed = 2'000'000, .expansion = 1'000'000});
  expect_stopped("deflate", bomb.substr(10, bomb.size() - 18), {.decompressed = 2'000'000, .expansion = 1'000'000});
}

TEST(client_decompression, a_bomb_that_comes_slowly_and_in_chunks_is_stopped_where_it_stands) {
  const std::string bomb = encoded(std::string(12'000'000, 'a'), "gzip");
  if (bomb.empty()) GTEST_SKIP() << "built without zlib";
  std::size_t sent = 0;
  gyre::event left;
  with_server(
      [&](peer& client) -> gyre::task<> {
        (void)co_await client.request();
        co_await client.send("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n");
        try {
          for (; sent < bomb.size(); sent += 100) {
            co_await client.send("64\r\n" + bomb.substr(sent, 100) + "\r\n");
            for (int i = 0; i < 3; ++i) co_await gyre::yield_turn();
          }
        } catch (const gyre::io_error&) {
        }
        left.set();
      },
      [&](scripted_server& server) -> gyre::task<> {
        http::client client({.limits = {.decompressed = 2'000'000, .expansion = 1'000'000}});
        const std::string error = co_await fetched(client, server.url());
        EXPECT_NE(error.find("the decompressed body of the response is beyond the limit"), std::string::npos) << error;
        co_await left.wait();
        EXPECT_LT(sent, bomb.size() / 2);
      });
}

TEST(client_decompression, a_bomb_that_nobody_reads_is_not_expanded) {
  const std::string bomb = encoded(std::string(12'000'000, 'a'), "gzip");
  if (bomb.empty()) GTEST_SKIP() << "built without zlib";
  with_server(answers_in("gzip", bomb), [&](scripted_server& server) -> gyre::task<> {
    http::client client({.limits = {.decompressed = 1}});
    {
      auto response = co_await client.get(server.url());
      EXPECT_EQ(response.body().received(), 0U);
    }
    EXPECT_EQ(client.counts().in_use, 0U);
  });
}
