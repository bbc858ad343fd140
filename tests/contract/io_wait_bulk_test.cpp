// tests/contract/io_wait_bulk_test.cpp: opcode::wait_bulk, on every backend.
#include "tests/contract/io_contract_fixture.hpp"

#include <array>
#include <deque>

namespace gyre::contract {
namespace {

class io_wait_bulk : public io_contract {
 protected:
  static one_shot bulk(io::descriptor& d) { return {io::opcode::wait_bulk, d}; }
};

/// A connection whose peer has written, and a request for it.
struct waiting {
  waiting(turning_backend& backend, connection c)
      : peer(std::move(c.peer)), ours(backend, std::move(c.ours)), wait(io::opcode::wait_bulk, ours) {}

  owned_fd peer;
  endpoint ours;
  one_shot wait;
};

TEST_P(io_wait_bulk, completes_when_bytes_come_and_takes_none) {
  waiting one(backend, tcp_connection());
  submit(one.wait);
  backend.settle();
  EXPECT_FALSE(one.wait.done());
  say(one.peer, "bytes");
  ASSERT_TRUE(backend.turn_until([&] { return one.wait.done(); }));
  EXPECT_EQ(one.wait.result, 0);
  EXPECT_EQ(received_by(one.ours.socket()), "bytes");
}

TEST_P(io_wait_bulk, waits_again_when_its_caller_has_emptied_the_socket) {
  waiting one(backend, unix_connection());
  for (int i = 0; i < 20; ++i) {
    submit(one.wait);
    backend.settle();
    ASSERT_FALSE(one.wait.done());
    say(one.peer, "x");
    ASSERT_TRUE(backend.turn_until([&] { return one.wait.done(); }));
    EXPECT_TRUE(one.ours.readable);
    EXPECT_EQ(received_by(one.ours.socket()), "x");
    one.ours.readable = false;
  }
}

TEST_P(io_wait_bulk, completes_in_the_next_wait_while_its_caller_has_not_emptied_the_socket) {
  waiting one(backend, tcp_connection());
  say(one.peer, "bytes");
  submit(one.wait);
  ASSERT_TRUE(backend.turn_until([&] { return one.wait.done(); }));
  for (int i = 0; i < 5; ++i) {
    submit(one.wait);
    EXPECT_FALSE(one.wait.done());
    backend.turn();
    EXPECT_TRUE(one.wait.done());
  }
}

TEST_P(io_wait_bulk, completes_only_one_in_each_wait_first_come_first_served) {
  std::deque<waiting> all;
  for (int i = 0; i < 5; ++i) all.emplace_back(backend, tcp_connection());
  for (waiting& each : all) say(each.peer, "bytes");
  for (waiting& each : all) submit(each.wait);
  ASSERT_TRUE(backend.turn_until([&] { return all.front().wait.done(); }));
  backend.turn();
  for (waiting& each : all)
    if (each.wait.done()) submit(each.wait);
  std::vector<std::size_t> order;
  for (int n = 0; n < 10; ++n) {
    backend.turn();
    std::size_t done = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (!all[i].wait.done()) continue;
      ++done;
      order.push_back(i);
    }
    ASSERT_EQ(done, 1U);
    submit(all[order.back()].wait);
  }
  for (std::size_t i = 5; i < 10; ++i) EXPECT_EQ(order[i], order[i - 5]) << "each has its turn";
  ASSERT_TRUE(backend.turn_until([&] {
    for (const waiting& each : all)
      if (!each.wait.done()) return false;
    return true;
  }));
}

TEST_P(io_wait_bulk, leaves_the_others_their_turn) {
  std::deque<waiting> all;
  for (int i = 0; i < 5; ++i) all.emplace_back(backend, tcp_connection());
  connection c = tcp_connection();
  endpoint small(backend, std::move(c.ours));
  char byte = 0;
  one_shot read(io::opcode::receive_into, small, &byte, 1);
  submit(read);
  for (waiting& each : all) say(each.peer, "bytes");
  for (waiting& each : all) submit(each.wait);
  ASSERT_TRUE(backend.turn_until([&] { return all.front().wait.done(); }));
  say(c.peer, "x");
  int turns = 0;
  bool found = false;
  while (!read.done() && turns < 50) {
    for (waiting& each : all)
      if (each.wait.done()) submit(each.wait);
    backend.turn();
    found = found || backend->found_small();
    ++turns;
  }
  EXPECT_TRUE(read.done()) << "although there was bulk in each turn";
  EXPECT_TRUE(found);
  for (int n = 0; n < 5; ++n) {
    for (waiting& each : all)
      if (each.wait.done()) submit(each.wait);
    backend.turn();
  }
  EXPECT_FALSE(backend->found_small());
  ASSERT_TRUE(backend.turn_until([&] {
    for (const waiting& each : all)
      if (!each.wait.done()) return false;
    return true;
  }));
}

TEST_P(io_wait_bulk, completes_at_the_end_of_the_stream_and_after_a_reset) {
  waiting one(backend, tcp_connection());
  submit(one.wait);
  backend.settle();
  ::shutdown(one.peer.get(), SHUT_WR);
  ASSERT_TRUE(backend.turn_until([&] { return one.wait.done(); }));
  EXPECT_EQ(one.wait.result, 0);
  one.ours.readable = false;
  waiting other(backend, tcp_connection());
  submit(other.wait);
  backend.settle();
  reset(other.peer);
  ASSERT_TRUE(backend.turn_until([&] { return other.wait.done(); }));
  EXPECT_EQ(other.wait.result, 0);
}

TEST_P(io_wait_bulk, tells_of_urgent_data) {
  waiting one(backend, tcp_connection());
  submit(one.wait);
  backend.settle();
  say(one.peer, "!", MSG_OOB);
  ASSERT_TRUE(backend.turn_until([&] { return one.wait.done(); }));
  EXPECT_TRUE(one.ours.hangup);
}

TEST_P(io_wait_bulk, ends_with_a_cancel_while_it_waits) {
  waiting one(backend, tcp_connection());
  submit(one.wait);
  backend.settle();
  backend->cancel(one.wait);
  ASSERT_TRUE(backend.turn_until([&] { return one.wait.done(); }));
  EXPECT_EQ(one.wait.result, -ECANCELED);
}

TEST_P(io_wait_bulk, that_waits_only_for_its_turn_succeeds_in_spite_of_a_cancel) {
  std::deque<waiting> all;
  for (int i = 0; i < 4; ++i) all.emplace_back(backend, tcp_connection());
  for (waiting& each : all) say(each.peer, "bytes");
  for (waiting& each : all) submit(each.wait);
  ASSERT_TRUE(backend.turn_until([&] { return all.front().wait.done(); }));
  for (waiting& each : all) backend->cancel(each.wait);
  ASSERT_TRUE(backend.turn_until([&] {
    for (const waiting& each : all)
      if (!each.wait.done()) return false;
    return true;
  }));
  for (const waiting& each : all) EXPECT_EQ(each.wait.completions, 1);
}

TEST_P(io_wait_bulk, is_dropped_with_its_backend) {
  std::deque<waiting> all;
  for (int i = 0; i < 4; ++i) all.emplace_back(backend, tcp_connection());
  for (int i = 0; i < 3; ++i) say(all[static_cast<std::size_t>(i)].peer, "bytes");
  for (waiting& each : all) submit(each.wait);
  backend.turn();
  backend.destroy();
  for (waiting& each : all) EXPECT_EQ(each.wait.where, io::phase::idle);
}

INSTANTIATE_TEST_SUITE_P(on, io_wait_bulk, every_backend, backend_name);

}  // namespace
}  // namespace gyre::contract
