// tests/net/tcp_read_test.cpp: read_some, read_exactly and receive of a tcp_stream.
#include <gyre/net/tcp_stream.hpp>

#include "tests/net/connected_pair.hpp"

#include <array>

using namespace gyre_test;

namespace {

gyre::task<> write_in_pieces(gyre::tcp_stream& to, std::span<const std::byte> bytes, std::size_t piece) {
  while (!bytes.empty()) {
    const auto now = bytes.first(std::min(piece, bytes.size()));
    co_await to.write_all(now);
    bytes = bytes.subspan(now.size());
    co_await gyre::yield();
  }
}

}  // namespace

TEST(tcp_read, read_some_takes_no_more_than_the_buffer_holds) {
  run_with_pair([](connected_pair& pair) -> gyre::task<> {
    co_await pair.client.write_all("hello");
    std::array<std::byte, 2> buffer;
    EXPECT_EQ(co_await pair.server.read_some(buffer), 2U);
    EXPECT_EQ(text_of(buffer), "he");
    std::array<std::byte, 8> rest;
    EXPECT_EQ(co_await pair.server.read_some(rest), 3U);
    EXPECT_EQ(text_of(std::span(rest).first(3)), "llo");
  });
}

TEST(tcp_read, read_some_gives_zero_after_the_peer_shut_down_writing) {
  run_with_pair([](connected_pair& pair) -> gyre::task<> {
    co_await pair.client.write_all("last");
    co_await pair.client.shutdown_write();
    std::array<std::byte, 64> buffer;
    EXPECT_EQ(co_await pair.server.read_some(buffer), 4U);
    EXPECT_EQ(co_await pair.server.read_some(buffer), 0U);
    EXPECT_EQ(co_await pair.server.read_some(buffer), 0U);
  });
}

TEST(tcp_read, read_some_into_an_empty_buffer_returns_zero_at_once) {
  run_with_pair([](connected_pair& pair) -> gyre::task<> {
    EXPECT_EQ(co_await pair.server.read_some(std::span<std::byte>()), 0U);
  });
}

TEST(tcp_read, a_reset_by_the_peer_names_the_operation_and_the_peer) {
  for (const bool as_value : {false, true})
    run_with_pair([as_value](connected_pair& pair) -> gyre::task<> {
      const std::string peer = pair.server.peer_address().string();
      pair.client.abort();
      std::array<std::byte, 8> buffer;
      auto reading = pair.server.read_some(buffer);
      if (as_value) {
        const auto n = co_await gyre::as_expected(std::move(reading));
        EXPECT_EQ(code_of(n), std::errc::connection_reset);
      } else {
        const std::string error = co_await error_of(std::move(reading));
        EXPECT_EQ(error, "read_some " + peer + ": Connection reset by peer");
      }
    });
}

TEST(tcp_read, a_timed_out_read_takes_nothing) {
  run_with_pair([](connected_pair& pair) -> gyre::task<> {
    std::array<std::byte, 8> buffer;
    const auto n = co_await gyre::as_expected(gyre::timeout(10ms, pair.server.read_some(buffer)));
    EXPECT_EQ(code_of(n), std::errc::timed_out);
    co_await pair.client.write_all("x");
    EXPECT_EQ(co_await pair.server.read_some(buffer), 1U);
  });
}

TEST(tcp_read, a_timed_out_read_says_which_peer_sent_nothing_and_for_how_long) {
  run_with_pair([](connected_pair& pair) -> gyre::task<> {
    const std::string peer = pair.server.peer_address().string();
    std::array<std::byte, 8> buffer;
    std::string text;
    try {
      (void)co_await gyre::timeout(10ms, pair.server.read_some(buffer));
    } catch (const gyre::timed_out& error) {
      text = error.what();
    }
    EXPECT_EQ(text, "read_some " + peer + ": timed out after 10 ms");
    co_await pair.client.write_all("x");
    auto all = gyre::timeout(10ms, pair.server.read_exactly(buffer));
    EXPECT_EQ(co_await error_of(std::move(all)), "read_exactly " + peer + ": timed out after 10 ms");
  });
}

TEST(tcp_read, data_that_came_in_time_is_not_a_time_out) {
  run_with_pair([](connected_pair& pair) -> gyre::task<> {
    co_await pair.client.write_all("x");
    std::array<std::byte, 8> buffer;
    EXPECT_EQ(co_await gyre::timeout(10s, pair.server.read_some(buffer)), 1U);
  });
}

TEST(tcp_read, a_cancel_during_a_read_takes_nothing_from_the_socket) {
  run_with_pair([](connected_pair& pair) -> gyre::task<> {
    std::array<std::byte, 8> buffer;
    auto read = [&]() -> gyre::task<std::size_t> { co_return co_await pair.server.read_some(buffer); };
    auto reader = gyre::spawn(read);
    co_await settle();
    reader.cancel();
    co_await reader.wait();
    EXPECT_TRUE(reader.state().was_cancelled());
    co_await pair.client.write_all("kept");
    EXPECT_EQ(co_await pair.server.read_some(buffer), 4U);
  });
}

TEST(tcp_read, a_cancel_before_a_read_fails_it_without_touching_the_socket) {
  run_with_pair([](connected_pair& pair) -> gyre::task<> {
    co_await pair.client.write_all("kept");
    co_await settle();
    std::array<std::byte, 8> buffer;
    bool read_failed = false;
    auto read = [&]() -> gyre::task<> {
      try {
        (void)co_await pair.server.read_some(buffer);
      } catch (const gyre::cancelled&) {
        read_failed = true;
        throw;
      }
    };
    auto reader = gyre::spawn([&]() -> gyre::task<> {
      try {
        co_await gyre::sleep(1h);
      } catch (const gyre::cancelled&) {
      }
      co_await read();
    });
    co_await settle();
    reader.cancel();
    co_await reader.wait();
    EXPECT_FALSE(read_failed);  // the task was not even started, because every await in a cancelled scope fails
    EXPECT_EQ(co_await pair.server.read_some(buffer), 4U);
  });
}

