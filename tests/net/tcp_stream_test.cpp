// tests/net/tcp_stream_test.cpp: connecting, closing, cancelling and chaining operations of a tcp_stream.
#include <gyre/net/tcp_stream.hpp>

#include "tests/net/connected_pair.hpp"
#include "tests/net/echo.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <memory>

using namespace gyre_test;

TEST(tcp_stream, connect_to_a_port_nobody_listens_on_names_it) {
  run_test([]() -> gyre::task<> {
    auto listener = gyre::tcp_listener::bind(own_loopback());
    const gyre::address nobody = listener.local_address();
    listener.stop();
    co_await settle();
    const std::string error = co_await error_of(gyre::tcp_stream::connect(nobody));
    EXPECT_EQ(error, "connect " + nobody.string() + ": Connection refused");
  });
}

TEST(tcp_stream, both_ends_know_their_addresses) {
  run_with_pair([](connected_pair& pair) -> gyre::task<> {
    EXPECT_EQ(pair.client.local_address().string(), pair.server.peer_address().string());
    EXPECT_EQ(pair.client.peer_address().string(), pair.server.local_address().string());
    co_return;
  });
}

TEST(tcp_stream, a_cancelled_connect_leaves_no_descriptor_behind) {
  run_test([]() -> gyre::task<> {
    // A connect to a listener with a full backlog waits.
    gyre::listen_options small;
    small.backlog = 0;
    auto listener = gyre::tcp_listener::bind("127.0.0.1:0", small);
    const int probe_before = ::dup(0);
    ::close(probe_before);
    std::vector<gyre::task_handle<gyre::tcp_stream>> connecting;
    for (int i = 0; i < 4; ++i) connecting.push_back(gyre::spawn(gyre::tcp_stream::connect(listener.local_address())));
    co_await settle();
    for (auto& each : connecting) each.cancel();
    for (auto& each : connecting) co_await each.wait();
    connecting.clear();
    co_await settle();
    const int probe_after = ::dup(0);
    ::close(probe_after);
    EXPECT_EQ(probe_after, probe_before);
  });
}

TEST(tcp_stream, destroying_a_stream_closes_it_although_a_receive_is_armed) {
  run_with_pair([](connected_pair& pair) -> gyre::task<> {
    (void)co_await gyre::as_expected(gyre::timeout(5ms, pair.server.receive()));
    pair.server = gyre::tcp_stream();
    const gyre::buffer_lease end = co_await gyre::timeout(5s, pair.client.receive());
    EXPECT_FALSE(end);
  });
}

TEST(tcp_stream, close_ends_operations_that_wait_with_operation_canceled) {
  run_with_pair([](connected_pair& pair) -> gyre::task<> {
    auto reader = gyre::spawn([&]() -> gyre::task<std::string> {
      std::array<std::byte, 8> buffer;
      const auto n = co_await gyre::as_expected(pair.server.read_some(buffer));
      co_return n ? "read" : n.error().message();
    });
    const auto large = pattern(50'000'000);
    auto writer = gyre::spawn([&]() -> gyre::task<std::string> {
      const auto n = co_await gyre::as_expected(pair.server.write_all(large));
      co_return n ? "written" : n.error().message();
    });
    co_await settle();
    co_await pair.server.close();
    EXPECT_EQ(co_await reader, std::make_error_code(std::errc::operation_canceled).message());
    EXPECT_EQ(co_await writer, std::make_error_code(std::errc::operation_canceled).message());
    EXPECT_FALSE(pair.server.is_open());
  });
}

TEST(tcp_stream, cancel_ends_a_receive_and_the_stream_stays_usable) {
  run_with_pair([](connected_pair& pair) -> gyre::task<> {
    auto reader = gyre::spawn([&]() -> gyre::task<bool> {
      const auto lease = co_await gyre::as_expected(pair.server.receive());
      co_return !lease && lease.error() == std::errc::operation_canceled;
    });
    co_await settle();
    pair.server.cancel();
    EXPECT_TRUE(co_await reader);
    co_await pair.client.write_all("on");
    co_await expect_received(pair.server, "on");
  });
}

TEST(tcp_stream, a_descriptor_number_that_is_reused_at_once_belongs_to_the_new_connection) {
  run_with_listener([](gyre::tcp_listener& listener) -> gyre::task<> {
    auto connect = [&]() -> gyre::task<connected_pair> {
      auto client = co_await gyre::tcp_stream::connect(listener.local_address());
      auto server = co_await listener.accept();
      co_return connected_pair{std::move(client), std::move(server)};
    };
    int reused = 0;
    for (int round = 0; round < 50; ++round) {
      auto pair = co_await connect();
      (void)co_await gyre::as_expected(gyre::timeout(std::chrono::microseconds(50), pair.server.receive()));
      const int number = pair.server.native_descriptor();
      co_await pair.server.close();
      auto next = co_await connect();
      if (next.client.native_descriptor() == number || next.server.native_descriptor() == number) ++reused;
      co_await next.client.write_all("new");
      const gyre::buffer_lease lease = co_await gyre::timeout(5s, next.server.receive());
      EXPECT_EQ(lease.text(), "new");
    }
    EXPECT_GT(reused, 10);
  });
}

