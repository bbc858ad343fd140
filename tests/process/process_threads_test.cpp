// tests/process/process_threads_test.cpp: children of several threads, and threads that reap children of others.
#include "tests/process/children.hpp"

#include <pthread.h>

#include <atomic>
#include <thread>

using namespace gyre_test;
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
  for (int i = 0; i < 3; ++i) starters.emplace_back([&] { wrong += gyre::run(count_wrong(30, unknown)); });
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
  const int wrong = gyre::run(count_wrong(150, unknown));
  stop = true;
  reaper.join();
  EXPECT_EQ(wrong, 0);
}

TEST(process_threads, handlers_of_this_program_do_not_run_in_the_child) {
  static std::atomic<int> in_child;
  static pid_t own;
  in_child = 0;
  own = ::getpid();
  const with_action counted(SIGUSR1, [](int) {
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
  const int wrong = gyre::run(count_wrong(50, unknown));
  stop = true;
  storm.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(in_child, 0);
}
