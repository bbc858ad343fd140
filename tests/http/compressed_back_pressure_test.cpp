// tests/http/compressed_back_pressure_test.cpp: how much a server compresses for a client that does not read.
#include <gyre/http/body_writer.hpp>

#include "decoding.hpp"
#include "tests/http/compressible_text.hpp"
#include "tests/http/little_room.hpp"
#include "tests/http/memory_file.hpp"
#include "tests/support/mebibyte.hpp"

#include <random>
#include <string>
#include <string_view>
#include <vector>

using namespace gyre_test;
using http::response;

namespace {

constexpr std::size_t piece_size = std::size_t{16} << 10U;

/// Text that every coding halves, and none compresses better.
const std::string& hexadecimal() {
  static const std::string all = [] {
    std::mt19937_64 random(1);
    std::string text(8 * mebibyte, '\0');
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < text.size(); ++i, bits >>= 4U) {
      if (i % 16 == 0) bits = random();
      text[i] = "0123456789abcdef"[bits % 16];
    }
    return text;
  }();
  return all;
}

gyre::fs::file zeros(std::size_t size) { return gyre::fs::file::from_fd(memory_file({}, size), "body"); }

std::string get_coded(std::string_view coding) {
  return "GET / HTTP/1.0\r\nHost: a\r\nAccept-Encoding: " + std::string(coding) + "\r\n\r\n";
}

/// Writes everything in pieces, and awaits something else between them.
struct writer {
  std::size_t written = 0;
  gyre::task<> operator()(http::body_writer& out) {
    for (std::size_t at = 0; at < hexadecimal().size(); at += piece_size) {
      co_await out.write(std::string_view(hexadecimal()).substr(at, piece_size));
      written += piece_size;
      co_await gyre::yield_turn();
    }
  }
};

template <class Client>
gyre::task<> expect_bounded(Client& client, const std::size_t& written, std::string_view coding, std::size_t most) {
  co_await client.send(get_coded(coding));
  co_await until_it_stops(written);
  EXPECT_GT(written, 0U) << coding;
  EXPECT_LT(written, most) << coding;
  const http_answer answer = co_await client.answer();
  EXPECT_TRUE(decode(coding, answer.body).text == hexadecimal()) << coding;
  EXPECT_EQ(written, hexadecimal().size()) << coding;
}

}  // namespace

TEST(compressed_back_pressure, a_compressed_stream_waits_for_a_client_that_does_not_read) {
  for (const std::string_view coding : http::available_codings()) {
    writer producer;
    auto produce = [&](http::body_writer& out) -> gyre::task<> { co_await producer(out); };
    run_on_sockets(options_for(compressed_stream(produce)), [&](socket_server& here) -> gyre::task<> {
      auto client = co_await connect_with_little_room(here);
      co_await expect_bounded(client, producer.written, coding, 6 * mebibyte);  // the kernel holds much of that
    });
  }
}

TEST(compressed_back_pressure, others_run_while_a_stream_is_compressed_to_nearly_nothing) {
  for (const std::string_view coding : http::available_codings()) {
    std::size_t turns = 0;
    auto produce = [](http::body_writer& out) -> gyre::task<> {
      const std::string same(piece_size, 'x');
      for (int i = 0; i < 256; ++i) co_await out.write(same);
    };
    run_in_memory(options_for(compressed_stream(produce)), [&](memory_server& here) -> gyre::task<> {
      auto client = here.connect(mebibyte);
      auto other = gyre::spawn([&]() -> gyre::task<> {
        for (;; ++turns) co_await gyre::yield();
      });
      const http_answer answer = co_await client.ask(get_coded(coding));
      EXPECT_EQ(decode(coding, answer.body).text.size(), 256 * piece_size) << coding;
      other.cancel();
      co_await other.wait();
    });
    EXPECT_GE(turns, 64U) << coding;
  }
}

TEST(compressed_back_pressure, a_compressed_stream_waits_for_a_client_that_does_not_read_from_memory) {
  for (const std::string_view coding : http::available_codings()) {
    writer producer;
    auto produce = [&](http::body_writer& out) -> gyre::task<> { co_await producer(out); };
    run_in_memory(options_for(compressed_stream(produce)), [&](memory_server& here) -> gyre::task<> {
      auto client = here.connect(1000);
      co_await expect_bounded(client, producer.written, coding, mebibyte);
    });
  }
}

TEST(compressed_back_pressure, a_file_that_is_compressed_waits_for_a_client_that_does_not_read) {
  for (const std::string_view coding : http::available_codings()) {
    bool sent = false;
    auto produce = [&](http::body_writer& out) -> gyre::task<> {
      const gyre::fs::file file = file_of(hexadecimal());
      co_await out.send_file(file, 0, hexadecimal().size());
      sent = true;
    };
    run_client(options_for(compressed_stream(produce)), [&](memory_client& client) -> gyre::task<> {
      co_await client.send(get_coded(coding));
      co_await gyre::sleep(20s);
      EXPECT_FALSE(sent) << coding;
      const http_answer answer = co_await client.answer();
      EXPECT_TRUE(decode(coding, answer.body).text == hexadecimal()) << coding;
    });
  }
}

TEST(compressed_back_pressure, a_client_that_leaves_ends_the_compression_of_a_file_that_never_fills_a_buffer) {
  for (const std::string_view coding : http::available_codings()) {
    exchange_log heard;
    http::router routes;
    routes.use(http::compress());
    constexpr std::size_t size = 64 * mebibyte;
    routes.get("/", [](http::request&) { return response::file(zeros(size), 0, size, "text/plain"); });
    http::server_options options = options_for(std::move(routes));
    options.observer = &heard;
    run_in_memory(std::move(options), [&](memory_server& here) -> gyre::task<> {
      auto client = here.connect();
      co_await client.send(get_coded(coding));
      (void)co_await client.receive();
      reset(client);
      while (here.connections() > 0) co_await gyre::sleep(1ms);
      EXPECT_EQ(heard.complete, std::vector<bool>{false}) << coding;
    });
  }
}

TEST(compressed_back_pressure, bytes_that_nobody_took_are_not_counted) {
  for (const std::string_view coding : {"gzip", "identity"}) {
    exchange_log heard;
    auto produce = [](http::body_writer& out) -> gyre::task<> { co_await writer()(out); };
    http::server_options options = options_for(compressed_stream(produce));
    options.observer = &heard;
    options.timeouts.write = 300ms;
    run_on_sockets(std::move(options), [&](socket_server& here) -> gyre::task<> {
      auto client = co_await connect_with_little_room(here);
      co_await client.send(get_coded(coding));
      for (int i = 0; i < 2000 && (heard.bytes.empty() || here.server().connections() > 0); ++i)
        co_await gyre::sleep(10ms);
      EXPECT_EQ(here.server().connections(), 0U);
      CO_ASSERT_EQ(heard.bytes.size(), 1U);
      EXPECT_FALSE(heard.complete[0]);
      EXPECT_GT(heard.bytes[0], 0U);
      EXPECT_LT(heard.bytes[0], hexadecimal().size() / 2 - mebibyte) << coding;
    });
  }
}
