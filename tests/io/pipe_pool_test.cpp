// tests/io/pipe_pool_test.cpp: pipes are lent empty, and move bytes from socket to socket.
#include <gyre/io/pipe_pool.hpp>

#include "tests/contract/sockets.hpp"

#include <gtest/gtest.h>

#include <sys/resource.h>

#include <cerrno>
#include <csignal>
#include <string>
#include <vector>

using gyre::io::pipe_pool;
using namespace gyre::contract;

namespace {

/// One end of a connection as the pool sees it, and the other.
struct side {
  explicit side(connection c) : ours(std::move(c.ours)), peer(std::move(c.peer)) {
    descriptor.fd = ours.get();
    descriptor.readable = true;
  }
  owned_fd ours;
  owned_fd peer;
  gyre::io::descriptor descriptor;
};

int pipe_signals = 0;

}  // namespace

TEST(pipe_pool, moves_bytes_from_socket_to_socket) {
  pipe_pool pool;
  side from(tcp_connection());
  side to(unix_connection());
  say(from.peer, "some bytes");
  pipe_pool::pipe* const pipe = pool.take();
  ASSERT_NE(pipe, nullptr);
  EXPECT_EQ(pipe->fill_from(from.descriptor), 10);
  EXPECT_EQ(pipe->bytes(), 10U);
  EXPECT_EQ(pipe->drain_to(to.descriptor), 10);
  EXPECT_EQ(pipe->bytes(), 0U);
  EXPECT_EQ(received_by(to.peer), "some bytes");
  pool.give_back(*pipe);
}

TEST(pipe_pool, takes_no_more_than_it_is_told_to) {
  pipe_pool pool;
  side from(tcp_connection());
  side to(unix_connection());
  say(from.peer, "some bytes");
  pipe_pool::pipe* const pipe = pool.take();
  ASSERT_NE(pipe, nullptr);
  EXPECT_EQ(pipe->fill_from(from.descriptor, 4), 4);
  EXPECT_EQ(pipe->drain_to(to.descriptor), 4);
  EXPECT_EQ(received_by(to.peer), "some");
  EXPECT_EQ(pipe->fill_from(from.descriptor, 100), 6);
  EXPECT_EQ(pipe->drain_to(to.descriptor), 6);
  EXPECT_EQ(received_by(to.peer), " bytes");
  pool.give_back(*pipe);
}

TEST(pipe_pool, finds_out_that_a_socket_is_empty_or_full) {
  pipe_pool pool;
  side from(tcp_connection());
  side to(unix_connection());
  pipe_pool::pipe* const pipe = pool.take();
  ASSERT_NE(pipe, nullptr);
  EXPECT_EQ(pipe->fill_from(from.descriptor), -EAGAIN);
  EXPECT_FALSE(from.descriptor.readable);
  fill(to.ours);
  say(from.peer, "x");
  EXPECT_EQ(pipe->fill_from(from.descriptor), 1);
  EXPECT_EQ(pipe->drain_to(to.descriptor), -EAGAIN);
  EXPECT_FALSE(to.descriptor.writable);
  EXPECT_EQ(pipe->bytes(), 1U);
  pool.give_back(*pipe);
}

TEST(pipe_pool, lends_each_pipe_once_and_not_more_than_there_are) {
  pipe_pool pool;
  std::vector<pipe_pool::pipe*> taken;
  for (std::uint32_t i = 0; i < pipe_pool::max_pipes; ++i) {
    taken.push_back(pool.take());
    ASSERT_NE(taken.back(), nullptr);
    for (std::uint32_t j = 0; j < i; ++j) EXPECT_NE(taken[j], taken[i]);
  }
  EXPECT_EQ(pool.in_use(), pipe_pool::max_pipes);
  EXPECT_EQ(pool.take(), nullptr);
  for (pipe_pool::pipe* each : taken) pool.give_back(*each);
  EXPECT_EQ(pool.in_use(), 0U);
  pipe_pool::pipe* const again = pool.take();
  ASSERT_NE(again, nullptr);
  pool.give_back(*again);
}

