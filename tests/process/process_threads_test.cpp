// tests/process/process_threads_test.cpp: children of several threads, and threads that reap children of others.
#include <gyre/process.hpp>

#include <gyre/testing/run_test.hpp>

#include <gtest/gtest.h>

#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <thread>
#include <vector>

using gyre::process;

namespace {

gyre::task<int> count_wrong(int starts, std::atomic<int>& unknown) {
  int wrong = 0;
  for (int i = 0; i < starts; ++i) {
    process child = process::start({"/bin/sh", "-c", "exit 5"});
    const auto status = co_await child.wait();
    if (status.unknown)
      ++unknown;
    else if (status.code != 5)
      ++wrong;
  }
  co_return wrong;
}

}  // namespace

TEST(process_threads, each_thread_starts_children_and_hears_of_their_ends) {
  std::atomic<int> unknown{0};
  std::atomic<int> wrong{0};
  std::vector<std::thread> starters;
  for (int i = 0; i < 3; ++i)
    starters.emplace_back([&] {
      wrong += gyre::testing::run_test([&]() -> gyre::task<int> { co_return co_await count_wrong(30, unknown); });
    });
  for (auto& each : starters) each.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(unknown, 0);
}

TEST(process_threads, a_thread_that_reaps_all_children_breaks_no_start_and_no_wait) {
  std::atomic<bool> stop{false};
  std::atomic<int> unknown{0};
  std::thread reaper([&] {
    while (!stop)
      if (::waitpid(-1, nullptr, WNOHANG) <= 0) std::this_thread::yield();
  });
  const int wrong = gyre::testing::run_test([&]() -> gyre::task<int> { co_return co_await count_wrong(150, unknown); });
  stop = true;
  reaper.join();
  EXPECT_EQ(wrong, 0);
}

TEST(process_threads, handlers_of_this_program_do_not_run_in_the_child) {
  static std::atomic<int> in_child;
  static pid_t own;
  in_child = 0;
  own = ::getpid();
  const auto before = std::signal(SIGUSR1, [](int) {
    if (::getpid() != own) ++in_child;
  });
  std::atomic<bool> stop{false};
  const pthread_t starter = ::pthread_self();
  std::thread storm([&] {
    while (!stop) {
      ::pthread_kill(starter, SIGUSR1);
      std::this_thread::yield();
    }
  });
  std::atomic<int> unknown{0};
  const int wrong = gyre::testing::run_test([&]() -> gyre::task<int> { co_return co_await count_wrong(50, unknown); });
  stop = true;
  storm.join();
  std::signal(SIGUSR1, before);
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(in_child, 0);
}