TEST(tcp_stream, from_fd_takes_over_a_foreign_socket) {
  run_test([]() -> gyre::task<> {
    int ends[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    auto a = gyre::tcp_stream::from_fd(ends[0]);
    auto b = gyre::tcp_stream::from_fd(ends[1]);
    co_await a.write_all("over");
    co_await expect_received(b, "over");
  });
}

TEST(tcp_stream, ten_thousand_resets_in_a_row_disturb_nobody_else) {
  run_test([]() -> gyre::task<> {
    auto echo = [](gyre::tcp_stream peer) -> gyre::task<> {
      while (const gyre::buffer_lease lease = co_await peer.receive()) co_await peer.write_all(lease.bytes());
    };
    test_server server(echo);
    auto steady = co_await server.connect();
    constexpr int batch = 100;
    for (int done = 0; done < 10'000; done += batch) {
      std::vector<gyre::tcp_stream> streams;
      for (int i = 0; i < batch; ++i) {
        streams.push_back(co_await server.connect());
        streams.back().set_reset_on_close(true);
        if (i % 2 == 0) co_await streams.back().write_all("x");
      }
      streams.clear();
      co_await steady.write_all("ping");
      std::array<std::byte, 4> reply;
      co_await gyre::timeout(10s, steady.read_exactly(reply));
    }
    co_await steady.close();
    co_await server.stop();
  });
}

// ---- chains

TEST(tcp_chain, the_second_operation_starts_after_the_first_has_fully_succeeded) {
  run_with_pair([](connected_pair& pair) -> gyre::task<> {
    auto echo = gyre::spawn([&]() -> gyre::task<> {
      const gyre::buffer_lease lease = co_await pair.server.receive();
      co_await pair.server.write_all(lease.bytes());
    });
    std::array<std::byte, 4> reply;
    const std::size_t n = co_await (pair.client.write_all("ping") && pair.client.read_exactly(reply));
    EXPECT_EQ(n, 4U);
    EXPECT_EQ(text_of(reply), "ping");
    co_await echo;
  });
}

TEST(tcp_chain, a_failure_of_the_first_leaves_the_second_unstarted) {
  run_with_pair([](connected_pair& pair) -> gyre::task<> {
    co_await pair.server.close();
    std::array<std::byte, 4> buffer;
    // The first operation reads the end of the stream, and so less than was requested.
    const auto result = co_await gyre::as_expected(pair.client.read_exactly(buffer) && pair.client.write_all("never"));
    EXPECT_EQ(code_of(result), gyre::stream_errc::end_of_stream);
  });
}

TEST(tcp_chain, a_short_first_transfer_breaks_the_chain) {
  run_with_pair([](connected_pair& pair) -> gyre::task<> {
    const auto large = pattern(50'000'000);
    std::array<std::byte, 4> buffer;
    const auto result = co_await gyre::as_expected(pair.client.write_some(large) && pair.client.read_exactly(buffer));
    EXPECT_EQ(code_of(result), std::errc::operation_canceled);
  });
}

TEST(tcp_chain, a_time_out_inside_a_chain_ends_the_chain_there) {
  run_with_pair([](connected_pair& pair) -> gyre::task<> {
    std::array<std::byte, 4> buffer;
    const auto result = co_await gyre::as_expected(pair.client.write_all("ping") &&
                                                   gyre::timeout(pair.client.read_exactly(buffer), 20ms) &&
                                                   pair.client.write_all("never"));
    EXPECT_EQ(code_of(result), std::errc::timed_out);
    std::array<std::byte, 8> seen;
    EXPECT_EQ(co_await pair.server.read_some(seen), 4U);
    const auto more = co_await gyre::as_expected(gyre::timeout(20ms, pair.server.read_some(seen)));
    EXPECT_FALSE(more);
  });
}

TEST(tcp_chain, cancelling_a_chain_cancels_what_runs_and_starts_nothing_more) {
  run_with_pair([](connected_pair& pair) -> gyre::task<> {
    std::array<std::byte, 4> buffer;
    auto chain = gyre::spawn(
        [&]() -> gyre::task<> { co_await (pair.client.read_exactly(buffer) && pair.client.write_all("never")); });
    co_await settle();
    chain.cancel();
    co_await chain.wait();
    EXPECT_TRUE(chain.state().was_cancelled());
    std::array<std::byte, 8> seen;
    const auto more = co_await gyre::as_expected(gyre::timeout(20ms, pair.server.read_some(seen)));
    EXPECT_FALSE(more);
  });
}

// ---- shutting down a loop

TEST(tcp_stream, a_loop_that_ends_with_everything_in_flight_cancels_and_frees_all_of_it) {
  std::vector<std::byte> large = pattern(50'000'000);
  auto body = [&]() -> gyre::task<> {
    auto listener = std::make_shared<gyre::tcp_listener>(gyre::tcp_listener::bind("127.0.0.1:0"));
    auto accepting = gyre::spawn([listener]() -> gyre::task<> { (void)co_await listener->accept(); });
    accepting.detach();
    for (int i = 0; i < 20; ++i) {
      auto pair = std::make_shared<connected_pair>(co_await connect_pair());
      gyre::spawn([pair]() -> gyre::task<> { (void)co_await pair->server.receive(); }).detach();
      gyre::spawn([pair, &large]() -> gyre::task<> { co_await pair->server.write_all(large); }).detach();
      gyre::spawn([pair]() -> gyre::task<> {
        co_await pair->client.shutdown_write();
        co_await gyre::sleep(1h);
      }).detach();
    }
    co_await settle();
  };
  EXPECT_NO_THROW(gyre::run(body));
}
