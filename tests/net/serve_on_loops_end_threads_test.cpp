// tests/net/serve_on_loops_end_threads_test.cpp: the end of a server on several loops: cancels and requests to stop.
#include <gyre/net/tcp_listener.hpp>

#include <gyre/gyre.hpp>

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <map>
#include <semaphore>
#include <string>
#include <vector>

#include "tests/net/echo.hpp"
#include "tests/net/served_on_loops.hpp"
#include "tests/support/body_ref.hpp"
#include "tests/support/co_assert.hpp"

using namespace gyre_test;
using namespace std::chrono_literals;

namespace {

/// Returns when the kernel has completed the connection; no task runs meanwhile.
gyre::tcp_stream connect_without_a_turn(const gyre::address& where) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in peer{};
  peer.sin_family = AF_INET;
  peer.sin_port = htons(where.port());
  peer.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(::connect(fd, reinterpret_cast<const sockaddr*>(&peer), sizeof(peer)), 0);
  return gyre::tcp_stream::from_fd(fd);
}

bool bytes_wait_in(const gyre::tcp_stream& stream) {
  char byte = 0;
  return ::recv(stream.native_descriptor(), &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 1;
}

gyre::task<> drain(gyre::tcp_stream& stream) {
  for (;;) {
    const gyre::buffer_lease piece = co_await stream.receive();
    if (!piece) break;
  }
}

/// Reads until the peer has closed or reset the connection. Returns false for another error.
gyre::task<bool> reads_to_end_or_reset(gyre::tcp_stream& stream) {
  try {
    co_await drain(stream);
  } catch (const gyre::io_error& error) {
    co_return error.code() == std::errc::connection_reset;
  }
  co_return true;
}

/// Connects clients, requests a stop, and expects that each of them is served.
template <class Connect>
void expect_all_served_after_a_stop(std::size_t count, Connect connect) {
  for (const auto mode : both_modes) {
    std::size_t answered = 0;
    gyre::run_main(
        [&]() -> gyre::task<> {
          test_server server(tell_loop_and_echo, {.threads = 2, .accept = mode});
          co_await gyre::yield();
          std::vector<gyre::tcp_stream> streams;
          while (streams.size() < count) streams.push_back(co_await connect(server));
          gyre::request_stop();
          for (auto& each : streams) {
            (void)co_await first_byte(each);
            ++answered;
          }
          co_await server.serving;
        },
        {.threads = 2});
    EXPECT_EQ(answered, count);
  }
}

}  // namespace

TEST(serve_on_loops_threads, a_cancel_drains_all_loops) {
  for (const auto mode : both_modes)
    gyre::run(
        [mode]() -> gyre::task<> {
          test_server server(tell_loop_and_echo, {.threads = 2, .accept = mode});
          clients all;
          co_await all.connect(server.where(), 32);
          server.serving.cancel();
          for (auto& each : all.streams) EXPECT_EQ((co_await each.receive()).bytes().size(), 0U);  // no reset
          EXPECT_THROW(co_await server.serving, gyre::task_cancelled);
        },
        {.threads = 2});
}

TEST(serve_on_loops_threads, a_stop_request_loses_no_connection_that_the_kernel_has_completed) {
  expect_all_served_after_a_stop(
      500, [](test_server& server) -> gyre::task<gyre::tcp_stream> { co_return co_await server.connect(); });
}

// The loop that accepts runs no turn between the first connection and the request, so the kernel has them all.
TEST(serve_on_loops_threads, a_stop_request_loses_no_connection_that_waits_to_be_accepted) {
  expect_all_served_after_a_stop(100, [](test_server& server) -> gyre::task<gyre::tcp_stream> {
    co_return connect_without_a_turn(server.where());
  });
}

TEST(serve_on_loops_threads, connections_for_a_loop_that_has_not_begun_to_serve_end_when_the_server_is_cancelled) {
  std::binary_semaphore blocked{0};
  std::vector<gyre::tcp_stream> streams;
  int ended = 0;
  auto cancel_early = [&]() -> gyre::task<> {
    (*gyre::event_loop::current().group())[1].post([&] { blocked.acquire(); });
    auto listener = gyre::tcp_listener::bind("127.0.0.1:0");
    const gyre::address where = listener.local_address();
    auto serving = listener.serve(tell_loop_and_echo, {.threads = 2, .accept = gyre::accept_mode::one_acceptor});
    auto server = gyre::spawn(std::move(serving));
    for (int i = 0; i < 4; ++i) {
      auto stream = co_await gyre::tcp_stream::connect(where);
      streams.push_back(std::move(stream));
    }
    for (int answered = 0; answered < 2;) {  // the other two are given to the loop that is blocked
      answered = 0;
      co_await gyre::sleep(1ms);
      for (auto& each : streams) answered += bytes_wait_in(each) ? 1 : 0;
    }
    server.cancel();
    co_await gyre::yield();
    blocked.release();
    co_await server.wait();
    for (std::size_t i = 0; i < streams.size(); ++i) {
      const bool has_ended = co_await reads_to_end_or_reset(streams[i]);
      ended += has_ended ? 1 : 0;
    }
    streams.clear();
  };
  gyre::run(cancel_early, {.threads = 2});
  EXPECT_EQ(ended, 4);
}
