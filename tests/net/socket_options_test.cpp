// tests/net/socket_options_test.cpp: the kernel reports the options that were set.
#include <gyre/net/udp_socket.hpp>

#include "tests/net/ipv6.hpp"
#include "tests/net/receive_text.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <array>

using namespace gyre_test;
using gyre::udp_socket;

namespace {

int option(int descriptor, int level, int name) {
  int value = -1;
  socklen_t length = sizeof(value);
  EXPECT_EQ(::getsockopt(descriptor, level, name, &value, &length), 0);
  return value;
}

template <class Socket>
int option(const Socket& socket, int level, int name) {
  return option(socket.native_descriptor(), level, name);
}

}  // namespace

TEST(socket_options, on_a_tcp_stream_are_switched_on_and_off) {
  run_with_pair([](connected_pair& pair) -> gyre::task<> {
    gyre::tcp_stream& stream = pair.client;
    for (const bool on : {true, false}) {
      stream.set_no_delay(on);
      EXPECT_EQ(option(stream, IPPROTO_TCP, TCP_NODELAY) != 0, on);
      stream.set_keep_alive(on);
      EXPECT_EQ(option(stream, SOL_SOCKET, SO_KEEPALIVE) != 0, on);
    }
    co_return;
  });
}

TEST(socket_options, on_a_udp_socket_are_off_unless_asked_for) {
  run_test([]() -> gyre::task<> {
    const udp_socket plain = udp_socket::bind("127.0.0.1:0");
    EXPECT_EQ(option(plain, SOL_SOCKET, SO_REUSEADDR), 0);
    EXPECT_EQ(option(plain, SOL_SOCKET, SO_REUSEPORT), 0);
    EXPECT_EQ(option(plain, SOL_SOCKET, SO_BROADCAST), 0);
    gyre::udp_options options;
    options.reuse_address = true;
    options.reuse_port = true;
    options.broadcast = true;
    options.send_buffer_size = 100'000;
    options.receive_buffer_size = 90'000;
    const udp_socket asked = udp_socket::bind("127.0.0.1:0", options);
    EXPECT_NE(option(asked, SOL_SOCKET, SO_REUSEADDR), 0);
    EXPECT_NE(option(asked, SOL_SOCKET, SO_REUSEPORT), 0);
    EXPECT_NE(option(asked, SOL_SOCKET, SO_BROADCAST), 0);
    EXPECT_EQ(option(asked, SOL_SOCKET, SO_SNDBUF), 200'000);  // the kernel adds its own overhead
    EXPECT_EQ(option(asked, SOL_SOCKET, SO_RCVBUF), 180'000);
    co_return;
  });
}

TEST(socket_options, several_sockets_share_a_port_with_reuse_port) {
  run_test([]() -> gyre::task<> {
    gyre::udp_options options;
    options.reuse_port = true;
    const udp_socket first = udp_socket::bind("127.0.0.1:0", options);
    const udp_socket second = udp_socket::bind(first.local_address().string(), options);
    EXPECT_EQ(first.local_address(), second.local_address());
    co_return;
  });
}

TEST(socket_options, for_multicast_are_those_of_the_family) {
  run_test([]() -> gyre::task<> {
    udp_socket v4 = udp_socket::bind("127.0.0.1:0");
    v4.set_multicast_hops(7);
    v4.set_multicast_loop(false);
    EXPECT_EQ(option(v4, IPPROTO_IP, IP_MULTICAST_TTL), 7);
    EXPECT_EQ(option(v4, IPPROTO_IP, IP_MULTICAST_LOOP), 0);
    if (!has_ipv6()) co_return;
    udp_socket v6 = udp_socket::bind("[::]:0");
    v6.set_multicast_hops(9);
    v6.set_multicast_loop(false);
    EXPECT_EQ(option(v6, IPPROTO_IPV6, IPV6_MULTICAST_HOPS), 9);
    EXPECT_EQ(option(v6, IPPROTO_IPV6, IPV6_MULTICAST_LOOP), 0);
    co_return;
  });
}

TEST(socket_options, an_empty_datagram_arrives_as_one) {
  run_with_udp([](udp_socket& from, udp_socket& to) -> gyre::task<> {
    co_await from.send_to("", to.local_address());
    co_await from.send_to("", to.local_address());
    co_await from.send_to("x", to.local_address());
    const auto lent = co_await to.receive();
    EXPECT_EQ(lent.payload.size(), 0U);
    std::array<std::byte, 8> buffer{std::byte{1}};
    const auto copied = co_await to.receive_from(buffer);
    EXPECT_EQ(copied.size, 0U);
    EXPECT_EQ(buffer[0], std::byte{1});
    const auto last = co_await to.receive_from(buffer);
    EXPECT_EQ(last.size, 1U);
  });
}

TEST(socket_options, an_interface_name_that_no_interface_can_have_is_refused) {
  for (const std::string_view name : {std::string_view("sixteen_letters_"), std::string_view("l\0o", 3)})
    EXPECT_THROW((void)gyre::interface_name(name), gyre::io_error) << name;
}
