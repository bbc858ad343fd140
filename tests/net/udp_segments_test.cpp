// tests/net/udp_segments_test.cpp: sending many datagrams of one size with few calls, and cases in which that is
// impossible.
#include <gyre/net/udp_socket.hpp>

#include "tests/net/receive_text.hpp"
#include "tests/support/denied_call.hpp"

#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <array>
#include <string>
#include <vector>

using namespace gyre_test;
using gyre::udp_socket;

namespace {

/// The sizes of each arrival and of its segments, at a socket that lets the kernel coalesce datagrams.
gyre::task<std::vector<std::pair<std::size_t, std::size_t>>> arrivals(udp_socket& socket, std::size_t bytes) {
  std::vector<std::pair<std::size_t, std::size_t>> all;
  std::vector<std::byte> buffer(65'536);
  for (std::size_t heard = 0; heard < bytes; heard += all.back().first) {
    const auto came = co_await socket.receive_from(buffer);
    all.emplace_back(came.size, came.segment_size);
  }
  co_return all;
}

udp_socket coalescing() {
  gyre::udp_options options;
  options.coalesce = true;
  return udp_socket::bind("127.0.0.1:0", options);
}

/// Gives this process its own loopback device with an MTU of 1,500 bytes. Returns false when that is not permitted.
bool make_loopback_like_a_network() {
  if (::unshare(CLONE_NEWNET) != 0) return false;
  const gyre::owned_fd any(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ifreq wanted{};
  wanted.ifr_name[0] = 'l';
  wanted.ifr_name[1] = 'o';
  wanted.ifr_mtu = 1'500;
  if (::ioctl(any.get(), SIOCSIFMTU, &wanted) != 0) return false;
  wanted.ifr_flags = IFF_UP | IFF_LOOPBACK | IFF_RUNNING;
  return ::ioctl(any.get(), SIOCSIFFLAGS, &wanted) == 0;
}

}  // namespace

TEST(udp_segments, a_socket_that_cannot_have_them_cut_leaves_the_others_alone) {
  run_test([]() -> gyre::task<> {
    const std::vector<std::byte> bytes = pattern(12'000);
    {
      udp_socket without = udp_socket::bind("127.0.0.1:0");
      udp_socket to = coalescing();
      const int no_checksum = 1;  // the kernel needs checksums to split the bytes
      EXPECT_EQ(::setsockopt(without.native_descriptor(), SOL_SOCKET, SO_NO_CHECK, &no_checksum, sizeof(int)), 0);
      (void)co_await without.send_segments(bytes, 1'200, to.local_address());
      const auto came = co_await arrivals(to, bytes.size());
      EXPECT_EQ(came.size(), 10U);
    }
    udp_socket from = udp_socket::bind("127.0.0.1:0");
    udp_socket to = coalescing();
    (void)co_await from.send_segments(bytes, 1'200, to.local_address());
    const auto came = co_await arrivals(to, bytes.size());
    EXPECT_EQ(came, (std::vector<std::pair<std::size_t, std::size_t>>{{12'000, 1'200}}));
  });
}

TEST(udp_segments, a_borrowed_buffer_tells_the_size_of_the_parts) {
  run_test([]() -> gyre::task<> {
    udp_socket from = udp_socket::bind("127.0.0.1:0");
    udp_socket to = coalescing();
    const std::vector<std::byte> bytes = pattern(3'000);
    (void)co_await from.send_segments(bytes, 1'000, to.local_address());
    const auto came = co_await to.receive();
    EXPECT_EQ(came.payload.size(), 3'000U);
    EXPECT_EQ(came.segment_size, 1'000U);
  });
}

TEST(udp_segments, larger_than_the_network_takes_at_once_are_sent_one_by_one) {
  const auto said = in_child_process([]() -> std::string {
    if (!make_loopback_like_a_network()) return "not allowed";
    return gyre::run([]() -> gyre::task<std::string> {
      udp_socket from = udp_socket::bind("127.0.0.1:0");
      udp_socket to = udp_socket::bind("127.0.0.1:0");
      const std::vector<std::byte> bytes = pattern(6'000);
      std::string refusal = co_await error_of(from.send_segments(bytes, 2'000, to.local_address()));
      if (!refusal.empty()) co_return refusal;
      const auto came = co_await arrivals(to, bytes.size());
      co_return std::to_string(came.size()) + " datagrams of " + std::to_string(came.front().first);
    });
  });
  if (said.text == "not allowed") GTEST_SKIP() << "no network of its own here";
  EXPECT_EQ(said.text, "3 datagrams of 2000");
}

TEST(udp_segments, are_sent_one_by_one_when_a_call_takes_only_one) {
  run_with_udp([](udp_socket& from, udp_socket& to) -> gyre::task<> {
    const std::vector<std::byte> bytes = pattern(90'000);
    auto sending = gyre::spawn(from.send_segments(bytes, 40'000, to.local_address()));
    const auto came = co_await arrivals(to, bytes.size());
    EXPECT_EQ(came.size(), 3U);
    EXPECT_EQ(came.back().first, 10'000U);
    const std::size_t sent = co_await sending;
    EXPECT_EQ(sent, bytes.size());
  });
}

TEST(udp_segments, larger_than_a_datagram_are_refused) {
  run_test([]() -> gyre::task<> {
    udp_socket socket = udp_socket::bind("127.0.0.1:0");
    const std::vector<std::byte> bytes = pattern(10);
    const std::string text = co_await error_of(socket.send_segments(bytes, 65'508, gyre::address("127.0.0.1:9")));
    EXPECT_EQ(text, "send_segments 127.0.0.1:9: Invalid argument");
  });
}

TEST(udp_segments, that_may_not_be_sent_there_fail_with_the_address) {
  run_test([]() -> gyre::task<> {
    udp_socket socket = udp_socket::bind(":0");
    const std::vector<std::byte> bytes = pattern(10);
    const std::string text = co_await error_of(socket.send_segments(bytes, 4, gyre::address("255.255.255.255:9")));
    EXPECT_EQ(text, "send_segments 255.255.255.255:9: Permission denied");
  });
}
