// tests/net/address_test.cpp: reading, printing and comparing addresses.
#include <gyre/net/address.hpp>

#include <gyre/io/io_error.hpp>

#include <gtest/gtest.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <set>
#include <string>
#include <type_traits>

using gyre::address;

namespace {

std::string message_of(const std::string& text) {
  try {
    (void)address(text);
    return "accepted";
  } catch (const gyre::io_error& error) {
    EXPECT_EQ(error.code(), std::errc::invalid_argument);
    return error.what();
  }
}

sockaddr_in v4_raw(const char* host, std::uint16_t port) {
  const address a(std::string(host) + ":" + std::to_string(port));
  sockaddr_in raw{};
  std::memcpy(&raw, a.data(), a.size());
  return raw;
}

}  // namespace

TEST(address, is_a_small_plain_value) {
  static_assert(sizeof(address) <= 32);
  static_assert(std::is_trivially_copyable_v<address>);
  static_assert(std::is_nothrow_default_constructible_v<address>);
}

TEST(address, the_default_one_is_empty) {
  const address none;
  EXPECT_TRUE(none.empty());
  EXPECT_FALSE(none.is_v4());
  EXPECT_FALSE(none.is_v6());
  EXPECT_EQ(none.size(), 0U);
  EXPECT_EQ(none.port(), 0);
  EXPECT_EQ(none.host(), "");
  EXPECT_EQ(none.string(), "");
  EXPECT_EQ(none, address());
  EXPECT_EQ(none.with_port(80), address());
  EXPECT_EQ(none.with_port(80).port(), 0);
}

TEST(address, reads_ipv4_with_a_port) {
  const address a("127.0.0.1:80");
  EXPECT_TRUE(a.is_v4());
  EXPECT_FALSE(a.is_v6());
  EXPECT_FALSE(a.empty());
  EXPECT_EQ(a.port(), 80);
  EXPECT_EQ(a.host(), "127.0.0.1");
  EXPECT_EQ(a.string(), "127.0.0.1:80");
  EXPECT_EQ(a.size(), sizeof(sockaddr_in));
}

TEST(address, reads_v6_in_brackets) {
  const address a("[::1]:80");
  EXPECT_TRUE(a.is_v6());
  EXPECT_FALSE(a.is_v4());
  EXPECT_EQ(a.port(), 80);
  EXPECT_EQ(a.scope_id(), 0U);
  EXPECT_EQ(a.host(), "::1");
  EXPECT_EQ(a.string(), "[::1]:80");
  EXPECT_EQ(a.size(), sizeof(sockaddr_in6));
}

TEST(address, prints_v6_in_its_shortest_form) {
  EXPECT_EQ(address("[2001:0DB8:0:0:0:0:0:1]:443").string(), "[2001:db8::1]:443");
  EXPECT_EQ(address("[::]:0").string(), "[::]:0");
  EXPECT_EQ(address("[::ffff:10.0.0.7]:1").string(), "[::ffff:10.0.0.7]:1");
  EXPECT_EQ(address("[ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff]:65535").string(),
            "[ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff]:65535");
}

TEST(address, reads_a_scope_by_the_name_of_the_interface_and_by_its_number) {
  const address named("[fe80::1%lo]:80");
  EXPECT_EQ(named.scope_id(), ::if_nametoindex("lo"));
  EXPECT_EQ(named.string(), "[fe80::1%lo]:80");
  EXPECT_EQ(address("[fe80::1%" + std::to_string(::if_nametoindex("lo")) + "]:80"), named);
}

