// tests/client/ordered_bodies.hpp: a server that gives bodies of any size and framing, whole or broken.
#pragma once

#include <gyre/testing/run_test.hpp>

#include "tests/client/scripted_server.hpp"
#include "tests/net/stream_flow.hpp"
#include "tests/support/body_ref.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gyre_test {

inline gyre::io::pipe_pool& pipes() { return gyre::event_loop::current().backend().pipes(); }

/// Servers report the bodies that break here. The tests look at what the clients see.
inline void expect_failures() {
  gyre::event_loop::current().set_exception_handler([](const gyre::background_failure&, void*) noexcept {}, nullptr);
}

/// Runs `body` on real time, with buffers that are soon full, so that a stream soon proves to be bulk. Nothing may be
/// left at the end.
inline void run_bulk(body_ref<> body) {
  gyre::testing::test_options real;
  real.loop.virtual_time = false;
  real.loop.backend.large_buffer_size = 16 * 1024;
  const auto checked = [body]() -> gyre::task<> {
    expect_failures();
    co_await body();
    for (int n = 0; n < 1000 && pipes().worth_it(); ++n) co_await gyre::sleep(1ms);
    EXPECT_EQ(pipes().in_use(), 0U);
    EXPECT_FALSE(pipes().worth_it()) << "nobody moves bulk any more";
  };
  EXPECT_NO_THROW(gyre::testing::run_test(checked, real));
}

/// Bytes that show their position. See byte_at().
inline std::string patterned(unsigned seed, std::size_t from, std::size_t size) {
  std::string text(size, '\0');
  fill(std::as_writable_bytes(std::span(text)), seed, from);
  return text;
}

/// "/KIND/SEED/SIZE". The kinds:
///   sized, chunked, end   in this framing; the end of the connection ends the last
///   short, reset, stall   half of a sized body, then the end, a reset, or nothing
///   more                  a sized body, and as many bytes that do not belong to it
struct ordered_body {
  std::string kind;
  unsigned seed;
  std::size_t size;

  // g++ 12 destroys an aggregate twice that is made in an awaited expression.
  ordered_body(std::string wanted_kind, unsigned wanted_seed, std::size_t wanted_size)
      : kind(std::move(wanted_kind)), seed(wanted_seed), size(wanted_size) {}

  static ordered_body of(std::string_view request) {
    const std::size_t kind = request.find('/') + 1;
    const std::size_t seed = request.find('/', kind) + 1;
    const std::size_t size = request.find('/', seed) + 1;
    return {std::string(request.substr(kind, seed - kind - 1)),
            static_cast<unsigned>(std::stoul(std::string(request.substr(seed)))),
            std::stoul(std::string(request.substr(size)))};
  }
  [[nodiscard]] std::string target() const {
    return "/" + kind + "/" + std::to_string(seed) + "/" + std::to_string(size);
  }
};

/// A script of the origin: answers with the body that each request asks for.
inline gyre::task<> give_what_is_ordered(peer& client) {
  for (;;) {
    const std::string request = co_await client.request();
    if (request.empty()) co_return;
    const ordered_body order = ordered_body::of(request);
    std::string head = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n";
    if (order.kind == "chunked")
      head += "Transfer-Encoding: chunked\r\n\r\n";
    else if (order.kind == "end")
      head += "Connection: close\r\n\r\n";
    else
      head += "Content-Length: " + std::to_string(order.size) + "\r\n\r\n";
    co_await client.send(head);
    if (request.starts_with("HEAD ")) continue;
    std::size_t total = order.size;
    if (order.kind == "short" || order.kind == "reset" || order.kind == "stall") total /= 2;
    if (order.kind == "more") total *= 2;
    constexpr std::size_t most = 300'000;
    for (std::size_t sent = 0; sent < total;) {
      const std::size_t size = std::min(most, total - sent);
      std::string piece = patterned(order.seed, sent, size);
      if (order.kind == "chunked") {
        char length[20];
        std::snprintf(length, sizeof(length), "%zx\r\n", size);
        piece = length + piece + "\r\n";
      }
      co_await client.send(std::move(piece));
      sent += size;
    }
    if (order.kind == "chunked") co_await client.send("0\r\n\r\n");
    if (order.kind == "end" || order.kind == "short") co_return client.close();
    if (order.kind == "reset") co_return client.reset();
    if (order.kind == "stall") (void)co_await client.rest();
  }
}

struct passing_origin {
  explicit passing_origin(peer_script script = give_what_is_ordered) : server(std::move(script)) {}
  void start() { running = gyre::spawn(server.run()); }
  [[nodiscard]] std::string url() const { return server.url({}); }
  gyre::task<> stop() {
    running.cancel();
    co_await running.wait();
  }
  scripted_server server;
  gyre::task_handle<void> running;
};

}  // namespace gyre_test
