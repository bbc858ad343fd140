// tests/net/udp_socket_test.cpp: datagrams over IP.
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

TEST(udp_socket, a_datagram_arrives_with_the_address_of_its_sender) {
  run_with_udp([](udp_socket& a, udp_socket& b) -> gyre::task<> {
    const std::size_t sent = co_await a.send_to("hello", b.local_address());
    EXPECT_EQ(sent, 5U);
    std::array<std::byte, 64> buffer;
    const auto datagram = co_await b.receive_from(buffer);
    EXPECT_EQ(text_of(std::span(buffer).first(datagram.size)), "hello");
    EXPECT_EQ(datagram.from, a.local_address());
    EXPECT_FALSE(datagram.truncated);
    EXPECT_EQ(datagram.segment_size, 0U);
  });
}

TEST(udp_socket, receiving_waits_for_a_datagram) {
  run_with_udp([](udp_socket& a, udp_socket& b) -> gyre::task<> {
    auto waiting = gyre::spawn(receive_text(b));
    co_await settle();
    EXPECT_FALSE(waiting.done());
    co_await a.send_to("late", b.local_address());
    const std::string text = co_await waiting;
    EXPECT_EQ(text, "late");
  });
}

TEST(udp_socket, datagrams_keep_their_bounds_and_order) {
  run_with_udp([](udp_socket& a, udp_socket& b) -> gyre::task<> {
    for (const char* each : {"one", "", "three"}) co_await a.send_to(each, b.local_address());
    for (const char* each : {"one", "", "three"}) {
      co_await expect_text(b, each);
    }
  });
}

TEST(udp_socket, borrowed_buffers_bring_the_same) {
  run_with_udp([](udp_socket& a, udp_socket& b) -> gyre::task<> {
    auto waiting = gyre::spawn(lease_text(b));
    co_await settle();
    for (const char* each : {"one", "", "three"}) co_await a.send_to(each, b.local_address());
    const std::string first = co_await waiting;
    EXPECT_EQ(first, "one");
    const auto second = co_await b.receive();
    EXPECT_EQ(second.payload.size(), 0U);
    EXPECT_EQ(second.from, a.local_address());
    const std::string third = co_await receive_text(b);  // both ways of receiving see the datagrams in order
    EXPECT_EQ(third, "three");
  });
}

