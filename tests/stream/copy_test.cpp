// tests/stream/copy_test.cpp: copies between streams, and streams of any type.
#include <gyre/stream/any_stream.hpp>
#include <gyre/stream/copy.hpp>
#include <gyre/stream/memory_stream.hpp>
#include <gyre/testing/cancel_at_every_await.hpp>

#include "tests/stream/stream_ends.hpp"
#include "tests/stream/stream_text.hpp"
#include "tests/support/turns_of_others.hpp"
#include "tests/support/virtual_run.hpp"

#include <array>
#include <span>
#include <stdexcept>
#include <string>

using namespace gyre_test;

TEST(copy, moves_everything_and_counts_it) {
  run_virtual([]() -> gyre::task<> {
    gyre::memory_pair from(10);
    gyre::memory_pair to(10);
    auto all = gyre::gather(write_and_end(from.first, numbers(200)), gyre::copy_to_end(from.second, to.first),
                            read_all(to.second));
    auto results = co_await std::move(all);
    EXPECT_EQ(results.get<1>(), numbers(200).size());
    EXPECT_EQ(results.get<2>(), numbers(200));
  });
}

TEST(copy_bidirectional, passes_bytes_and_ends_both_ways) {
  run_virtual([]() -> gyre::task<> {
    gyre::memory_pair client(10);
    gyre::memory_pair server(10);
    auto all =
        gyre::gather(gyre::copy_bidirectional(client.second, server.first), write_and_end(client.first, numbers(100)),
                     write_and_end(server.second, numbers(50)), read_all(client.first), read_all(server.second));
    auto results = co_await std::move(all);
    EXPECT_EQ(results.get<0>().first_to_second, numbers(100).size());
    EXPECT_EQ(results.get<0>().second_to_first, numbers(50).size());
    EXPECT_EQ(results.get<3>(), numbers(50));
    EXPECT_EQ(results.get<4>(), numbers(100));
  });
}

TEST(copy_bidirectional, passes_a_reset_on) {
  run_virtual([]() -> gyre::task<> {
    gyre::memory_pair client(10);
    gyre::memory_pair server(10);
    auto copying = gyre::spawn(gyre::copy_bidirectional(client.second, server.first));
    (void)co_await server.second.write_all(bytes("part"));
    server.second.abort();
    EXPECT_EQ(co_await error_of(std::move(copying)), reset_by_peer);
    std::array<std::byte, 10> buffer;
    EXPECT_EQ(co_await client.first.read_some(buffer), 4U);
    EXPECT_EQ(co_await error_of(client.first.read_some(buffer)), reset_by_peer);
  });
}

TEST(copy_bidirectional, that_is_cancelled_aborts_both_streams) {
  run_virtual([]() -> gyre::task<> {
    gyre::memory_pair client(10);
    gyre::memory_pair server(10);
    EXPECT_TRUE(co_await is_cancelled_after(1ms, gyre::copy_bidirectional(client.second, server.first)));
    EXPECT_EQ(co_await error_of(read_all(client.first)), reset_by_peer);
    EXPECT_EQ(co_await error_of(read_all(server.second)), reset_by_peer);
  });
}

TEST(copy_bidirectional, ends_with_the_error_of_a_stream_that_cannot_be_aborted) {
  struct failing {
    gyre::task<std::size_t> read_some(std::span<std::byte>) {
      throw std::runtime_error("no more");
      co_return 0;
    }
    gyre::task<> write_all(std::span<const std::byte>) { co_return; }
    gyre::task<> shutdown_write() { co_return; }
  };
  run_virtual([]() -> gyre::task<> {
    gyre::memory_pair client(10);
    failing server;
    EXPECT_EQ(co_await error_of(gyre::copy_bidirectional(client.second, server)), "no more");
    EXPECT_EQ(co_await error_of(read_all(client.first)), reset_by_peer);
  });
}

TEST(any_stream, reads_and_writes_through_the_stream_in_it) {
  run_virtual([]() -> gyre::task<> {
    gyre::memory_pair pair(10);
    gyre::any_stream first(std::move(pair.first));
    gyre::any_stream second(std::move(pair.second));
    auto write = [&]() -> gyre::task<> {
      co_await first.write_all(bytes("through any_stream"));
      co_await first.shutdown_write();
    };
    auto both = gyre::gather(write(), read_all(second));
    EXPECT_EQ((co_await std::move(both)).get<1>(), "through any_stream");
    EXPECT_TRUE(first);
    const gyre::any_stream moved(std::move(first));
    EXPECT_FALSE(first);  // NOLINT(bugprone-use-after-move): that is the contract
  });
}
