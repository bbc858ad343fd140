// tests/net/udp_fallback_test.cpp: UDP where the kernel or the network lacks a requested feature.
#include <gyre/net/udp_socket.hpp>

#include "tests/net/ipv6.hpp"
#include "tests/net/receive_text.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <string>
#include <vector>

using namespace gyre_test;
using gyre::address;
using gyre::udp_socket;

TEST(udp_fallback, segments_go_one_by_one_where_the_kernel_cannot_cut_them) {
  run_with_udp([](udp_socket& from, udp_socket& to) -> gyre::task<> {
    const int without_checksum = 1;  // the kernel needs checksums for segments
    EXPECT_EQ(::setsockopt(from.native_descriptor(), SOL_SOCKET, SO_NO_CHECK, &without_checksum, sizeof(int)), 0);
    const std::string text = "aaabbbccc-";
    const std::size_t sent = co_await from.send_segments(std::as_bytes(std::span(text)), 3, to.local_address());
    EXPECT_EQ(sent, text.size());
    std::vector<std::string> arrived;
    for (int i = 0; i < 4; ++i) arrived.push_back(co_await receive_text(to));
    EXPECT_EQ(arrived, (std::vector<std::string>{"aaa", "bbb", "ccc", "-"}));
  });
}

TEST(udp_fallback, from_fd_refuses_a_descriptor_that_is_closed) {
  run_test([]() -> gyre::task<> {
    EXPECT_EQ(error_of_call([] { (void)udp_socket::from_fd(-1); }), "from_fd -1: Bad file descriptor");
    co_return;
  });
}

TEST(udp_fallback, an_ipv6_group_is_joined_and_left_by_the_interface) {
  run_test([]() -> gyre::task<> {
    if (!has_ipv6()) co_return;
    udp_socket socket = udp_socket::bind("[::]:0");
    const address group("[ff01::123]:0");
    EXPECT_EQ(error_of_call([&] { socket.leave_group(group, 1); }), "leave_group: Cannot assign requested address");
    EXPECT_EQ(error_of_call([&] { socket.join_group(group, 1); }), "");
    EXPECT_EQ(error_of_call([&] { socket.join_group(group, 1); }), "join_group: Address already in use");
    EXPECT_EQ(error_of_call([&] { socket.leave_group(group, 1); }), "");
    co_return;
  });
}

TEST(udp_fallback, connecting_to_a_family_that_the_socket_is_not_of_names_the_peer) {
  run_test([]() -> gyre::task<> {
    udp_socket socket = udp_socket::bind("127.0.0.1:0");
    EXPECT_EQ(error_of_call([&] { socket.connect(address("[::1]:9")); }),
              "connect [::1]:9: Address family not supported by protocol");
    co_return;
  });
}

TEST(udp_fallback, from_fd_refuses_what_is_no_socket) {
  run_test([]() -> gyre::task<> {
    const int file = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    EXPECT_EQ(error_of_call([&] { (void)udp_socket::from_fd(file); }),
              "from_fd " + std::to_string(file) + ": Socket operation on non-socket");
    EXPECT_EQ(::fcntl(file, F_GETFD), -1) << "it was taken over, and is closed";
    co_return;
  });
}

TEST(udp_fallback, a_peer_that_needs_a_permission_is_named) {
  run_test([]() -> gyre::task<> {
    EXPECT_EQ(error_of_call([] { (void)udp_socket::connected(address("255.255.255.255:9")); }),
              "udp 255.255.255.255:9: Permission denied");
    co_return;
  });
}

TEST(udp_fallback, a_socket_of_only_ipv6_leaves_the_port_to_an_ipv4_socket) {
  run_test([]() -> gyre::task<> {
    if (!has_ipv6()) co_return;
    gyre::udp_options options;
    options.only_ipv6 = true;
    const udp_socket six = udp_socket::bind("[::]:0", options);
    const address four = address::any_v4(six.local_address().port());
    EXPECT_EQ(error_of_call([&] { (void)udp_socket::bind(four); }), "");
    const udp_socket both = udp_socket::bind("[::]:0");
    const address taken = address::any_v4(both.local_address().port());
    EXPECT_NE(error_of_call([&] { (void)udp_socket::bind(taken); }), "");
  });
}
