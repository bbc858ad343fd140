// tests/http/client_network_test.cpp: which connections are counted together, and which are limited by default.
#include <gyre/http/shared_connection_count.hpp>

#include "src/http/exchange/client_network.hpp"
#include "tests/http/http_client.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

using namespace gyre_test;

namespace {

gyre::address at(const std::string& host) { return gyre::address::parse(host, 4711).value(); }

http::client_network network(const std::string& host) { return http::network_of(at(host)); }

// The status that a client at `from` gets. Its connection stays open in `clients`.
gyre::task<int> connect_from(http::server& server, const gyre::address& from, std::vector<memory_client>& clients) {
  gyre::memory_pair pair(65'536);
  auto serve = [](http::server& here, gyre::any_stream stream, gyre::address peer) -> gyre::task<> {
    co_await here.serve_connection(std::move(stream), peer);
  };
  gyre::spawn(serve(server, gyre::any_stream(std::move(pair.second)), from)).detach();
  clients.emplace_back(std::move(pair.first));
  co_await clients.back().send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  const http_answer answer = co_await clients.back().answer();
  co_return answer.status;
}

// The number of `tried` connections from `host` that are served.
std::size_t served_from(const std::string& host, std::size_t tried, http::server_limits limits = {}) {
  std::size_t served = 0;
  run_virtual([&]() -> gyre::task<> {
    http::server_options options = options_for(says("hello"));
    options.listen.clear();
    options.limits = limits;
    http::server server(std::move(options));
    std::vector<memory_client> clients;
    clients.reserve(tried);
    const gyre::address from = at(host);
    for (std::size_t i = 0; i < tried; ++i) {
      const int status = co_await connect_from(server, from, clients);
      if (status == 200) ++served;
    }
    clients.clear();
    while (server.connections() > 0) co_await gyre::sleep(std::chrono::milliseconds(1));
  });
  return served;
}

}  // namespace

TEST(client_network, one_household_of_ipv6_is_one_client) {
  EXPECT_EQ(network("2001:db8:1:2::1"), network("2001:db8:1:2:ffff:ffff:ffff:ffff"));
  EXPECT_NE(network("2001:db8:1:2::1"), network("2001:db8:1:3::1"));
}

TEST(client_network, an_address_of_ipv4_is_one_client_however_it_is_written) {
  EXPECT_EQ(network("203.0.113.7"), network("::ffff:203.0.113.7"));
  EXPECT_NE(network("203.0.113.7"), network("203.0.113.8"));
  EXPECT_NE(network("::ffff:203.0.113.7"), network("::ffff:203.0.113.8"));
  EXPECT_NE(network("0.0.0.1"), network("::1"));
}

TEST(client_network, private_and_loopback_addresses_are_not_of_the_internet) {
  for (const char* const each :
       {"127.0.0.1", "127.255.255.255", "10.1.2.3", "172.16.0.1", "172.31.255.255", "192.168.1.1", "100.64.0.1",
        "169.254.1.1", "::1", "::ffff:10.0.0.1", "fd12::1", "fc00::1", "fe80::1"})
    EXPECT_FALSE(http::is_of_internet(at(each))) << each;
  for (const char* const each : {"203.0.113.7", "172.15.0.1", "172.32.0.1", "192.169.0.1", "100.128.0.1", "126.0.0.1",
                                 "128.0.0.1", "11.0.0.1", "2001:db8::1", "::ffff:8.8.8.8", "fec0::1", "::2"})
    EXPECT_TRUE(http::is_of_internet(at(each))) << each;
  EXPECT_FALSE(http::is_of_internet(gyre::address()));
}

TEST(shared_connection_count, addresses_of_one_network_share_a_limit) {
  http::shared_connection_count counted;
  EXPECT_TRUE(counted.add(at("2001:db8::1"), 2));
  EXPECT_TRUE(counted.add(at("2001:db8::2"), 2));
  EXPECT_FALSE(counted.add(at("2001:db8::3"), 2));
  EXPECT_TRUE(counted.add(at("2001:db8:0:1::3"), 2));
  counted.remove(at("2001:db8::1"));
  EXPECT_TRUE(counted.add(at("2001:db8::4"), 2));
  EXPECT_FALSE(counted.add(at("203.0.113.7"), 0));
}

TEST(shared_connection_count, many_networks_come_and_go) {
  http::shared_connection_count counted;
  const auto host = [](int i) { return at("2001:db8:" + std::to_string(i) + "::1"); };
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 300; ++i) EXPECT_TRUE(counted.add(host(i), 1));
    for (int i = 0; i < 300; ++i) EXPECT_FALSE(counted.add(host(i), 1));
    for (int i = 0; i < 300; ++i) counted.remove(host(i));
  }
}

TEST(server_limits, a_client_on_the_internet_has_1024_connections_by_default) {
  if (over_tls()) GTEST_SKIP() << "over TLS, a connection too many is closed without an answer";
  EXPECT_EQ(served_from("203.0.113.7", 1030), 1024U);
  EXPECT_EQ(served_from("2001:db8::1", 1030), 1024U);
}

TEST(server_limits, a_proxy_on_a_private_network_has_no_limit_of_its_own_by_default) {
  if (over_tls()) GTEST_SKIP() << "over TLS, a connection too many is closed without an answer";
  EXPECT_EQ(served_from("10.0.0.1", 1030), 1030U);
  EXPECT_EQ(served_from("127.0.0.1", 1030), 1030U);
}

TEST(server_limits, a_limit_per_address_that_is_given_holds_for_every_client) {
  if (over_tls()) GTEST_SKIP() << "over TLS, a connection too many is closed without an answer";
  EXPECT_EQ(served_from("127.0.0.1", 5, {.connections_per_address = 3}), 3U);
  EXPECT_EQ(served_from("203.0.113.7", 5, {.connections_per_address = 3}), 3U);
  EXPECT_EQ(served_from("203.0.113.7", 5, {.connections = 4, .connections_per_address = 100}), 4U);
}
