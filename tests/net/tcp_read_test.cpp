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

TEST(tcp_read, read_some_gives_what_has_arrived) {
  run_test([]() -> gyre::task<> {
    auto pair = co_await connect_pair();
    co_await pair.client.write_all("hello");
    std::array<std::byte, 64> buffer;
    const std::size_t n = co_await pair.server.read_some(buffer);
    EXPECT_EQ(text_of(std::span(buffer).first(n)), "hello");
  });
}

TEST(tcp_read, read_some_takes_no_more_than_the_buffer_holds) {
  run_test([]() -> gyre::task<> {
    auto pair = co_await connect_pair();
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
  run_test([]() -> gyre::task<> {
    auto pair = co_await connect_pair();
    co_await pair.client.write_all("last");
    co_await pair.client.shutdown_write();
    std::array<std::byte, 64> buffer;
    EXPECT_EQ(co_await pair.server.read_some(buffer), 4U);
    EXPECT_EQ(co_await pair.server.read_some(buffer), 0U);
    EXPECT_EQ(co_await pair.server.read_some(buffer), 0U);
  });
}

TEST(tcp_read, read_some_into_an_empty_buffer_returns_zero_at_once) {
  run_test([]() -> gyre::task<> {
    auto pair = co_await connect_pair();
    EXPECT_EQ(co_await pair.server.read_some(std::span<std::byte>()), 0U);
  });
}

TEST(tcp_read, a_reset_by_the_peer_names_the_operation_and_the_peer) {
  run_test([]() -> gyre::task<> {
    auto pair = co_await connect_pair();
    const std::string peer = pair.server.peer_address().string();
    pair.client.set_reset_on_close(true);
    co_await pair.client.close();
    std::array<std::byte, 8> buffer;
    const std::string error = co_await error_of(pair.server.read_some(buffer));
    EXPECT_EQ(error, "read_some " + peer + ": Connection reset by peer");
  });
}

TEST(tcp_read, as_expected_gives_the_error_as_a_value) {
  run_test([]() -> gyre::task<> {
    auto pair = co_await connect_pair();
    pair.client.set_reset_on_close(true);
    co_await pair.client.close();
    std::array<std::byte, 8> buffer;
    const auto n = co_await gyre::as_expected(pair.server.read_some(buffer));
    EXPECT_FALSE(n);
    if (!n) EXPECT_EQ(n.error(), std::errc::connection_reset);
  });
}

TEST(tcp_read, a_timed_out_read_takes_nothing) {
  run_test([]() -> gyre::task<> {
    auto pair = co_await connect_pair();
    std::array<std::byte, 8> buffer;
    const auto n = co_await gyre::as_expected(gyre::timeout(10ms, pair.server.read_some(buffer)));
    EXPECT_FALSE(n);
    if (!n) EXPECT_EQ(n.error(), std::errc::timed_out);
    co_await pair.client.write_all("x");
    EXPECT_EQ(co_await pair.server.read_some(buffer), 1U);
  });
}

TEST(tcp_read, a_timed_out_read_throws_timed_out_when_it_is_awaited_plainly) {
  run_test([]() -> gyre::task<> {
    auto pair = co_await connect_pair();
    std::array<std::byte, 8> buffer;
    bool timed_out = false;
    try {
      (void)co_await gyre::timeout(10ms, pair.server.read_some(buffer));
    } catch (const gyre::timed_out&) {
      timed_out = true;
    }
    EXPECT_TRUE(timed_out);
  });
}

TEST(tcp_read, a_timed_out_read_says_which_peer_sent_nothing_and_for_how_long) {
  run_test([]() -> gyre::task<> {
    auto pair = co_await connect_pair();
    const std::string peer = pair.server.peer_address().string();
    std::array<std::byte, 8> buffer;
    auto some = gyre::timeout(10ms, pair.server.read_some(buffer));
    EXPECT_EQ(co_await error_of(std::move(some)), "read_some " + peer + ": timed out after 10 ms");
    co_await pair.client.write_all("x");
    auto all = gyre::timeout(10ms, pair.server.read_exactly(buffer));
    EXPECT_EQ(co_await error_of(std::move(all)), "read_exactly " + peer + ": timed out after 10 ms");
  });
}

TEST(tcp_read, data_that_came_in_time_is_not_a_time_out) {
  run_test([]() -> gyre::task<> {
    auto pair = co_await connect_pair();
    co_await pair.client.write_all("x");
    std::array<std::byte, 8> buffer;
    EXPECT_EQ(co_await gyre::timeout(10s, pair.server.read_some(buffer)), 1U);
  });
}

TEST(tcp_read, a_cancel_during_a_read_takes_nothing_from_the_socket) {
  run_test([]() -> gyre::task<> {
    auto pair = co_await connect_pair();
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
  run_test([]() -> gyre::task<> {
    auto pair = co_await connect_pair();
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
  run_test([]() -> gyre::task<> {
    auto pair = co_await connect_pair();
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
  run_test([]() -> gyre::task<> {
    auto pair = co_await connect_pair();
    const auto sent = pattern(300'000);
    std::vector<std::byte> received(sent.size());
    auto both = gyre::gather(write_in_pieces(pair.client, sent, 7'919), pair.server.read_exactly(received));
    const auto results = co_await std::move(both);
    EXPECT_EQ(results.get<1>(), sent.size());
    EXPECT_EQ(received, sent);
  });
}

TEST(tcp_read, read_exactly_says_how_much_came_before_the_end) {
  run_test([]() -> gyre::task<> {
    auto pair = co_await connect_pair();
    co_await pair.client.write_all("abc");
    co_await pair.client.close();
    std::array<std::byte, 8> buffer;
    std::size_t transferred = 0;
    try {
      (void)co_await pair.server.read_exactly(buffer);
    } catch (const gyre::incomplete_transfer& error) {
      transferred = error.transferred();
      EXPECT_EQ(error.code(), gyre::stream_errc::end_of_stream);
    }
    EXPECT_EQ(transferred, 3U);
    EXPECT_EQ(text_of(std::span(buffer).first(3)), "abc");
  });
}

TEST(tcp_read, a_cancelled_read_exactly_puts_back_what_it_had_read) {
  run_test([]() -> gyre::task<> {
    auto pair = co_await connect_pair();
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
  run_test([]() -> gyre::task<> {
    auto pair = co_await connect_pair();
    co_await pair.client.write_all("half");
    std::array<std::byte, 8> buffer;
    (void)co_await gyre::as_expected(gyre::timeout(20ms, pair.server.read_exactly(buffer)));
    const gyre::buffer_lease lease = co_await pair.server.receive();
    EXPECT_EQ(lease.text(), "half");
  });
}

TEST(tcp_read, receive_lends_the_bytes_that_arrived) {
  run_test([]() -> gyre::task<> {
    auto pair = co_await connect_pair();
    co_await pair.client.write_all("hello");
    gyre::buffer_lease lease = co_await pair.server.receive();
    EXPECT_EQ(lease.text(), "hello");
    lease.consume(3);
    EXPECT_EQ(lease.text(), "lo");
  });
}

TEST(tcp_read, receive_gives_an_empty_lease_at_the_end_of_the_stream) {
  run_test([]() -> gyre::task<> {
    auto pair = co_await connect_pair();
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
  run_test([]() -> gyre::task<> {
    auto pair = co_await connect_pair();
    pair.client.set_reset_on_close(true);
    co_await pair.client.close();
    const std::string error = co_await error_of(pair.server.receive());
    EXPECT_NE(error.find("receive 127.0.0.1:"), std::string::npos);
    EXPECT_NE(error.find("Connection reset by peer"), std::string::npos);
  });
}

TEST(tcp_read, a_cancelled_receive_keeps_what_arrives_for_the_next_read) {
  run_test([]() -> gyre::task<> {
    auto pair = co_await connect_pair();
    auto lease = co_await gyre::as_expected(gyre::timeout(10ms, pair.server.receive()));
    EXPECT_FALSE(lease);
    co_await pair.client.write_all("kept");
    std::array<std::byte, 8> buffer;
    EXPECT_EQ(co_await pair.server.read_some(buffer), 4U);
    EXPECT_EQ(text_of(std::span(buffer).first(4)), "kept");
  });
}

TEST(tcp_read, receive_read_some_and_read_exactly_can_be_mixed) {
  run_test([]() -> gyre::task<> {
    auto pair = co_await connect_pair();
    const auto sent = pattern(200'000, 7);
    auto reading = [&]() -> gyre::task<std::vector<std::byte>> {
      std::vector<std::byte> all;
      std::array<std::byte, 1000> buffer;
      for (int turn = 0; all.size() < sent.size(); ++turn) {
        if (turn % 3 == 0) {
          const gyre::buffer_lease lease = co_await pair.server.receive();
          all.insert(all.end(), lease.bytes().begin(), lease.bytes().end());
        } else {
          const std::span<std::byte> part = std::span(buffer).first(std::min(buffer.size(), sent.size() - all.size()));
          std::size_t n = 0;
          if (turn % 3 == 1)
            n = co_await pair.server.read_some(part);
          else
            n = co_await pair.server.read_exactly(part);
          all.insert(all.end(), part.begin(), part.begin() + static_cast<std::ptrdiff_t>(n));
        }
      }
      co_return all;
    };
    auto both = gyre::gather(write_in_pieces(pair.client, sent, 3'001), reading());
    auto results = co_await std::move(both);
    EXPECT_EQ(results.get<1>(), sent);
  });
}

TEST(tcp_read, a_slow_consumer_of_receive_holds_a_bounded_number_of_buffers) {
  run_test([]() -> gyre::task<> {
    auto pair = co_await connect_pair();
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

namespace {

gyre::run_options with_four_buffers() {
  gyre::run_options options;
  options.loop.backend.buffer_count = 4;
  options.loop.backend.buffer_size = 1024;
  return options;
}

}  // namespace

TEST(tcp_read, leases_that_are_kept_keep_no_other_connection_from_receiving) {
  auto body = []() -> gyre::task<> {
    auto first = co_await connect_pair();
    auto second = co_await connect_pair();
    const std::vector<std::byte> sent = pattern(8192);
    co_await first.client.write_all(std::span<const std::byte>(sent));
    std::vector<gyre::buffer_lease> held;
    std::vector<std::byte> all;
    while (all.size() < sent.size()) {
      held.push_back(co_await first.server.receive());
      all.insert(all.end(), held.back().bytes().begin(), held.back().bytes().end());
    }
    EXPECT_EQ(all, sent);
    co_await second.client.write_all("there is room");
    const gyre::buffer_lease lease = co_await gyre::timeout(20s, second.server.receive());
    EXPECT_EQ(lease.text(), "there is room");
  };
  EXPECT_NO_THROW(gyre::run(body, with_four_buffers()));
}

TEST(tcp_read, connections_that_nobody_reads_keep_no_other_from_receiving_and_lose_nothing) {
  auto body = []() -> gyre::task<> {
    const std::vector<std::byte> sent = pattern(20'000);
    std::vector<connected_pair> unread;
    std::vector<std::vector<std::byte>> got(8);
    for (std::vector<std::byte>& each : got) {
      unread.push_back(co_await connect_pair());
      co_await unread.back().client.write_all(std::span<const std::byte>(sent));
      // From now on this stream receives ahead of its reader.
      const gyre::buffer_lease begin = co_await unread.back().server.receive();
      each.assign(begin.bytes().begin(), begin.bytes().end());
    }
    auto other = co_await connect_pair();
    for (int i = 0; i < 100; ++i) {
      co_await other.client.write_all("!");
      const gyre::buffer_lease lease = co_await gyre::timeout(20s, other.server.receive());
      EXPECT_EQ(lease.text(), "!");
    }
    for (std::size_t i = 0; i < got.size(); ++i) {
      while (got[i].size() < sent.size()) {
        const gyre::buffer_lease lease = co_await gyre::timeout(20s, unread[i].server.receive());
        if (!lease) break;
        got[i].insert(got[i].end(), lease.bytes().begin(), lease.bytes().end());
      }
      EXPECT_EQ(got[i], sent);
    }
  };
  EXPECT_NO_THROW(gyre::run(body, with_four_buffers()));
}
