// tests/contract/io_wait_bulk_test.cpp: opcode::wait_bulk, on every backend.
#include "tests/contract/io_contract_fixture.hpp"

#include <deque>

namespace gyre::contract {
namespace {

/// A connection, and a request that waits for bulk from its peer.
struct waiting : endpoint, one_shot {
  waiting(turning_backend& performer, connection c)
      : endpoint(performer, std::move(c)), one_shot(io::opcode::wait_bulk, static_cast<io::descriptor&>(*this)) {}
};

class io_wait_bulk : public io_contract {
 protected:
  /// So many connections whose peers have written, in the order of their requests. The first one has completed.
  std::deque<waiting> several_with_bytes(int count) {
    std::deque<waiting> all;
    for (int i = 0; i < count; ++i) say(all.emplace_back(backend, tcp_connection()).peer, "bytes");
    for (waiting& each : all) submit(each);
    EXPECT_EQ(result_of(all.front()), 0);
    return all;
  }
  void submit_again_those_that_are_done(std::deque<waiting>& all) {
    for (waiting& each : all)
      if (each.done()) submit(each);
  }
  void expect_all_done(const std::deque<waiting>& all) {
    EXPECT_TRUE(backend.turn_until(
        [&] { return std::all_of(all.begin(), all.end(), [](const waiting& each) { return each.done(); }); }));
  }
};

TEST_P(io_wait_bulk, completes_when_bytes_come_and_takes_none) {
  waiting one(backend, tcp_connection());
  begin_to_wait(one);
  say(one.peer, "bytes");
  EXPECT_EQ(result_of(one), 0);
  EXPECT_EQ(received_by(one.socket()), "bytes");
}

TEST_P(io_wait_bulk, waits_again_when_its_caller_has_emptied_the_socket) {
  waiting one(backend, unix_connection());
  for (int i = 0; i < 20; ++i) {
    begin_to_wait(one);
    say(one.peer, "x");
    EXPECT_EQ(result_of(one), 0);
    EXPECT_TRUE(one.readable);
    EXPECT_EQ(received_by(one.socket()), "x");
    one.readable = false;
  }
}

TEST_P(io_wait_bulk, completes_in_the_next_wait_while_its_caller_has_not_emptied_the_socket) {
  waiting one(backend, tcp_connection());
  say(one.peer, "bytes");
  EXPECT_EQ(perform(one), 0);
  for (int i = 0; i < 5; ++i) {
    submit(one);
    EXPECT_FALSE(one.done());
    backend.turn();
    EXPECT_TRUE(one.done());
  }
}

TEST_P(io_wait_bulk, completes_only_one_in_each_wait_first_come_first_served) {
  std::deque<waiting> all = several_with_bytes(5);
  backend.turn();
  submit_again_those_that_are_done(all);
  std::vector<std::size_t> order;
  for (int n = 0; n < 10; ++n) {
    backend.turn();
    std::size_t done = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (!all[i].done()) continue;
      ++done;
      order.push_back(i);
    }
    ASSERT_EQ(done, 1U);
    submit(all[order.back()]);
  }
  for (std::size_t i = 5; i < 10; ++i) EXPECT_EQ(order[i], order[i - 5]) << "each has its turn";
  expect_all_done(all);
}

TEST_P(io_wait_bulk, leaves_the_others_their_turn) {
  endpoint small(backend, tcp_connection());
  char byte = 0;
  one_shot read(io::opcode::receive_into, small, &byte, 1);
  submit(read);
  std::deque<waiting> all = several_with_bytes(5);
  say(small.peer, "x");
  int turns = 0;
  bool found = false;
  while (!read.done() && turns < 50) {
    submit_again_those_that_are_done(all);
    backend.turn();
    found = found || backend->found_small();
    ++turns;
  }
  EXPECT_TRUE(read.done()) << "although there was bulk in each turn";
  EXPECT_TRUE(found);
  for (int n = 0; n < 5; ++n) {
    submit_again_those_that_are_done(all);
    backend.turn();
  }
  EXPECT_FALSE(backend->found_small());
  expect_all_done(all);
}

TEST_P(io_wait_bulk, completes_at_the_end_of_the_stream_and_after_a_reset) {
  waiting one(backend, tcp_connection());
  begin_to_wait(one);
  ::shutdown(one.peer.get(), SHUT_WR);
  EXPECT_EQ(result_of(one), 0);
  one.readable = false;
  waiting other(backend, tcp_connection());
  begin_to_wait(other);
  reset(other.peer);
  EXPECT_EQ(result_of(other), 0);
}

TEST_P(io_wait_bulk, tells_of_urgent_data) {
  waiting one(backend, tcp_connection());
  begin_to_wait(one);
  say(one.peer, "!", MSG_OOB);
  EXPECT_EQ(result_of(one), 0);
  EXPECT_TRUE(one.hangup);
}

TEST_P(io_wait_bulk, ends_with_a_cancel_while_it_waits) {
  waiting one(backend, tcp_connection());
  begin_to_wait(one);
  EXPECT_EQ(stop(one), -ECANCELED);
}

TEST_P(io_wait_bulk, that_waits_only_for_its_turn_succeeds_in_spite_of_a_cancel) {
  std::deque<waiting> all = several_with_bytes(4);
  for (waiting& each : all) cancel(each);
  expect_all_done(all);
  for (const waiting& each : all) EXPECT_EQ(each.completions, 1);
}

TEST_P(io_wait_bulk, is_dropped_with_its_backend) {
  std::deque<waiting> all;
  for (int i = 0; i < 4; ++i) all.emplace_back(backend, tcp_connection());
  for (std::size_t i = 0; i < 3; ++i) say(all[i].peer, "bytes");
  for (waiting& each : all) submit(each);
  backend.turn();
  backend.destroy();
  for (waiting& each : all) EXPECT_EQ(each.where, io::phase::idle);
}

INSTANTIATE_TEST_SUITE_P(backends, io_wait_bulk, every_backend, backend_name);

}  // namespace
}  // namespace gyre::contract
