// tests/net/tcp_listener_test.cpp: accepting and serving connections.
#include <gyre/net/tcp_listener.hpp>

#include "tests/net/connected_pair.hpp"
#include "tests/net/echo.hpp"
#include "tests/net/ipv6.hpp"
#include "tests/support/co_assert.hpp"
#include "tests/support/failure_log.hpp"

#include <fcntl.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <optional>
#include <source_location>
#include <stdexcept>

using namespace gyre_test;

namespace {

// The unsent bytes of an accepted connection that accepts no more, because its client does not read.
gyre::task<int> unsent_when_full(std::uint32_t at_most) {
  auto listener = gyre::tcp_listener::bind("127.0.0.1:0", {.max_unsent = at_most});
  auto client = co_await gyre::tcp_stream::connect(listener.local_address());
  auto peer = co_await listener.accept();
  const auto bytes = pattern(16'384);
  while (::send(peer.native_descriptor(), bytes.data(), bytes.size(), MSG_DONTWAIT) > 0) {
  }
  int unsent = 0;
  EXPECT_EQ(::ioctl(peer.native_descriptor(), SIOCOUTQNSD, &unsent), 0);
  co_return unsent;
}

}  // namespace

TEST(tcp_listener, a_port_in_use_is_named_in_the_error) {
  run_test([]() -> gyre::task<> {
    auto first = gyre::tcp_listener::bind("127.0.0.1:0");
    const std::string where = first.local_address().string();
    try {
      auto second = gyre::tcp_listener::bind(where);
      ADD_FAILURE() << "bound twice";
    } catch (const gyre::io_error& error) {
      EXPECT_EQ(std::string(error.what()), "listen " + where + ": Address already in use");
    }
    co_return;
  });
}

TEST(tcp_listener, accept_gives_connections_in_the_order_of_their_coming) {
  run_with_listener([](gyre::tcp_listener& listener) -> gyre::task<> {
    std::vector<gyre::tcp_stream> clients;
    for (int i = 0; i < 10; ++i) clients.push_back(co_await gyre::tcp_stream::connect(listener.local_address()));
    for (int i = 0; i < 10; ++i) {
      auto peer = co_await listener.accept();
      EXPECT_EQ(peer.peer_address().string(), clients[static_cast<std::size_t>(i)].local_address().string());
    }
  });
}

TEST(tcp_listener, several_tasks_may_wait_in_accept) {
  run_with_listener([](gyre::tcp_listener& listener) -> gyre::task<> {
    auto one = [&]() -> gyre::task<> { (void)co_await listener.accept(); };
    auto first = gyre::spawn(one);
    auto second = gyre::spawn(one);
    auto third = gyre::spawn(one);
    co_await settle();
    second.cancel();
    co_await second.wait();
    auto a = co_await gyre::tcp_stream::connect(listener.local_address());
    auto b = co_await gyre::tcp_stream::connect(listener.local_address());
    co_await first;
    co_await third;
    EXPECT_TRUE(second.state().was_cancelled());
  });
}

TEST(tcp_listener, a_cancelled_accept_loses_no_connection) {
  run_with_listener([](gyre::tcp_listener& listener) -> gyre::task<> {
    const auto none = co_await gyre::as_expected(gyre::timeout(10ms, listener.accept()));
    EXPECT_FALSE(none);
    auto client = co_await gyre::tcp_stream::connect(listener.local_address());
    auto peer = co_await gyre::timeout(5s, listener.accept());
    EXPECT_TRUE(peer.is_open());
  });
}

TEST(tcp_listener, a_connection_whose_accept_loses_a_race_is_the_next_one_again) {
  run_with_listener([](gyre::tcp_listener& listener) -> gyre::task<> {
    std::vector<gyre::tcp_stream> clients;
    for (int i = 0; i < 3; ++i) clients.push_back(co_await gyre::tcp_stream::connect(listener.local_address()));
    (void)co_await listener.accept();  // the others are accepted meanwhile
    co_await settle();
    gyre::event over;
    over.set();
    for (int i = 0; i < 2; ++i) {
      auto race = gyre::race(over.wait(), listener.accept());
      EXPECT_EQ((co_await std::move(race)).index, 0U);
    }
    for (std::size_t i = 1; i < clients.size(); ++i) {
      auto peer = co_await gyre::timeout(5s, listener.accept());
      EXPECT_EQ(peer.peer_address().string(), clients[i].local_address().string());
      co_await clients[i].write_all("ping");
      std::array<std::byte, 4> received;
      co_await peer.read_exactly(received);
      EXPECT_EQ(text_of(received), "ping");
    }
  });
}

TEST(tcp_listener, a_connection_whose_accept_loses_a_race_is_closed_with_its_listener) {
  run_test([]() -> gyre::task<> {
    for (const bool destroyed : {false, true}) {
      std::optional<gyre::tcp_listener> listener = gyre::tcp_listener::bind("127.0.0.1:0");
      auto client = co_await gyre::tcp_stream::connect(listener->local_address());
      const auto end_listener = [&]() -> gyre::task<> {
        co_await settle();
        if (destroyed)
          listener.reset();
        else
          listener->stop();
        throw std::runtime_error("failed");
      };
      auto failing = gyre::gather(listener->accept(), end_listener());
      EXPECT_THROW(co_await std::move(failing), std::runtime_error);
      std::array<std::byte, 1> buffer;
      const auto end = co_await gyre::as_expected(gyre::timeout(5s, client.read_some(buffer)));
      EXPECT_TRUE(end == 0U || (!end && end.error() == std::errc::connection_reset));
    }
  });
}

TEST(tcp_listener, connections_that_nobody_takes_wait_and_none_is_lost) {
  run_test([]() -> gyre::task<> {
    auto listener = gyre::tcp_listener::bind("127.0.0.1:0", {.backlog = 600});
    std::vector<gyre::tcp_stream> clients;
    clients.push_back(co_await gyre::tcp_stream::connect(listener.local_address()));
    (void)co_await listener.accept();  // from now on connections are accepted as they arrive, up to a limit
    for (int i = 0; i < 500; ++i) clients.push_back(co_await gyre::tcp_stream::connect(listener.local_address()));
    co_await settle();
    for (std::size_t i = 1; i < clients.size(); ++i) {
      const auto peer = co_await listener.accept();
      EXPECT_EQ(peer.peer_address(), clients[i].local_address());
    }
  });
}

TEST(tcp_listener, connections_that_nobody_took_are_closed_with_it) {
  run_test([]() -> gyre::task<> {
    std::vector<gyre::tcp_stream> clients;
    {
      auto listener = gyre::tcp_listener::bind("127.0.0.1:0");
      for (int i = 0; i < 3; ++i) clients.push_back(co_await gyre::tcp_stream::connect(listener.local_address()));
      (void)co_await listener.accept();
      co_await settle();
    }
    for (gyre::tcp_stream& each : clients) {
      std::array<std::byte, 1> buffer;
      const auto n = co_await gyre::as_expected(each.read_some(buffer));
      EXPECT_TRUE(!n || *n == 0);
    }
  });
}

TEST(tcp_listener, for_only_ipv6_leaves_the_port_to_an_ipv4_listener) {
  run_test([]() -> gyre::task<> {
    if (!has_ipv6()) co_return;
    for (int attempt = 1;; ++attempt) {
      const auto six = gyre::tcp_listener::bind("[::]:0", {.only_ipv6 = true});
      try {
        const auto four = gyre::tcp_listener::bind(gyre::address::any_v4(six.local_address().port()));
        EXPECT_EQ(four.local_address().port(), six.local_address().port());
        co_return;
      } catch (const gyre::io_error&) {  // another process may use the port over IPv4
        if (attempt == 50) throw;
      }
    }
  });
}

TEST(tcp_listener, stop_ends_a_waiting_accept_and_frees_the_port) {
  run_test([]() -> gyre::task<> {
    auto listener = gyre::tcp_listener::bind(own_loopback());
    const gyre::address where = listener.local_address();
    auto waiting = gyre::spawn([&]() -> gyre::task<std::string> { co_return co_await error_of(listener.accept()); });
    co_await settle();
    listener.stop();
    EXPECT_EQ(co_await waiting, "accept " + where.string() + ": Operation canceled");
    co_await settle();
    EXPECT_NO_THROW((void)gyre::tcp_listener::bind(where));
  });
}

TEST(tcp_listener, finish_frees_the_port_and_gives_those_who_had_connected_and_then_fails) {
  run_test([]() -> gyre::task<> {
    auto listener = gyre::tcp_listener::bind(own_loopback(), {.backlog = 600});
    const gyre::address where = listener.local_address();
    std::vector<gyre::tcp_stream> clients;
    clients.push_back(co_await gyre::tcp_stream::connect(where));
    (void)co_await listener.accept();
    for (int i = 0; i < 300; ++i) clients.push_back(co_await gyre::tcp_stream::connect(where));
    listener.finish();
    for (std::size_t i = 1; i < clients.size(); ++i) {
      const auto peer = co_await listener.accept();
      EXPECT_EQ(peer.peer_address(), clients[i].local_address());
    }
    EXPECT_EQ(co_await error_of(listener.accept()), "accept " + where.string() + ": Operation canceled");
    EXPECT_NO_THROW((void)gyre::tcp_listener::bind(where));
    listener.finish();
    listener.stop();
  });
}

TEST(tcp_listener, stop_resets_the_connections_that_were_left_by_finish) {
  run_with_listener([](gyre::tcp_listener& listener) -> gyre::task<> {
    auto client = co_await gyre::tcp_stream::connect(listener.local_address());
    listener.finish();
    listener.stop();
    const std::string end = co_await error_of(read_text_to_end(client));
    EXPECT_NE(end.find("Connection reset"), std::string::npos) << end;
    EXPECT_NE(co_await error_of(listener.accept()), "");
  });
}

TEST(tcp_listener, an_accepted_connection_takes_few_bytes_that_cannot_be_sent) {
  run_test([]() -> gyre::task<> {
    constexpr int max_segment_size = 65'536;  // the limit is checked before each segment
    EXPECT_LE(co_await unsent_when_full(100'000), 100'000 + max_segment_size);
    EXPECT_GT(co_await unsent_when_full(1U << 30U), 500'000);
  });
}

TEST(tcp_listener, an_accepted_connection_leaves_a_mebibyte_unsent_unless_told_otherwise) {
  run_with_listener([](gyre::tcp_listener& listener) -> gyre::task<> {
    auto client = co_await gyre::tcp_stream::connect(listener.local_address());
    auto peer = co_await listener.accept();
    int limit = 0;
    socklen_t size = sizeof(limit);
    EXPECT_EQ(::getsockopt(peer.native_descriptor(), IPPROTO_TCP, TCP_NOTSENT_LOWAT, &limit, &size), 0);
    EXPECT_EQ(limit, 1 << 20);
  });
}

TEST(tcp_listener, an_ipv4_client_of_a_listener_for_both_families_has_its_ipv4_address) {
  run_test([]() -> gyre::task<> {
    if (!has_ipv6()) co_return;
    auto listener = gyre::tcp_listener::bind("[::]:0");
    auto client = co_await gyre::tcp_stream::connect(gyre::address::loopback_v4(listener.local_address().port()));
    auto peer = co_await listener.accept();
    EXPECT_EQ(peer.peer_address(), client.local_address());
    EXPECT_EQ(peer.peer_address().host(), "127.0.0.1");
  });
}
