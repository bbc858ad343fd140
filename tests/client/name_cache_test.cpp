// tests/client/name_cache_test.cpp: when a client looks for a name, and when it knows its addresses.
#include "tests/client/scripted_server.hpp"

#include <atomic>

using namespace gyre_test;

namespace {

std::atomic<int> lookups = 0;
std::atomic<bool> fails = false;
std::atomic<bool> is_elsewhere = false;

gyre::lookup_result look_up(const std::string& host) {
  ++lookups;
  if (fails) return {.addresses = {}, .error = std::make_error_code(std::errc::host_unreachable)};
  EXPECT_EQ(host, "name.test");
  const auto found = gyre::address::parse(is_elsewhere ? "127.0.0.9:0" : "127.0.0.1:0");
  return {.addresses = {found.value_or(gyre::address())}, .error = {}};
}

http::client_options with_lookup() {
  lookups = 0;
  fails = is_elsewhere = false;
  return {.resolving = {.lookup = look_up}};
}

}  // namespace

TEST(client_names, requests_at_the_same_time_and_later_ones_share_a_lookup) {
  with_server(say_hello, [](scripted_server& server) -> gyre::task<> {
    http::client client(with_lookup());
    std::vector<gyre::task<std::string>> many;
    many.reserve(5);
    for (int i = 0; i < 5; ++i) many.push_back(fetched(client, named(server)));
    const auto texts = co_await gyre::gather(std::move(many));
    for (const std::string& each : texts) EXPECT_EQ(each, "hello");
    EXPECT_EQ(client.counts().opened, 5U);
    client.close_idle();
    EXPECT_EQ(co_await fetched(client, named(server)), "hello");
    EXPECT_EQ(lookups, 1);
  });
}

TEST(client_names, a_lookup_serves_only_for_its_time) {
  with_server(say_hello, [](scripted_server& server) -> gyre::task<> {
    for (const auto age : {0ns, 1ns}) {
      auto options = with_lookup();
      options.limits.names = age;
      http::client client(options);
      for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(co_await fetched(client, named(server)), "hello");
        client.close_idle();
      }
      EXPECT_EQ(lookups, 3);
    }
  });
}

TEST(client_names, a_failure_is_not_kept) {
  with_server(say_hello, [](scripted_server& server) -> gyre::task<> {
    http::client client(with_lookup());
    fails = true;
    const std::string failure = co_await fetched(client, named(server));
    EXPECT_NE(failure.find("resolve name.test"), std::string::npos) << failure;
    fails = false;
    EXPECT_EQ(co_await fetched(client, named(server)), "hello");
    EXPECT_EQ(lookups, 2);
  });
}

TEST(client_names, a_name_whose_addresses_do_not_work_is_looked_for_again) {
  with_server(say_hello, [](scripted_server& server) -> gyre::task<> {
    http::client client(with_lookup());
    is_elsewhere = true;
    const std::string failure = co_await fetched(client, named(server));
    EXPECT_NE(failure.find("Connection refused"), std::string::npos) << failure;
    is_elsewhere = false;
    EXPECT_EQ(co_await fetched(client, named(server)), "hello");
    EXPECT_EQ(lookups, 2);
  });
}

TEST(client_names, a_lookup_that_is_cancelled_leaves_the_others_their_own) {
  with_server(say_hello, [](scripted_server& server) -> gyre::task<> {
    http::client client(with_lookup());
    auto first = gyre::spawn(fetched(client, named(server)));
    auto second = gyre::spawn(fetched(client, named(server)));
    co_await gyre::yield();
    first.cancel();
    co_await first.wait();
    EXPECT_EQ(co_await second, "hello");
  });
}