TEST(address, a_scope_whose_interface_is_gone_is_printed_as_a_number) {
  const address a("[fe80::1%4294967295]:80");
  EXPECT_EQ(a.scope_id(), 4'294'967'295U);
  EXPECT_EQ(a.string(), "[fe80::1%4294967295]:80");
  EXPECT_EQ(address(a.string()), a);
}

TEST(address, no_host_and_a_star_mean_any_v4_address) {
  EXPECT_EQ(address(":8080"), address::any_v4(8080));
  EXPECT_EQ(address("*:8080"), address::any_v4(8080));
  EXPECT_EQ(address("*:8080").string(), "0.0.0.0:8080");
}

TEST(address, named_constructors_print_as_expected) {
  EXPECT_EQ(address::any_v4(1).string(), "0.0.0.0:1");
  EXPECT_EQ(address::any_v6(2).string(), "[::]:2");
  EXPECT_EQ(address::loopback_v4(3).string(), "127.0.0.1:3");
  EXPECT_EQ(address::loopback_v6(4).string(), "[::1]:4");
}

TEST(address, ports_go_from_0_to_65535) {
  EXPECT_EQ(address("1.2.3.4:0").port(), 0);
  EXPECT_EQ(address("1.2.3.4:65535").port(), 65'535);
  EXPECT_FALSE(address::parse("1.2.3.4:65536"));
  EXPECT_FALSE(address::parse("1.2.3.4:99999999999999999999"));
}

TEST(address, rejects_a_text_that_is_not_exactly_an_address) {
  const std::string bad[] = {
      "",
      ":",
      "foo",
      "localhost:80",
      "127.0.0.1",
      "127.0.0.1:",
      "127.0.0.1:+80",
      "1.2.3.4:-1",
      "1.2.3.4:080",
      "1.2.3.4:00",
      "1.2.3.4:0x50",
      "1.2.3.4: 80",
      "1.2.3.4:80 ",
      " 1.2.3.4:80",
      "1.2.3.4 :80",
      "1.2.3.4:80/",
      "1.2.3.4:http",
      "1.2.3:80",
      "1.2.3.4.5:80",
      "1.2.3.256:80",
      "01.2.3.4:80",
      "0x7f.1:80",
      "::1:80",
      "::1",
      "[::1]",
      "[::1]:",
      "[::1] :80",
      "[::1]80",
      "x[::1]:80",
      "[::1]x:80",
      "[[::1]]:80",
      "[::1:80",
      "::1]:80",
      "[]:80",
      "[*]:80",
      "[1.2.3.4]:80",
      "[:::]:80",
      "[12345::]:80",
      "[::1%]:80",
      "[::1%nosuchif]:80",
      "[::1%0]:80",
      "[::1%01]:80",
      "[::1%lo%lo]:80",
      "[fe80::1%4294967296]:80",
      "**:80",
      "1.2.3.4%lo:80",
      "1.2.3.4:80:80",
      std::string("1.2.3.4\0:80", 11),
      std::string("1.2.3.4:80\0", 11),
      std::string("[::1\0]:80", 9),
      std::string("[fe80::1%lo\0]:80", 16),
      std::string(1000, '1') + ":80",
      "[" + std::string(1000, ':') + "]:80",
  };
  for (const std::string& text : bad) {
    const auto parsed = address::parse(text);
    EXPECT_FALSE(parsed) << text << " became " << parsed->string();
    if (!parsed) {
      EXPECT_EQ(parsed.error(), std::errc::invalid_argument) << text;
    }
  }
}

TEST(address, the_error_names_the_text_and_says_what_was_expected) {
  for (const std::string text : {"foo", "localhost:80", ""})
    EXPECT_EQ(message_of(text), "address \"" + text +
                                    "\": expected HOST:PORT with a numeric host, such as 127.0.0.1:80, [::1]:80 or "
                                    "*:80: Invalid argument");
}

TEST(address, reads_a_host_apart_from_its_port) {
  EXPECT_EQ(address::parse("127.0.0.1", 80), address::loopback_v4(80));
  EXPECT_EQ(address::parse("::1", 80), address::loopback_v6(80));
  EXPECT_EQ(address::parse("fe80::1%lo", 80), address("[fe80::1%lo]:80"));
  EXPECT_EQ(address::parse("*", 80), address::any_v4(80));
  for (const char* text : {"", "localhost", "[::1]", "127.0.0.1:80", " 127.0.0.1", "127.1"})
    EXPECT_FALSE(address::parse(text, 80)) << text;
}

TEST(address, another_port_keeps_the_host) {
  EXPECT_EQ(address("10.0.0.7:1").with_port(65'535).string(), "10.0.0.7:65535");
  EXPECT_EQ(address("[fe80::1%lo]:1").with_port(2).string(), "[fe80::1%lo]:2");
}

TEST(address, the_host_has_sixteen_bytes_and_a_network) {
  EXPECT_EQ(address("[102:304::f]:1").bytes_v6(),
            (std::array<std::uint8_t, 16>{1, 2, 3, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 15}));
  EXPECT_EQ(address("1.2.3.4:1").bytes_v6(), address("[::ffff:1.2.3.4]:1").bytes_v6());
  EXPECT_EQ(address().bytes_v6(), address("[::]:1").bytes_v6());
  EXPECT_EQ(address("[2001:db8:1:2:3::4]:80").network_v6(8), address("[2001:db8:1:2::]:80"));
  EXPECT_EQ(address("1.2.3.4:80").network_v6(8), address("1.2.3.4:80"));
  EXPECT_EQ(address("[::4]:80").network_v6(17), address("[::4]:80"));
}

TEST(address, an_ipv4_mapped_one_has_an_ipv4_form) {
  EXPECT_EQ(address("[::ffff:1.2.3.4]:80").unmapped(), address("1.2.3.4:80"));
  for (const char* other : {"1.2.3.4:80", "[::1.2.3.4]:80", "[::fffe:1.2.3.4]:80", "[64:ff9b::1.2.3.4]:80"})
    EXPECT_EQ(address(other).unmapped(), address(other));
  EXPECT_TRUE(address().unmapped().empty());
}

TEST(address, reads_the_text_that_it_prints) {
  for (const char* text : {"0.0.0.0:0", "255.255.255.255:65535", "[::]:0", "[fe80::1%lo]:9", "[2001:db8::5]:443"}) {
    EXPECT_EQ(address(text).string(), text);
    EXPECT_EQ(address(address(text).string()), address(text));
  }
}

TEST(address, order_is_family_then_host_then_scope_then_port) {
  const std::set<address> ordered = {
      address("[fe80::1%2]:1"), address("[fe80::1%1]:9"), address("[fe80::1]:9"), address("[::1]:1"),
      address("10.0.0.10:1"),   address("10.0.0.9:512"),  address("10.0.0.9:3"),  address()};
  std::string all;
  for (const address& a : ordered) all += std::to_string(a.scope_id()) + " " + std::to_string(a.port()) + ", ";
  EXPECT_EQ(all, "0 0, 0 3, 0 512, 0 1, 0 1, 0 9, 1 9, 2 1, ");
  EXPECT_LT(address("10.0.0.9:3"), address("10.0.0.9:512"));
  EXPECT_NE(address("10.0.0.9:3"), address("10.0.0.9:4"));
  EXPECT_NE(address::any_v4(80), address::any_v6(80));
}

TEST(address, comes_back_from_its_raw_form) {
  for (const char* text : {"10.0.0.7:80", "[fe80::1%lo]:80"}) {
    const address a(text);
    EXPECT_EQ(address::from_raw(a.data(), a.size()), a);
  }
}

TEST(address, takes_a_longer_buffer_than_needed_as_accept_gives_it) {
  sockaddr_storage storage{};
  const sockaddr_in raw = v4_raw("10.0.0.7", 80);
  std::memcpy(&storage, &raw, sizeof(raw));
  EXPECT_EQ(address::from_raw(&storage, sizeof(storage)).string(), "10.0.0.7:80");
}

TEST(address, is_empty_when_made_from_another_kind_of_socket_address) {
  sockaddr_storage storage{};
  storage.ss_family = AF_UNIX;
  EXPECT_TRUE(address::from_raw(&storage, sizeof(storage)).empty());
  const sockaddr_in raw = v4_raw("10.0.0.7", 80);
  EXPECT_TRUE(address::from_raw(&raw, sizeof(raw) - 1).empty());
  EXPECT_TRUE(address::from_raw(&raw, 1).empty());
  EXPECT_TRUE(address::from_raw(nullptr, 0).empty());
}

TEST(address, padding_and_flow_information_do_not_make_a_difference) {
  sockaddr_in padded = v4_raw("10.0.0.7", 80);
  padded.sin_zero[3] = 7;
  EXPECT_EQ(address::from_raw(&padded, sizeof(padded)), address("10.0.0.7:80"));

  const address plain("[2001:db8::5]:443");
  sockaddr_in6 flowing{};
  std::memcpy(&flowing, plain.data(), plain.size());
  flowing.sin6_flowinfo = 0x1234;
  const address a = address::from_raw(&flowing, sizeof(flowing));
  EXPECT_EQ(a, plain);
  EXPECT_EQ(std::memcmp(a.data(), plain.data(), plain.size()), 0);
}
