// tests/io/uring_starvation_test.cpp: receiving into pooled buffers when there are too few.
#include "tests/io/uring_fixture.hpp"

#include <deque>

namespace gyre::uring_test {
namespace {

/// A receiver that keeps its buffers.
struct receiving : receiver {
  explicit receiving(turning_backend& performer) : receiver(performer, io::opcode::receive_many, unix_connection()) {
    keeps_buffers = true;
  }
};

class uring_starvation : public uring_backend {
 protected:
  void use(std::uint32_t buffers, std::size_t sockets) {
    begin({.submission_entries = 64, .completion_entries = 1024, .buffer_count = buffers, .buffer_size = 256});
    while (all.size() < sockets) all.emplace_back(backend).submit();
    backend.settle();
  }
  void TearDown() override {
    if (!backend) return;
    for (receiving& each : all) {
      each.release_kept();
      each.cancel();
    }
    EXPECT_TRUE(turn_until_idle());
  }
  /// Sends something to one receive after another, so that they stop in this order.
  void say_in_order(std::initializer_list<std::size_t> who) {
    for (const std::size_t i : who) {
      say(all[i].peer, "hello");
      backend.settle();
    }
  }
  bool has(std::size_t i) { return !all[i].results.empty(); }

  std::deque<receiving> all;
};

TEST_F(uring_starvation, idle_receives_hold_no_buffer) {
  use(64, 40);
  for (const receiving& each : all) EXPECT_EQ(each.where, io::phase::in_flight);
  EXPECT_EQ(backend->buffers().available(), 0U);  // the kernel has all of them, and no socket has one
  say_in_order({39});
  EXPECT_TRUE(has(39));
}

TEST_F(uring_starvation, those_that_found_no_buffer_get_the_next_ones_in_their_order) {
  use(2, 6);
  say_in_order({0, 1});
  ASSERT_TRUE(has(0) && has(1));
  say_in_order({4, 2, 5, 3});
  for (const std::size_t i : {2U, 3U, 4U, 5U}) {
    EXPECT_FALSE(has(i));
    EXPECT_EQ(all[i].where, io::phase::in_flight) << "its owner must not notice";
    EXPECT_EQ(all[i].in_flight, 1U);
  }
  const std::size_t givers[] = {0, 1, 4, 2};
  const std::size_t takers[] = {4, 2, 5, 3};
  for (int n = 0; n < 4; ++n) {
    all[givers[n]].release_kept(1);
    ASSERT_TRUE(backend.turn_until([&] { return has(takers[n]); }));
    backend.settle();
    for (int later = n + 1; later < 4; ++later) EXPECT_FALSE(has(takers[later])) << "overtook " << takers[n];
  }
}

TEST_F(uring_starvation, one_buffer_serves_them_one_after_the_other) {
  use(1, 8);
  say_in_order({0, 1, 2, 3, 4, 5, 6, 7});
  for (std::size_t i = 0; i < 8; ++i) {
    ASSERT_TRUE(backend.turn_until([&] { return has(i); }));
    for (std::size_t later = i + 1; later < 8; ++later) EXPECT_FALSE(has(later)) << later;
    all[i].release_kept(1);
  }
}

TEST_F(uring_starvation, one_that_no_longer_wants_its_turn_does_not_keep_it) {
  use(1, 3);
  say_in_order({0, 1, 2});
  ASSERT_TRUE(has(0));
  EXPECT_EQ(received_by(all[1].socket()), "hello");  // its bytes are gone, so nothing will complete it
  all[0].release_kept(1);
  EXPECT_TRUE(backend.turn_until([&] { return has(2); }));
}

TEST_F(uring_starvation, a_cancel_ends_one_that_waits_for_a_buffer_with_the_next_look) {
  use(1, 4);
  say_in_order({0, 1, 2, 3});
  ASSERT_TRUE(has(0));
  all[2].cancel();
  EXPECT_FALSE(all[2].ended()) << "delivered inside cancel";
  backend.turn();
  EXPECT_TRUE(all[2].ended());
  EXPECT_EQ(all[2].last_result, -ECANCELED);
  EXPECT_EQ(all[2].in_flight, 0U);
  EXPECT_EQ(received_by(all[2].socket()), "hello") << "the bytes stay in the socket";
  all[0].release_kept(1);
  ASSERT_TRUE(backend.turn_until([&] { return has(1); }));
  all[1].release_kept(1);
  ASSERT_TRUE(backend.turn_until([&] { return has(3); }));
}

TEST_F(uring_starvation, those_that_wait_when_the_backend_dies_are_free_again) {
  use(1, 3);
  say_in_order({0, 1, 2});
  all[0].release_kept();
  backend.destroy();
  for (const receiving& each : all) {
    EXPECT_TRUE(each.ended());
    EXPECT_EQ(each.in_flight, 0U);
  }
}

TEST_F(uring_starvation, the_kernel_gets_few_buffers_and_more_when_they_run_out) {
  use(512, 200);
  const io::buffer_pool& pool = backend->buffers();
  EXPECT_EQ(pool.available(), 512U - 64U);
  for (receiving& each : all) say(each.peer, "hello");
  ASSERT_TRUE(backend.turn_until([&] {
    for (std::size_t i = 0; i < 200; ++i)
      if (!has(i)) return false;
    return true;
  }));
  EXPECT_GE(pool.available(), 512U - 200U - 256U);
  for (const receiving& each : all) {
    ASSERT_EQ(each.kept.size(), 1U);
    EXPECT_EQ(pool.at(each.kept[0]).length, 5U);
  }
}

TEST_F(uring_starvation, no_buffer_is_lost_however_receives_end) {
  use(16, 12);
  for (int round = 0; round < 20; ++round) {
    for (std::size_t i = 0; i < 12; ++i) {
      if (all[i].ended()) all[i].submit();
      say(all[i].peer, std::string(300 * (1 + i % 3), 'x'));
      if ((i + static_cast<std::size_t>(round)) % 4 == 0) all[i].cancel();
    }
    backend.settle();
    for (receiving& each : all) each.release_kept();
  }
  for (receiving& each : all) each.cancel();
  ASSERT_TRUE(turn_until_idle());
  for (receiving& each : all) each.release_kept();
  // All buffers are free or with the kernel, so that as many receives as there are buffers can hold one each.
  std::deque<receiving> fresh;
  while (fresh.size() < 16) {
    fresh.emplace_back(backend).submit();
    say(fresh.back().peer, "y");
  }
  EXPECT_TRUE(backend.turn_until([&] {
    for (const receiving& each : fresh)
      if (each.kept.empty()) return false;
    return true;
  }));
  for (receiving& each : fresh) {
    each.release_kept();
    each.cancel();
  }
  EXPECT_TRUE(turn_until_idle());
}

}  // namespace
}  // namespace gyre::uring_test