TEST(udp_socket, a_datagram_that_does_not_fit_is_truncated_and_said_to_be) {
  run_with_udp([](udp_socket& a, udp_socket& b) -> gyre::task<> {
    const std::string long_text(10'000, 'x');
    co_await a.send_to(long_text, b.local_address());
    std::array<std::byte, 4> buffer;
    const auto into = co_await b.receive_from(buffer);
    EXPECT_EQ(into.size, 4U);
    EXPECT_TRUE(into.truncated);
    co_await a.send_to(long_text, b.local_address());
    const auto borrowed = co_await b.receive();
    EXPECT_TRUE(borrowed.truncated);
    EXPECT_EQ(borrowed.payload.size(), 3944U);
    co_await a.send_to("small", b.local_address());
    const auto next = co_await b.receive();
    EXPECT_FALSE(next.truncated);
    EXPECT_EQ(next.payload.text(), "small");
  });
}

TEST(udp_socket, gathered_buffers_are_one_datagram) {
  run_with_udp([](udp_socket& a, udp_socket& b) -> gyre::task<> {
    const std::array<gyre::io::const_buffer, 2> parts{gyre::io::const_buffer{"head ", 5},
                                                      gyre::io::const_buffer{"body", 4}};
    const std::size_t sent = co_await a.send_to(parts, b.local_address());
    EXPECT_EQ(sent, 9U);
    co_await expect_text(b, "head body");
  });
}

TEST(udp_socket, a_connected_socket_hears_its_peer_only) {
  run_test([]() -> gyre::task<> {
    udp_socket server = here();
    udp_socket stranger = here();
    udp_socket client = udp_socket::connected(server.local_address());
    EXPECT_EQ(client.peer_address(), server.local_address());
    co_await stranger.send_to("psst", client.local_address());
    co_await client.send("question");
    std::array<std::byte, 64> buffer;
    const auto question = co_await server.receive_from(buffer);
    co_await server.send_to("answer", question.from);
    co_await expect_text(client, "answer");
  });
}

TEST(udp_socket, send_needs_an_address_on_a_socket_that_has_no_peer) {
  run_test([]() -> gyre::task<> {
    udp_socket a = here();
    const auto sent = co_await gyre::as_expected(a.send("x"));
    EXPECT_EQ(sent.error(), std::errc::destination_address_required);
  });
}

TEST(udp_socket, an_error_that_the_network_reports_for_a_send_comes_out_once) {
  run_test([]() -> gyre::task<> {
    for (const bool borrows : {false, true}) {
      const address nobody = udp_socket::bind(own_loopback()).local_address();
      udp_socket client = udp_socket::connected(nobody);
      co_await client.send("x");
      std::string text;
      if (borrows)
        text = co_await error_of(client.receive());
      else
        text = co_await error_of(receive_text(client));
      EXPECT_EQ(text, borrows ? "receive: Connection refused" : "receive_from: Connection refused");
      udp_socket server = udp_socket::bind(nobody);
      co_await server.send_to("now", client.local_address());
      co_await expect_text(client, "now");
    }
  });
}

TEST(udp_socket, a_datagram_that_is_too_long_is_refused_with_its_size) {
  run_test([]() -> gyre::task<> {
    udp_socket a = here();
    const std::string much(70'000, 'x');
    const address to("127.0.0.1:9");
    const std::string text = co_await error_of(a.send_to(much, to));
    EXPECT_EQ(text, "send_to 127.0.0.1:9, 70000 bytes: Message too long");
  });
}

TEST(udp_socket, a_port_in_use_is_named) {
  run_test([]() -> gyre::task<> {
    const udp_socket a = here();
    EXPECT_EQ(error_of_call([&] { (void)udp_socket::bind(a.local_address()); }),
              "udp " + a.local_address().string() + ": Address already in use");
    co_return;
  });
}

TEST(udp_socket, ipv6_works_the_same) {
  run_test([]() -> gyre::task<> {
    if (!has_ipv6()) co_return;
    udp_socket a = udp_socket::bind("[::1]:0");
    udp_socket b = udp_socket::bind("[::1]:0");
    co_await a.send_to("six", b.local_address());
    const auto datagram = co_await b.receive();
    EXPECT_EQ(datagram.payload.text(), "six");
    EXPECT_EQ(datagram.from, a.local_address());
  });
}

TEST(udp_socket, segments_are_datagrams_of_one_size_and_the_rest) {
  run_test([]() -> gyre::task<> {
    gyre::udp_options options;
    options.receive_buffer_size = 1 << 20;
    udp_socket a = here();
    udp_socket b = here(options);
    const std::vector<std::byte> bytes = pattern(100'000);
    auto sending = gyre::spawn(a.send_segments(bytes, 1200, b.local_address()));
    std::vector<std::byte> heard;
    std::size_t count = 0;
    while (heard.size() < bytes.size()) {
      std::array<std::byte, 2048> buffer;
      const auto datagram = co_await b.receive_from(buffer);
      heard.insert(heard.end(), buffer.begin(), buffer.begin() + static_cast<std::ptrdiff_t>(datagram.size));
      EXPECT_EQ(datagram.size, heard.size() < bytes.size() ? 1200U : 100'000U % 1200U);
      ++count;
    }
    const std::size_t sent = co_await sending;
    EXPECT_EQ(sent, bytes.size());
    EXPECT_EQ(count, 84U);
    EXPECT_EQ(heard, bytes);
  });
}

TEST(udp_socket, coalesced_datagrams_tell_the_size_of_their_parts) {
  run_test([]() -> gyre::task<> {
    gyre::udp_options options;
    options.coalesce = true;
    udp_socket a = here();
    udp_socket b = here(options);
    const std::vector<std::byte> bytes = pattern(12'000);
    (void)co_await a.send_segments(bytes, 1200, b.local_address());
    std::vector<std::byte> buffer(65536);
    std::size_t heard = 0;
    while (heard < bytes.size()) {
      const auto datagram = co_await b.receive_from(buffer);
      EXPECT_TRUE(datagram.size <= 1200 || datagram.segment_size == 1200);
      EXPECT_TRUE(std::equal(buffer.begin(), buffer.begin() + static_cast<std::ptrdiff_t>(datagram.size),
                             bytes.begin() + static_cast<std::ptrdiff_t>(heard)));
      heard += datagram.size;
    }
  });
}

TEST(udp_socket, segments_of_no_size_are_refused) {
  run_test([]() -> gyre::task<> {
    udp_socket a = here();
    const std::vector<std::byte> bytes = pattern(10);
    const std::string text = co_await error_of(a.send_segments(bytes, 0, a.local_address()));
    EXPECT_EQ(text, "send_segments " + a.local_address().string() + ": Invalid argument");
  });
}

TEST(udp_socket, many_tasks_send_at_once) {
  run_test([]() -> gyre::task<> {
    gyre::udp_options options;
    options.receive_buffer_size = 1 << 20;
    udp_socket a = here();
    udp_socket b = here(options);
    const auto send = [](udp_socket& from, address to, int number) -> gyre::task<> {
      const std::string text = std::to_string(number);
      co_await from.send_to(text, to);
    };
    std::vector<gyre::task<>> all;
    for (int i = 0; i < 50; ++i) all.push_back(send(a, b.local_address(), i));
    (void)co_await gyre::gather(std::move(all));
    for (int i = 0; i < 50; ++i) {
      co_await expect_lent_text(b, std::to_string(i));
    }
  });
}

TEST(udp_socket, more_arrivals_than_buffers_stay_in_the_kernel_and_come_later) {
  run_test([]() -> gyre::task<> {
    gyre::udp_options options;
    options.receive_buffer_size = 4 << 20;
    udp_socket a = here();
    udp_socket b = here(options);
    const auto late = co_await gyre::as_expected(gyre::timeout(1ms, b.receive()));
    EXPECT_FALSE(late.has_value());
    for (int i = 0; i < 250; ++i) {
      const std::string text = std::to_string(i);
      co_await a.send_to(text, b.local_address());
    }
    co_await settle();
    for (int i = 0; i < 250; ++i) {
      co_await expect_lent_text(b, std::to_string(i));
    }
  });
}

TEST(udp_socket, from_fd_refuses_a_stream) {
  run_test([]() -> gyre::task<> {
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    EXPECT_EQ(error_of_call([&] { (void)udp_socket::from_fd(fd); }),
              "from_fd " + std::to_string(fd) + ": Protocol wrong type for socket");
    const udp_socket taken = udp_socket::from_fd(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    EXPECT_GE(taken.native_descriptor(), 0);
    co_return;
  });
}

TEST(udp_socket, multicast_reaches_who_joined_the_group) {
  run_test([]() -> gyre::task<> {
    gyre::udp_options options;
    options.interface = "lo";
    udp_socket a = here(options);
    udp_socket b = udp_socket::bind(":0", options);
    const address group = address("239.1.2.3:0").with_port(b.local_address().port());
    b.join_group(group, 1);
    a.set_multicast_hops(1);
    a.set_multicast_loop(true);
    co_await a.send_to("all", group);
    co_await expect_text(b, "all");
    b.leave_group(group, 1);
    EXPECT_EQ(error_of_call([&] { b.leave_group(group, 1); }), "leave_group: Cannot assign requested address");
  });
}

TEST(udp_socket, refuses_negative_buffer_sizes) {
  run_test([]() -> gyre::task<> {
    EXPECT_THROW((void)here({.receive_buffer_size = -1}), std::invalid_argument);
    EXPECT_THROW((void)here({.send_buffer_size = -1}), std::invalid_argument);
    co_return;
  });
}