TEST(pipe_pool, drops_what_is_left_in_a_pipe_that_is_given_back) {
  pipe_pool pool;
  side from(unix_connection());
  side to(unix_connection());
  say(from.peer, "of a relay that was cancelled");
  pipe_pool::pipe* const first = pool.take();
  ASSERT_NE(first, nullptr);
  EXPECT_GT(first->fill_from(from.descriptor), 0);
  pool.give_back(*first);
  std::vector<pipe_pool::pipe*> taken;
  while (pipe_pool::pipe* const next = pool.take()) {
    taken.push_back(next);
    EXPECT_EQ(next->bytes(), 0U);
    say(from.peer, "next");
    EXPECT_EQ(next->fill_from(from.descriptor), 4);
    EXPECT_EQ(next->drain_to(to.descriptor), 4);
    EXPECT_EQ(received_by(to.peer), "next");
  }
  EXPECT_EQ(taken.size(), pipe_pool::max_pipes);
  for (pipe_pool::pipe* each : taken) pool.give_back(*each);
}

TEST(pipe_pool, reports_a_reset_of_the_source_as_an_error_and_an_end_as_an_end) {
  pipe_pool pool;
  side from(tcp_connection());
  reset(from.peer);
  pipe_pool::pipe* const pipe = pool.take();
  ASSERT_NE(pipe, nullptr);
  EXPECT_EQ(pipe->fill_from(from.descriptor), -ECONNRESET);
  side ended(tcp_connection());
  ended.peer.close();
  EXPECT_EQ(pipe->fill_from(ended.descriptor), 0);
  pool.give_back(*pipe);
}

TEST(pipe_pool, raises_no_signal_when_the_peer_of_the_sink_is_gone) {
  pipe_pool pool;
  const auto before = std::signal(SIGPIPE, [](int) { ++pipe_signals; });
  for (int n = 0; n < 3; ++n) {
    side from(unix_connection());
    side to(n == 0 ? unix_connection() : tcp_connection());
    n == 2 ? to.peer.close() : reset(to.peer);
    pipe_pool::pipe* const pipe = pool.take();
    ASSERT_NE(pipe, nullptr);
    int result = 1;
    for (int i = 0; i < 10 && result > 0; ++i) {  // a closed TCP socket answers the first bytes with a reset
      if (pipe->bytes() == 0) {
        say(from.peer, "for nobody");
        EXPECT_EQ(pipe->fill_from(from.descriptor), 10);
      }
      result = pipe->drain_to(to.descriptor);
    }
    EXPECT_TRUE(result == -EPIPE || result == -ECONNRESET) << result;
    EXPECT_EQ(pipe->drain_to(to.descriptor), -EPIPE);
    pool.give_back(*pipe);
  }
  std::signal(SIGPIPE, before);
  EXPECT_EQ(pipe_signals, 0);
}

TEST(pipe_pool, does_without_pipes_while_the_process_can_open_none_and_asks_again_later) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit now = before;
  now.rlim_cur = 3;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &now), 0);
  pipe_pool pool;
  pipe_pool::pipe* const refused = pool.take();
  EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_EQ(refused, nullptr);
  pipe_pool::pipe* later = nullptr;
  for (int n = 0; n < 2'000 && later == nullptr; ++n) later = pool.take();
  ASSERT_NE(later, nullptr);
  pool.give_back(*later);
}

TEST(pipe_pool, is_worth_it_only_for_several_streams) {
  pipe_pool pool;
  EXPECT_FALSE(pool.worth_it());
  pool.bulk_began();
  EXPECT_FALSE(pool.worth_it());
  pool.bulk_began();
  EXPECT_TRUE(pool.worth_it());
  pool.bulk_ended();
  EXPECT_FALSE(pool.worth_it());
}
