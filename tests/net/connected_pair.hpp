// tests/net/connected_pair.hpp: the two ends of a TCP connection, and running a test on a loop.
#pragma once

#include <gyre/gyre.hpp>

#include "tests/support/body_ref.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/positioned_bytes.hpp"

#include <gtest/gtest.h>

#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace gyre_test {

using namespace std::chrono_literals;

/// A loopback address that no other process of the test run uses, with any port. For tests that free a port and rely on
/// nobody taking it meanwhile.
inline std::string own_loopback() {
  const auto pid = static_cast<unsigned>(::getpid());
  return "127." + std::to_string(1 + (pid >> 16U) % 250) + "." + std::to_string((pid >> 8U) & 255U) + "." +
         std::to_string(1 + (pid & 255U) % 254) + ":0";
}

struct connected_pair {
  gyre::tcp_stream client;
  gyre::tcp_stream server;
};

inline gyre::task<connected_pair> connect_pair() {
  auto listener = gyre::tcp_listener::bind("127.0.0.1:0");
  auto client = co_await gyre::tcp_stream::connect(listener.local_address());
  auto server = co_await listener.accept();
  co_return connected_pair{std::move(client), std::move(server)};
}

/// Runs a test body on a real loop (GYRE_BACKEND chooses the backend) with a time limit, so that a lost wake-up fails
/// the test instead of hanging it.
inline void run_test(body_ref<> body) { EXPECT_NO_THROW(gyre::run(gyre::timeout(60s, body()))); }

/// The same with the two ends of a TCP connection, of a Unix socket, or with a listener.
inline void run_with_pair(body_ref<connected_pair&> body) {
  run_test([&]() -> gyre::task<> {
    auto pair = co_await connect_pair();
    co_await body(pair);
  });
}
inline void run_with_unix_pair(body_ref<gyre::unix_stream_pair&> body) {
  run_test([&]() -> gyre::task<> {
    auto pair = gyre::unix_stream::pair();
    co_await body(pair);
  });
}
inline void run_with_listener(body_ref<gyre::tcp_listener&> body) {
  run_test([&]() -> gyre::task<> {
    auto listener = gyre::tcp_listener::bind("127.0.0.1:0");
    co_await body(listener);
  });
}

inline std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }
inline std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Lets every ready task run, and the kernel deliver what is in flight within this machine.
inline gyre::task<> settle() { co_await gyre::sleep(5ms); }

/// The next bytes that receive() lends.
template <class Stream>
gyre::task<> expect_received(Stream& from, std::string expected) {
  const gyre::buffer_lease lease = co_await from.receive();
  EXPECT_EQ(lease.text(), expected);
}

inline gyre::task<std::string> read_text_to_end(gyre::tcp_stream& from) {
  std::string all;
  std::vector<char> buffer(65536);
  for (;;) {
    const std::size_t n = co_await from.read_some(std::span<char>(buffer));
    if (n == 0) co_return all;
    all.append(buffer.data(), n);
  }
}

}  // namespace gyre_test
