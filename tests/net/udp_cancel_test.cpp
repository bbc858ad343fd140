// tests/net/udp_cancel_test.cpp: cancels, time-outs and the end of the loop of datagram sockets.
#include <gyre/net/udp_socket.hpp>

#include <gyre/testing/cancel_at_every_await.hpp>

#include "tests/net/connected_pair.hpp"
#include "tests/net/ipv6.hpp"
#include "tests/net/receive_text.hpp"
#include "tests/net/udp_here.hpp"

#include <sys/socket.h>

#include <array>

using namespace gyre_test;
using gyre::address;
using gyre::udp_socket;

TEST(udp_socket, a_time_out_takes_no_datagram) {
  run_with_udp([](udp_socket& a, udp_socket& b) -> gyre::task<> {
    std::array<std::byte, 64> buffer;
    const auto late = co_await gyre::as_expected(gyre::timeout(2ms, b.receive_from(buffer)));
    EXPECT_EQ(late.error(), std::errc::timed_out);
    const auto later = co_await gyre::as_expected(gyre::timeout(2ms, b.receive()));
    EXPECT_EQ(later.error(), std::errc::timed_out);
    const auto copying = co_await gyre::as_expected(gyre::timeout(2ms, b.receive_from(buffer)));
    EXPECT_EQ(copying.error(), std::errc::timed_out);
    co_await a.send_to("kept", b.local_address());
    co_await expect_text(b, "kept");
  });
}

TEST(udp_socket, cancel_ends_what_waits_and_the_socket_stays_usable) {
  run_with_udp([](udp_socket& a, udp_socket& b) -> gyre::task<> {
    auto waiting = gyre::spawn(error_of(receive_text(b)));
    co_await settle();
    b.cancel();
    const std::string text = co_await waiting;
    EXPECT_EQ(text, "receive_from: Operation canceled");
    co_await a.send_to("on", b.local_address());
    co_await expect_text(b, "on");
  });
}

// Only a sanitizer reports a receive that is not freed.
TEST(udp_socket, a_loop_that_ends_while_a_receive_is_armed_frees_it) {
  gyre::run([]() -> gyre::task<> {
    auto left_behind = gyre::spawn([]() -> gyre::task<> {
      udp_socket socket = here();
      (void)co_await socket.receive();
    });
    co_await settle();
    left_behind.detach();
  });
}

TEST(udp_socket, a_cancel_anywhere_loses_no_datagram_that_was_given) {
  const auto report = gyre::testing::cancel_at_every_await(
      []() -> gyre::task<> {
        udp_socket a = here();
        udp_socket b = here();
        const auto send = [](udp_socket& from, address to) -> gyre::task<> {
          for (int i = 0; i < 4; ++i) {
            const std::string text = std::to_string(i);
            co_await from.send_to(text, to);
            co_await gyre::yield();
          }
        };
        const auto receive = [](udp_socket& socket) -> gyre::task<> {
          for (int i = 0; i < 4; ++i) {
            std::string text;
            if (i % 2 == 0)
              text = co_await receive_text(socket);
            else
              text = co_await lease_text(socket);
            EXPECT_EQ(text, std::to_string(i));
          }
        };
        co_await gyre::gather(send(a, b.local_address()), receive(b));
      },
      [](bool) {});
  EXPECT_GT(report.cancelled, 0U);
  EXPECT_GT(report.completed, 0U);
}
