// tests/http/cut_off_test.cpp: a piece that is left in the middle cuts the response off. Nothing may follow it, because
// the client would take that for the rest of the piece.
#include <gyre/http/body_writer.hpp>
#include <gyre/http/server.hpp>
#include <gyre/loop/yield.hpp>
#include <gyre/net/tcp_stream.hpp>
#include <gyre/stream/memory_stream.hpp>
#include <gyre/tasks/spawn.hpp>
#include <gyre/tasks/timeout.hpp>

#include "tests/support/real_run.hpp"
#include "tests/support/virtual_run.hpp"

#include <span>
#include <string>
#include <string_view>

using namespace gyre_test;
namespace http = gyre::http;

namespace {

std::span<const std::byte> as_sent(std::string_view text) { return std::as_bytes(std::span(text)); }

/// Everything that arrives until the end of the stream, or until nothing has come for `quiet`.
template <class Stream>
gyre::task<std::string> read_until_quiet(Stream& stream, std::chrono::milliseconds quiet) {
  std::string all;
  char piece[16'384];
  try {
    for (;;) {
      const auto count = co_await gyre::timeout(quiet, stream.read_some(std::as_writable_bytes(std::span(piece))));
      if (count == 0) break;
      all.append(piece, count);
    }
  } catch (const gyre::io_error&) {  // a reset, or the time-out
  }
  co_return all;
}

/// What a client gets that begins to read 100 ms after its request. `capacity` is the room of the connection.
gyre::task<std::string> late_response(http::handler routes, std::size_t capacity) {
  http::server_options options;
  options.listen.clear();
  options.routes = std::move(routes);
  http::server server(std::move(options));
  gyre::memory_pair pair(capacity);
  auto serving = gyre::spawn(server.serve_connection(gyre::any_stream(std::move(pair.second))));
  (void)co_await pair.first.write_all(as_sent("GET / HTTP/1.1\r\nHost: a\r\n\r\n"));
  co_await gyre::sleep(100ms);
  std::string all = co_await read_until_quiet(pair.first, 5s);
  pair.first = gyre::memory_stream();
  co_await serving.wait();
  co_return all;
}

}  // namespace

TEST(cut_off, a_write_that_is_cancelled_behind_earlier_pieces_is_the_last) {
  for (const bool announced : {false, true}) {
    bool refused = false;
    auto produce = [&](http::body_writer& out) -> gyre::task<> {
      out.append(std::string(4'000, 'a'));
      co_await gyre::sleep(1ms);  // they begin to leave
      const std::string large(20'000, 'b');
      EXPECT_THROW(co_await gyre::timeout(10ms, out.write(large)), gyre::timed_out);
      co_await gyre::sleep(1s);  // the client reads meanwhile
      try {
        co_await out.write("tail");
      } catch (const gyre::io_error&) {
        refused = true;
      }
    };
    run_virtual([&]() -> gyre::task<> {
      auto routes = [&](http::request&) {
        auto made = http::response::stream(produce);
        if (announced) made.set_length(24'004);
        return made;
      };
      const std::string all = co_await late_response(routes, 1'000);
      EXPECT_TRUE(refused);
      EXPECT_FALSE(all.contains("tail")) << all;
      EXPECT_FALSE(all.ends_with("0\r\n\r\n")) << all;
    });
  }
}

TEST(cut_off, a_write_that_is_cancelled_in_any_turn_is_the_last) {
  for (int turns = 1; turns <= 8; ++turns) {
    bool too_late = false;
    auto produce = [&](http::body_writer& out) -> gyre::task<> {
      const std::string large(std::size_t{40} << 20U, 'b');
      auto writing = gyre::spawn(out.write(large));
      for (int n = 0; n < turns; ++n) co_await gyre::yield_turn();
      too_late = writing.done();
      writing.cancel();
      co_await writing.wait();
      EXPECT_THROW(co_await out.write("tail"), gyre::io_error) << turns;
    };
    run_virtual([&]() -> gyre::task<> {
      auto routes = [&](http::request&) { return http::response::stream(produce); };
      const std::string all = co_await late_response(routes, std::size_t{64} << 20U);
      EXPECT_FALSE(too_late) << turns;
      EXPECT_FALSE(all.contains("tail")) << turns;
      EXPECT_FALSE(all.ends_with("0\r\n\r\n")) << turns;
    });
  }
}

TEST(cut_off, a_body_that_comes_too_slowly_does_not_cut_the_response_off) {
  run_real([]() -> gyre::task<> {
    std::size_t appended = 0;
    auto produce = [&](http::request& r) {
      return [&](http::body_writer& out) -> gyre::task<> {
        const std::string piece(60'000, 'a');
        for (; out.waiting() < 20'000; appended += piece.size()) {
          out.append(piece);
          co_await gyre::yield_turn();
        }
        EXPECT_THROW((void)co_await r.body().read_all(), http::status_error);
        co_await out.write("tail");
      };
    };
    http::server_options options;
    options.listen = "127.0.0.1:0";
    options.timeouts.body = 50ms;
    options.timeouts.last_request = 5ms;
    options.timeouts.drain = 100ms;
    options.routes = [&](http::request& r) { return http::response::stream(produce(r)); };
    http::server server(std::move(options));
    auto serving = gyre::spawn(server.run());
    {
      auto client = co_await gyre::tcp_stream::connect(server.where());
      co_await client.write_all(as_sent("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n"));
      co_await gyre::sleep(200ms);
      const std::string all = co_await read_until_quiet(client, 1s);
      EXPECT_GT(all.size(), appended);
      EXPECT_TRUE(all.ends_with("4\r\ntail\r\n0\r\n\r\n"));
    }
    serving.cancel();
    co_await serving.wait();
  });
}
