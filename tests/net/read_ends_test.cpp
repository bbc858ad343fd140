// tests/net/read_ends_test.cpp: reads that begin, continue and end beside the multishot receive of their stream.
#include <gyre/net/socket_operations.hpp>

#include <gyre/net/unix_stream.hpp>

#include "tests/net/connected_pair.hpp"

#include <fcntl.h>
#include <sys/socket.h>

#include <array>

using namespace gyre_test;

namespace {

/// "ab" with a descriptor, and "cd" after it. Both have arrived before any read.
gyre::task<gyre::unix_stream> bytes_behind_a_descriptor(gyre::unix_stream& peer) {
  auto pair = gyre::unix_stream::pair();
  const gyre::owned_fd nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const std::array<int, 1> one{nothing.get()};
  co_await pair.first.send_descriptors(bytes_of("ab"), one);
  co_await pair.first.write_all("cd");
  peer = std::move(pair.first);
  co_return std::move(pair.second);
}

/// Leaves the multishot receive of the stream armed.
template <class Stream>
gyre::task<> nothing_received(Stream& stream) {
  auto receiving = gyre::as_expected(gyre::timeout(1ms, stream.receive()));
  const auto nothing = co_await std::move(receiving);
  EXPECT_FALSE(nothing.has_value());
}

}  // namespace

TEST(read_ends, a_read_exactly_goes_on_behind_a_descriptor_that_was_passed) {
  run_test([]() -> gyre::task<> {
    gyre::unix_stream peer;
    auto stream = co_await bytes_behind_a_descriptor(peer);
    std::array<char, 4> all{};
    auto reading = stream.read_exactly(std::span<char>(all));
    co_await gyre::timeout(5s, std::move(reading));
    EXPECT_EQ(std::string_view(all.data(), all.size()), "abcd");
  });
}

TEST(read_ends, a_receive_goes_on_behind_a_descriptor_that_was_passed) {
  run_test([]() -> gyre::task<> {
    gyre::unix_stream peer;
    auto stream = co_await bytes_behind_a_descriptor(peer);
    std::string all;
    while (all.size() < 4) {
      auto receiving = stream.receive();
      const auto lease = co_await gyre::timeout(5s, std::move(receiving));
      all += lease.text();
    }
    EXPECT_EQ(all, "abcd");
  });
}

// The bytes arrive while the read waits, and so does the end. Nothing wakes an armed receive for the end.
TEST(read_ends, a_read_exactly_that_waited_for_a_buffer_finds_the_end_behind_the_bytes) {
  gyre::run_options options;
  options.loop.backend.buffer_count = 16;
  const auto body = []() -> gyre::task<> {
    auto greedy = gyre::unix_stream::pair();
    std::vector<gyre::buffer_lease> kept;
    while (kept.size() < 16) {
      co_await greedy.first.write_all("x");
      auto lease = co_await greedy.second.receive();
      kept.push_back(std::move(lease));
    }
    auto pair = gyre::unix_stream::pair();
    co_await nothing_received(pair.second);
    co_await pair.first.write_all("ten bytes.");
    co_await settle();
    std::array<std::byte, 20> buffer;
    auto reading =
        gyre::spawn([&]() -> gyre::task<std::size_t> { co_return co_await pair.second.read_exactly(buffer); });
    co_await settle();
    co_await pair.first.shutdown_write();
    kept.clear();  // now there are free buffers
    std::size_t transferred = 0;
    try {
      co_await gyre::timeout(5s, std::move(reading));
    } catch (const gyre::incomplete_transfer& error) {
      transferred = error.transferred();
    }
    EXPECT_EQ(transferred, 10U);
  };
  EXPECT_NO_THROW(gyre::run(body, options));
}

TEST(read_ends, bytes_that_a_second_reader_would_overtake_stop_the_program) {
  const auto body = []() -> gyre::task<> {
    auto pair = co_await connect_pair();
    co_await nothing_received(pair.server);
    std::array<std::byte, 4> first;
    std::array<std::byte, 4> second;
    auto reading = gyre::spawn([&]() -> gyre::task<> { co_await pair.server.read_exactly(first); });
    co_await pair.client.write_all("ab");
    co_await settle();
    reading.cancel();
    co_await pair.server.read_some(second);
  };
  EXPECT_DEATH(gyre::run(body), "two tasks read from one stream");
}
