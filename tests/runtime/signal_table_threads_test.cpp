// tests/runtime/signal_table_threads_test.cpp: ownership of a signal, and how long a handler may use the owner.
#include "src/runtime/signal_table.hpp"

#include <gtest/gtest.h>

#include <signal.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <thread>

namespace {

using gyre::signal_rank;

/// An owner whose handler waits until it may leave.
struct slow_owner : gyre::signal_owner {
  slow_owner() {
    arrived = [](gyre::signal_owner& owner, int /*number*/) noexcept {
      auto& self = static_cast<slow_owner&>(owner);
      self.entered = true;
      while (!self.may_leave) std::this_thread::yield();
      for (int i = 0; i < 100; ++i) std::this_thread::yield();
      self.left = true;
    };
  }
  std::atomic<bool> entered{false};
  std::atomic<bool> may_leave{false};
  std::atomic<bool> left{false};
};

struct counting_owner : gyre::signal_owner {
  counting_owner() {
    arrived = [](gyre::signal_owner& owner, int) noexcept { ++static_cast<counting_owner&>(owner).count; };
  }
  std::atomic<int> count{0};
};

}  // namespace

TEST(signal_table_threads, a_release_waits_for_a_handler_on_another_thread_that_uses_the_owner) {
  slow_owner owner;
  ASSERT_EQ(gyre::take_signal(SIGUSR1, signal_rank::chosen, owner), 0);
  std::thread other([] { ::raise(SIGUSR1); });
  while (!owner.entered) std::this_thread::yield();
  owner.may_leave = true;
  gyre::release_signal(SIGUSR1, signal_rank::chosen, owner);
  EXPECT_TRUE(owner.left) << "the handler still uses an owner that has left";
  other.join();
}

TEST(signal_table_threads, a_signal_goes_to_the_lowest_rank_and_then_to_the_next) {
  counting_owner set;
  counting_owner run;
  ASSERT_EQ(gyre::take_signal(SIGUSR1, signal_rank::chosen, set), 0);
  ASSERT_EQ(gyre::take_signal(SIGUSR1, signal_rank::termination, run), 0);
  ::raise(SIGUSR1);
  gyre::release_signal(SIGUSR1, signal_rank::chosen, set);
  ::raise(SIGUSR1);
  EXPECT_EQ(set.count, 1);
  EXPECT_EQ(run.count, 1);
  gyre::release_signal(SIGUSR1, signal_rank::termination, run);
}

TEST(signal_table_threads, a_rank_has_one_owner_and_only_that_can_release_it) {
  counting_owner owner;
  counting_owner stranger;
  ASSERT_EQ(gyre::take_signal(SIGUSR1, signal_rank::chosen, owner), 0);
  EXPECT_EQ(gyre::take_signal(SIGUSR1, signal_rank::chosen, stranger), EBUSY);
  gyre::release_signal(SIGUSR1, signal_rank::chosen, stranger);
  ::raise(SIGUSR1);
  EXPECT_EQ(owner.count, 1);
  gyre::release_signal(SIGUSR1, signal_rank::chosen, owner);
}

TEST(signal_table_threads, a_signal_that_cannot_be_caught_has_no_owner_afterwards) {
  counting_owner owner;
  EXPECT_EQ(gyre::take_signal(SIGKILL, signal_rank::chosen, owner), EINVAL);
  EXPECT_EQ(gyre::take_signal(SIGKILL, signal_rank::chosen, owner), EINVAL);
  EXPECT_EQ(gyre::take_signal(32, signal_rank::chosen, owner), EINVAL) << "one that the threads of libc use";
  EXPECT_EQ(gyre::take_signal(65, signal_rank::chosen, owner), EINVAL);
}

TEST(signal_table_threads, owners_come_and_go_while_signals_arrive) {
  const auto before = std::signal(SIGUSR1, SIG_IGN);
  std::atomic<bool> stop{false};
  const auto storm = [&] {
    while (!stop) ::raise(SIGUSR1);
  };
  std::thread first(storm);
  std::thread second(storm);
  for (int i = 0; i < 5000; ++i) {
    counting_owner set;
    counting_owner run;
    ASSERT_EQ(gyre::take_signal(SIGUSR1, signal_rank::chosen, set), 0);
    ASSERT_EQ(gyre::take_signal(SIGUSR1, signal_rank::termination, run), 0);
    gyre::release_signal(SIGUSR1, i % 2 == 0 ? signal_rank::chosen : signal_rank::termination, i % 2 == 0 ? set : run);
    gyre::release_signal(SIGUSR1, i % 2 != 0 ? signal_rank::chosen : signal_rank::termination, i % 2 != 0 ? set : run);
  }
  stop = true;
  first.join();
  second.join();
  EXPECT_EQ(std::signal(SIGUSR1, before), SIG_IGN);
}
