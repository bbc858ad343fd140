// tests/net/tcp_write_test.cpp: write_some, write_all and shutdown_write of a tcp_stream.
#include <gyre/net/tcp_stream.hpp>

#include "tests/net/connected_pair.hpp"

#include <array>
#include <csignal>

#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

using namespace gyre_test;

namespace {

gyre::task<std::vector<std::byte>> read_to_end(gyre::tcp_stream& from) {
  std::vector<std::byte> all;
  while (const gyre::buffer_lease lease = co_await from.receive())
    all.insert(all.end(), lease.bytes().begin(), lease.bytes().end());
  co_return all;
}

// Fills the socket until every write waits. The kernel acknowledges the last bytes some 40 ms late, which makes room
// for a small write again. So the socket stays full only if nothing was in flight before the write that found no room.
gyre::task<std::size_t> fill_socket(gyre::tcp_stream& stream) {
  const auto chunk = pattern(65'536);
  const int fd = stream.native_descriptor();
  std::size_t written = 0;
  for (;;) {
    int queued = 0, unsent = 0;
    EXPECT_EQ(::ioctl(fd, SIOCOUTQ, &queued), 0);
    EXPECT_EQ(::ioctl(fd, SIOCOUTQNSD, &unsent), 0);
    const ssize_t n = ::send(fd, chunk.data(), chunk.size(), MSG_DONTWAIT);
    if (n > 0) {
      written += static_cast<std::size_t>(n);
    } else if (queued > unsent) {
      co_await gyre::sleep(1ms);
    } else {
      co_return written;
    }
  }
}

gyre::task<> discard(gyre::tcp_stream& from, std::size_t bytes) {
  std::array<std::byte, 4096> buffer;
  while (bytes > 0) bytes -= co_await from.read_some(std::span(buffer).first(std::min(bytes, buffer.size())));
}

}  // namespace

TEST(tcp_write, write_all_waits_for_a_slow_reader_and_loses_nothing) {
  run_with_pair([](connected_pair& pair) -> gyre::task<> {
    const auto sent = pattern(8'000'000);
    auto writing = [&]() -> gyre::task<> {
      EXPECT_EQ(co_await pair.client.write_all(sent), sent.size());
      co_await pair.client.shutdown_write();
    };
    auto both = gyre::gather(writing(), read_to_end(pair.server));
    const auto results = co_await std::move(both);
    EXPECT_EQ(results.get<1>(), sent);
  });
}

TEST(tcp_write, write_all_of_nothing_returns_zero_at_once) {
  run_with_pair([](connected_pair& pair) -> gyre::task<> { EXPECT_EQ(co_await pair.client.write_all(""), 0U); });
}

TEST(tcp_write, write_some_gives_a_partial_count_when_the_socket_is_nearly_full) {
  run_with_pair([](connected_pair& pair) -> gyre::task<> {
    const auto sent = pattern(50'000'000);
    const std::size_t n = co_await pair.client.write_some(sent);
    EXPECT_GT(n, 0U);
    EXPECT_LT(n, sent.size());
  });
}

TEST(tcp_write, gathered_writes_of_many_buffers_arrive_in_order) {
  run_with_pair([](connected_pair& pair) -> gyre::task<> {
    const auto sent = pattern(1'000'000, 5);
    std::vector<gyre::io::const_buffer> buffers;
    for (std::size_t at = 0, size = 1; at < sent.size(); size = size * 5 % 30'011 + 1) {
      size = std::min(size, sent.size() - at);
      buffers.push_back({sent.data() + at, size});
      at += size;
    }
    EXPECT_GT(buffers.size(), 64U);
    auto writing = [&]() -> gyre::task<> {
      EXPECT_EQ(co_await pair.client.write_all(std::span<const gyre::io::const_buffer>(buffers)), sent.size());
      co_await pair.client.shutdown_write();
    };
    auto both = gyre::gather(writing(), read_to_end(pair.server));
    const auto results = co_await std::move(both);
    EXPECT_EQ(results.get<1>(), sent);
  });
}

TEST(tcp_write, whole_writes_of_many_tasks_never_interleave) {
  run_with_pair([](connected_pair& pair) -> gyre::task<> {
    constexpr std::size_t writers = 20;
    constexpr std::size_t size = 300'000;
    auto write = [&](std::size_t number) -> gyre::task<> {
      const std::vector<std::byte> message(size, static_cast<std::byte>(number));
      co_await pair.client.write_all(message);
    };
    auto writing = [&]() -> gyre::task<> {
      std::vector<gyre::task<>> tasks;
      for (std::size_t i = 0; i < writers; ++i) tasks.push_back(write(i));
      co_await gyre::gather(std::move(tasks));
      co_await pair.client.shutdown_write();
    };
    auto both = gyre::gather(writing(), read_to_end(pair.server));
    const auto results = co_await std::move(both);
    const auto& all = results.get<1>();
    EXPECT_EQ(all.size(), writers * size);
    for (std::size_t i = 0; i < all.size(); i += size)
      for (std::size_t j = i; j < i + size && j < all.size(); ++j)
        if (all[j] != all[i]) {
          ADD_FAILURE() << "byte " << j << " belongs to another message";
          co_return;
        }
  });
}

TEST(tcp_write, a_writer_waits_while_the_peer_does_not_read) {
  run_with_pair([](connected_pair& pair) -> gyre::task<> {
    const std::size_t filled = co_await fill_socket(pair.client);
    auto write = [&]() -> gyre::task<> { co_await pair.client.write_all("more"); };
    auto writer = gyre::spawn(write);
    co_await settle();
    EXPECT_FALSE(writer.done());
    co_await discard(pair.server, filled);
    co_await writer;
  });
}

TEST(tcp_write, a_write_that_was_cancelled_while_it_waited_its_turn_wrote_nothing) {
  run_with_pair([](connected_pair& pair) -> gyre::task<> {
    const std::size_t filled = co_await fill_socket(pair.client);
    auto first = gyre::spawn([&]() -> gyre::task<> { co_await pair.client.write_all("first"); });
    auto second = gyre::spawn([&]() -> gyre::task<> { co_await pair.client.write_all("second"); });
    auto third = gyre::spawn([&]() -> gyre::task<> { co_await pair.client.write_all("third"); });
    co_await settle();
    second.cancel();
    co_await second.wait();
    EXPECT_TRUE(second.state().was_cancelled());
    co_await discard(pair.server, filled);
    co_await first;
    co_await third;
    std::array<std::byte, 10> buffer;
    co_await pair.server.read_exactly(buffer);
    EXPECT_EQ(text_of(buffer), "firstthird");
  });
}

TEST(tcp_write, close_ends_all_writes_that_wait) {
  run_with_pair([](connected_pair& pair) -> gyre::task<> {
    (void)co_await fill_socket(pair.client);
    std::vector<gyre::task_handle<std::string>> writers;
    for (int i = 0; i < 3; ++i) writers.push_back(gyre::spawn(error_of(pair.client.write_all("more"))));
    co_await settle();
    co_await pair.client.close();
    const std::string where = pair.server.local_address().string();
    for (auto& each : writers) {
      const std::string text = co_await each;
      EXPECT_EQ(text, "write_all " + where + ": Operation canceled");
    }
  });
}

TEST(tcp_write, a_shutdown_that_is_cancelled_while_it_waits_its_turn_lets_the_stream_go_on) {
  run_with_pair([](connected_pair& pair) -> gyre::task<> {
    const std::size_t filled = co_await fill_socket(pair.client);
    auto first = gyre::spawn([&]() -> gyre::task<> { co_await pair.client.write_all("first"); });
    co_await settle();
    const auto late = co_await gyre::as_expected(gyre::timeout(5ms, pair.client.shutdown_write()));
    EXPECT_FALSE(late.has_value());
    co_await discard(pair.server, filled);
    co_await first;
    co_await pair.client.write_all("then");
    std::array<std::byte, 9> buffer;
    co_await pair.server.read_exactly(buffer);
    EXPECT_EQ(text_of(buffer), "firstthen");
  });
}

TEST(tcp_write, after_a_write_all_was_cut_off_the_stream_takes_no_more_writes) {
  run_with_pair([](connected_pair& pair) -> gyre::task<> {
    const auto large = pattern(50'000'000);
    const auto n = co_await gyre::as_expected(gyre::timeout(20ms, pair.client.write_all(large)));
    EXPECT_FALSE(n);
    const auto next = co_await gyre::as_expected(pair.client.write_all("more"));
    EXPECT_EQ(code_of(next), gyre::stream_errc::write_cut_off);
  });
}

TEST(tcp_write, a_cut_off_write_fails_the_writes_that_wait_behind_it) {
  run_with_pair([](connected_pair& pair) -> gyre::task<> {
    const auto large = pattern(50'000'000);
    auto first = gyre::spawn([&]() -> gyre::task<> { co_await pair.client.write_all(large); });
    co_await settle();
    auto second = gyre::spawn([&]() -> gyre::task<> { co_await pair.client.write_all("behind"); });
    co_await settle();
    first.cancel();
    co_await first.wait();
    bool failed = false;
    try {
      co_await second;
    } catch (const gyre::io_error& error) {
      failed = error.code() == gyre::stream_errc::write_cut_off;
    }
    EXPECT_TRUE(failed);
  });
}

TEST(tcp_write, writing_to_a_reset_connection_throws_and_raises_no_signal) {
  run_with_pair([](connected_pair& pair) -> gyre::task<> {
    pair.client.set_reset_on_close(true);
    co_await pair.client.close();
    co_await settle();
    std::string error = co_await error_of(pair.server.write_all("x"));
    if (error.empty()) error = co_await error_of(pair.server.write_all("x"));
    EXPECT_EQ(error.rfind("write_all 127.0.0.1:", 0), 0U) << error;
  });
}

TEST(tcp_write, a_blocked_write_ends_when_the_peer_resets) {
  run_with_pair([](connected_pair& pair) -> gyre::task<> {
    const auto large = pattern(50'000'000);
    auto writer = gyre::spawn([&]() -> gyre::task<> { co_await pair.client.write_all(large); });
    co_await settle();
    pair.server.set_reset_on_close(true);
    co_await pair.server.close();
    bool failed = false;
    try {
      co_await writer;
    } catch (const gyre::incomplete_transfer& error) {
      failed = error.transferred() > 0 && error.transferred() < large.size();
    }
    EXPECT_TRUE(failed);
  });
}

TEST(tcp_write, shutdown_write_takes_its_turn_behind_queued_writes) {
  run_with_pair([](connected_pair& pair) -> gyre::task<> {
    const auto large = pattern(20'000'000);
    auto writer = gyre::spawn([&]() -> gyre::task<> { co_await pair.client.write_all(large); });
    co_await settle();
    auto closer = gyre::spawn([&]() -> gyre::task<> { co_await pair.client.shutdown_write(); });
    const auto all = co_await read_to_end(pair.server);
    co_await writer;
    co_await closer;
    EXPECT_EQ(all, large);
  });
}

TEST(tcp_write, after_shutdown_write_reading_goes_on) {
  run_with_pair([](connected_pair& pair) -> gyre::task<> {
    co_await pair.client.shutdown_write();
    co_await pair.server.write_all("still here");
    co_await expect_received(pair.client, "still here");
  });
}