TEST(tcp_read, data_that_arrived_first_wins_over_the_cancel) {
  run_with_pair([](connected_pair& pair) -> gyre::task<> {
    std::array<std::byte, 8> buffer;
    std::size_t got = 0;
    gyre::task_handle<void>* victim = nullptr;
    auto read = [&]() -> gyre::task<> { got = co_await pair.server.read_some(buffer); };
    auto reader = gyre::spawn(read);
    victim = &reader;
    co_await settle();
    co_await pair.client.write_all("data");
    victim->cancel();  // the bytes are in the socket; none may be lost, whether or not the loop has seen them
    co_await reader.wait();
    if (got == 0) got = co_await pair.server.read_some(buffer);
    EXPECT_EQ(text_of(std::span(buffer).first(got)), "data");
  });
}

TEST(tcp_read, read_exactly_collects_pieces) {
  run_with_pair([](connected_pair& pair) -> gyre::task<> {
    const auto sent = pattern(300'000);
    std::vector<std::byte> received(sent.size());
    auto both = gyre::gather(write_in_pieces(pair.client, sent, 7'919), pair.server.read_exactly(received));
    const auto results = co_await std::move(both);
    EXPECT_EQ(results.get<1>(), sent.size());
    EXPECT_EQ(received, sent);
  });
}

TEST(tcp_read, a_cancelled_read_exactly_puts_back_what_it_had_read) {
  run_with_pair([](connected_pair& pair) -> gyre::task<> {
    co_await pair.client.write_all("half");
    std::array<std::byte, 8> buffer;
    const auto n = co_await gyre::as_expected(gyre::timeout(20ms, pair.server.read_exactly(buffer)));
    EXPECT_FALSE(n);
    co_await pair.client.write_all("rest");
    EXPECT_EQ(co_await pair.server.read_exactly(buffer), 8U);
    EXPECT_EQ(text_of(buffer), "halfrest");
  });
}

TEST(tcp_read, bytes_that_were_put_back_reach_receive_too) {
  run_with_pair([](connected_pair& pair) -> gyre::task<> {
    co_await pair.client.write_all("half");
    std::array<std::byte, 8> buffer;
    (void)co_await gyre::as_expected(gyre::timeout(20ms, pair.server.read_exactly(buffer)));
    co_await expect_received(pair.server, "half");
  });
}

TEST(tcp_read, receive_lends_the_bytes_that_arrived) {
  run_with_pair([](connected_pair& pair) -> gyre::task<> {
    co_await pair.client.write_all("hello");
    gyre::buffer_lease lease = co_await pair.server.receive();
    EXPECT_EQ(lease.text(), "hello");
    lease.consume(3);
    EXPECT_EQ(lease.text(), "lo");
  });
}

TEST(tcp_read, receive_gives_an_empty_lease_at_the_end_of_the_stream) {
  run_with_pair([](connected_pair& pair) -> gyre::task<> {
    co_await pair.client.write_all("x");
    co_await pair.client.shutdown_write();
    const gyre::buffer_lease first = co_await pair.server.receive();
    EXPECT_EQ(first.text(), "x");
    const gyre::buffer_lease end = co_await pair.server.receive();
    EXPECT_FALSE(end);
    const gyre::buffer_lease again = co_await pair.server.receive();
    EXPECT_FALSE(again);
  });
}

TEST(tcp_read, receive_reports_a_reset) {
  run_with_pair([](connected_pair& pair) -> gyre::task<> {
    pair.client.set_reset_on_close(true);
    co_await pair.client.close();
    const std::string error = co_await error_of(pair.server.receive());
    EXPECT_NE(error.find("receive 127.0.0.1:"), std::string::npos);
    EXPECT_NE(error.find("Connection reset by peer"), std::string::npos);
  });
}

TEST(tcp_read, a_cancelled_receive_keeps_what_arrives_for_the_next_read) {
  run_with_pair([](connected_pair& pair) -> gyre::task<> {
    auto lease = co_await gyre::as_expected(gyre::timeout(10ms, pair.server.receive()));
    EXPECT_FALSE(lease);
    co_await pair.client.write_all("kept");
    std::array<std::byte, 8> buffer;
    EXPECT_EQ(co_await pair.server.read_some(buffer), 4U);
    EXPECT_EQ(text_of(std::span(buffer).first(4)), "kept");
  });
}

TEST(tcp_read, a_slow_consumer_of_receive_holds_a_bounded_number_of_buffers) {
  run_with_pair([](connected_pair& pair) -> gyre::task<> {
    pair.client.set_send_buffer_size(65'536);  // the kernel's default depends on earlier connections
    pair.server.set_receive_buffer_size(65'536);
    (void)co_await gyre::as_expected(gyre::timeout(1ms, pair.server.receive()));
    const auto sent = pattern(4'000'000, 3);
    auto writer = gyre::spawn(write_in_pieces(pair.client, sent, 100'000));
    co_await gyre::sleep(50ms);
    EXPECT_FALSE(writer.done());  // the writer waits, because nobody reads
    std::vector<std::byte> all;
    while (all.size() < sent.size()) {
      const gyre::buffer_lease lease = co_await pair.server.receive();
      if (!lease) break;
      all.insert(all.end(), lease.bytes().begin(), lease.bytes().end());
    }
    co_await writer;
    EXPECT_EQ(all, sent);
  });
}
