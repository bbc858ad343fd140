// tests/runtime/runtime_threads_test.cpp: several loops that start and end together.
#include <gyre/runtime/runtime.hpp>

#include <gyre/gyre.hpp>

#include <gtest/gtest.h>

#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <stdexcept>
#include <string>

#include "tests/runtime/index_here.hpp"
#include "tests/support/body_ref.hpp"
#include "tests/support/co_assert.hpp"
#include "tests/support/sanitized.hpp"

using gyre_test::index_here;
using namespace std::chrono_literals;

namespace {

std::string name_of_thread() {
  char name[16] = {};
  ::pthread_getname_np(::pthread_self(), name, sizeof(name));
  return name;
}

int processors_of_thread() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  return ::sched_getaffinity(0, sizeof(mask), &mask) == 0 ? CPU_COUNT(&mask) : 0;
}

}  // namespace

TEST(runtime_threads, a_program_that_owns_its_main_calls_tasks_on_the_loops) {
  const gyre::runtime cores({.threads = 3});
  EXPECT_EQ(cores.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(gyre::blocking_run(cores.loop(i), index_here()), i);
}

TEST(runtime_threads, each_loop_has_a_thread_with_its_index_in_the_name) {
  const gyre::runtime cores({.threads = 2});
  auto name = []() -> gyre::task<std::string> { co_return name_of_thread(); };
  EXPECT_EQ(gyre::blocking_run(cores.loop(0), name), "gyre-0");
  EXPECT_EQ(gyre::blocking_run(cores.loop(1), name), "gyre-1");
}

TEST(runtime_threads, the_thread_of_the_main_task_keeps_its_name) {
  const std::string before = name_of_thread();
  gyre::run(
      [&]() -> gyre::task<> {
        EXPECT_EQ(name_of_thread(), before);
        EXPECT_EQ(co_await gyre::on((*gyre::event_loop::current().group())[1], [] { return name_of_thread(); }),
                  "gyre-1");
      },
      {.threads = 2});
}

TEST(runtime_threads, a_runtime_needs_at_least_one_loop) {
  EXPECT_THROW(gyre::runtime({.threads = 0}), std::invalid_argument);
  EXPECT_THROW(gyre::runtime({.threads = 100'000}), std::invalid_argument);
  EXPECT_THROW(gyre::run([]() -> gyre::task<> { co_return; }, {.threads = 0}), std::invalid_argument);
}

TEST(runtime_threads, a_loop_that_cannot_be_made_fails_the_start_and_leaves_no_thread) {
  gyre::loop_options wrong;
  wrong.ready_per_turn = 0;
  EXPECT_THROW(gyre::runtime({.threads = 3, .loop = wrong}), std::invalid_argument);
  EXPECT_EQ(gyre::run([]() -> gyre::task<int> { co_return 1; }), 1);  // this thread has no loop left
}

TEST(runtime_threads, bound_threads_have_one_processor_and_calls_on_other_threads_have_all) {
  const int before = processors_of_thread();
  gyre::run(
      [&]() -> gyre::task<> {
        const auto each = co_await gyre::for_each_loop([] { return processors_of_thread(); });
        EXPECT_EQ(each, (std::vector<int>{1, 1}));
        gyre::thread_pool own(1);
        EXPECT_EQ(co_await gyre::to_thread(own, [] { return processors_of_thread(); }), before);
      },
      {.threads = 2, .pin = true});
  EXPECT_EQ(processors_of_thread(), before);
}

TEST(runtime_threads, binding_the_threads_again_and_again_keeps_no_memory) {
  const auto start_and_stop = [] { const gyre::runtime cores({.threads = 1, .pin = true}); };
  for (int i = 0; i < 10; ++i) start_and_stop();
  const std::size_t before = ::mallinfo2().uordblks;  // 0 under a sanitizer, which finds the leak itself
  for (int i = 0; i < 100; ++i) start_and_stop();
  EXPECT_LT(::mallinfo2().uordblks, before + 50'000);
}

TEST(runtime_threads, a_forked_child_can_end_without_the_loops_of_its_parent) {
  if (gyre_test::threads_end_at_fork) GTEST_SKIP() << "the thread sanitizer allows no new threads in the child";
  const gyre::runtime cores({.threads = 2});
  const pid_t child = ::fork();
  if (child == 0) {
    const int answer = gyre::run([]() -> gyre::task<int> { co_return 7; }, {.threads = 2});
    ::_exit(answer);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 7);
}

TEST(runtime_threads_death_test, stopping_a_runtime_on_its_own_thread_stops_the_program_with_a_message) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        gyre::runtime cores({.threads = 1});
        gyre::blocking_run(cores.loop(0), [&]() -> gyre::task<> {
          cores.stop();
          co_return;
        });
      },
      "would wait for itself");
}

TEST(runtime_threads_death_test, stopping_a_runtime_or_its_first_loop_in_a_task_of_that_loop_stops_with_a_message) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto ends_in_a_task = [](bool by_runtime) {
    gyre::event_loop first;
    gyre::runtime cores(first, {.threads = 2});
    auto end = [&]() -> gyre::task<> {
      co_await gyre::yield();
      by_runtime ? cores.stop() : first.shutdown();
    };
    const auto ended = gyre::spawn(end);
    while (!ended.done()) first.turn(true);
  };
  EXPECT_DEATH(ends_in_a_task(true), "would wait for itself: end the loop where it is driven");
  EXPECT_DEATH(ends_in_a_task(false), "would wait for itself: end the loop where it is driven");
}

TEST(runtime_threads_death_test, a_loop_that_does_not_exist_stops_the_program_with_a_message) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  gyre::runtime cores({.threads = 2});
  EXPECT_DEATH((void)cores.loop(2), "has 2 loops");
  cores.stop();
  EXPECT_DEATH((void)cores.loop(0), "after runtime::stop: its loops have ended");
}
