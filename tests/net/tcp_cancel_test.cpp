// tests/net/tcp_cancel_test.cpp: cancelling TCP scenarios at each of their steps neither loses, duplicates nor leaks
// anything.
#include <gyre/testing/cancel_at_every_await.hpp>

#include "tests/net/connected_pair.hpp"

#include <array>

using namespace gyre_test;
using gyre::testing::cancel_at_every_await;

namespace {

// True when the bytes that arrived are a prefix of those sent: in order, each once.
bool is_prefix(const std::vector<std::byte>& part, const std::vector<std::byte>& whole) {
  return part.size() <= whole.size() && std::equal(part.begin(), part.end(), whole.begin());
}

}  // namespace

TEST(tcp_cancel, an_echo_cancelled_anywhere_returns_a_prefix_of_what_was_sent) {
  const auto sent = pattern(30'000);
  std::vector<std::byte> received;
  auto scenario = [&]() -> gyre::task<> {
    received.clear();
    auto pair = co_await connect_pair();
    auto echo = [&]() -> gyre::task<> {
      while (const gyre::buffer_lease lease = co_await pair.server.receive())
        co_await pair.server.write_all(lease.bytes());
    };
    auto talk = [&]() -> gyre::task<> {
      for (std::size_t at = 0; at < sent.size(); at += 10'000) {
        co_await pair.client.write_all(std::span(sent).subspan(at, 10'000));
        std::array<std::byte, 10'000> reply;
        co_await pair.client.read_exactly(reply);
        received.insert(received.end(), reply.begin(), reply.end());
      }
      co_await pair.client.shutdown_write();
    };
    auto both = gyre::gather(echo(), talk());
    co_await std::move(both);
  };
  const auto report = cancel_at_every_await(scenario, [&](bool was_cancelled) {
    EXPECT_TRUE(is_prefix(received, sent));
    if (!was_cancelled) EXPECT_EQ(received.size(), sent.size());
  });
  EXPECT_GT(report.cancelled, 5U);
  EXPECT_GT(report.completed, 0U);
}

TEST(tcp_cancel, a_cancelled_read_exactly_leaves_all_bytes_to_the_next_reader) {
  const auto sent = pattern(5'000);
  std::vector<std::byte> received;
  auto scenario = [&]() -> gyre::task<> {
    received.clear();
    gyre::tcp_stream client;
    gyre::tcp_stream server;
    auto connect = [&]() -> gyre::task<> {
      auto pair = co_await connect_pair();
      client = std::move(pair.client);
      server = std::move(pair.server);
    };
    co_await gyre::shield(connect);
    auto write = [&]() -> gyre::task<> {
      for (std::size_t at = 0; at < sent.size(); at += 1'000) {
        co_await client.write_all(std::span(sent).subspan(at, 1'000));
        co_await gyre::yield();
      }
      co_await client.shutdown_write();
    };
    auto read = [&]() -> gyre::task<> {
      std::vector<std::byte> buffer(2'500);
      for (int i = 0; i < 2; ++i) {
        co_await server.read_exactly(buffer);
        received.insert(received.end(), buffer.begin(), buffer.end());
      }
    };
    // The writer is not cancelled. Everything it sends must arrive, in these reads or in those after the cancel.
    auto both = gyre::gather(gyre::as_task(gyre::shield(write)), read());
    auto clean_up = [&]() -> gyre::task<> {
      std::array<std::byte, 700> rest;
      while (const std::size_t n = co_await server.read_some(rest))
        received.insert(received.end(), rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(n));
    };
    std::exception_ptr cancel;
    try {
      co_await std::move(both);
    } catch (const gyre::cancelled&) {
      cancel = std::current_exception();
    }
    if (client.is_open() && received.size() < sent.size()) {
      auto limited = [&]() -> gyre::task<> { co_await gyre::timeout(5s, clean_up); };
      try {
        co_await gyre::shield(limited);
      } catch (const gyre::timed_out&) {
        received.clear();  // the writer never began, so the stream has no end
      }
    }
    if (cancel) std::rethrow_exception(cancel);
  };
  gyre::loop_options virtual_time;
  virtual_time.virtual_time = true;
  const auto report = cancel_at_every_await(
      scenario,
      [&](bool was_cancelled) {
        EXPECT_TRUE(received.empty() || received == sent) << received.size() << " of " << sent.size() << " bytes";
        if (!was_cancelled) EXPECT_EQ(received.size(), sent.size());
      },
      virtual_time);
  EXPECT_GT(report.cancelled, 5U);
}

TEST(tcp_cancel, a_write_all_cancelled_anywhere_delivers_a_prefix) {
  const auto sent = pattern(6'000'000);
  std::vector<std::byte> received;
  auto scenario = [&]() -> gyre::task<> {
    received.clear();
    auto pair = co_await connect_pair();
    auto read = [&]() -> gyre::task<> {
      while (const gyre::buffer_lease lease = co_await pair.server.receive())
        received.insert(received.end(), lease.bytes().begin(), lease.bytes().end());
    };
    auto write = [&]() -> gyre::task<> {
      co_await pair.client.write_all(sent);
      co_await pair.client.shutdown_write();
    };
    auto both = gyre::gather(write(), read());
    co_await std::move(both);
  };
  const auto report = cancel_at_every_await(scenario, [&](bool was_cancelled) {
    EXPECT_TRUE(is_prefix(received, sent));
    if (!was_cancelled) EXPECT_EQ(received.size(), sent.size());
  });
  EXPECT_GT(report.cancelled, 5U);
}

TEST(tcp_cancel, leases_that_are_held_at_a_cancel_go_back_to_the_pool) {
  auto scenario = [&]() -> gyre::task<> {
    auto pair = co_await connect_pair();
    auto& pool = gyre::event_loop::current().backend().buffers();
    co_await pair.client.write_all(std::span<const std::byte>(pattern(20'000)));
    const std::uint32_t before = pool.available();
    std::size_t seen = 0;
    {
      std::vector<gyre::buffer_lease> held;
      while (seen < 20'000) {
        held.push_back(co_await pair.server.receive());
        seen += held.back().size();
      }
    }
    EXPECT_GE(pool.available(), before);
  };
  const auto report = cancel_at_every_await(scenario, [](bool) {});
  EXPECT_GT(report.cancelled, 3U);
}
