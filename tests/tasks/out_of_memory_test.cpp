// tests/tasks/out_of_memory_test.cpp: whichever allocation fails, the failure arrives and nothing is lost.
#include "tests/support/virtual_run.hpp"

#include <cstdlib>
#include <new>
#include <thread>
#include <vector>

#ifndef GYRE_NO_FRAME_POOL  // sanitizers have an operator new of their own

namespace {
thread_local int allocations_left = -1;  // then one fails; negative: none does
}

[[gnu::noinline]] void* operator new(std::size_t size) {
  if (allocations_left == 0) {
    allocations_left = -1;
    throw std::bad_alloc();
  }
  if (allocations_left > 0) --allocations_left;
  if (void* const memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace {

using namespace gyre_test;

int alive = 0;  // children that have begun and not ended

gyre::task<int> child() {
  struct living {
    living() { ++alive; }
    ~living() { --alive; }
  } const here;
  co_await gyre::sleep(1ms);
  co_return 1;
}

/// Runs `scenario` again and again, each time with one allocation more that succeeds before one fails, until none fails.
/// Gives how often one has failed.
template <class Scenario>
int fail_each_allocation(Scenario scenario) {
  int failures = 0;
  for (bool failed = true; failed && failures < 1000;) {
    failed = false;
    // A thread of its own: its frame pool is empty, so that each frame comes from the heap.
    std::thread([&] {
      gyre::run(
          [&]() -> gyre::task<> {
            allocations_left = failures;
            try {
              co_await scenario();
            } catch (const std::bad_alloc&) {
              failed = true;
            }
            allocations_left = -1;
            EXPECT_EQ(alive, 0) << "after " << failures << " allocations";
          },
          {.loop = {.virtual_time = true}});
    }).join();
    if (failed) ++failures;
  }
  return failures;
}

}  // namespace

TEST(out_of_memory, in_gather_cancels_what_runs_and_arrives) {
  EXPECT_GT(fail_each_allocation([]() -> gyre::task<> {
              auto all = gyre::gather(child(), child(), child());
              auto results = co_await std::move(all);
              EXPECT_EQ(results.get<2>(), 1);
            }),
            5);
}

TEST(out_of_memory, in_gather_over_a_range_cancels_what_runs_and_arrives) {
  EXPECT_GT(fail_each_allocation([]() -> gyre::task<> {
              std::vector<gyre::task<int>> tasks;
              for (int i = 0; i < 4; ++i) tasks.push_back(child());
              auto all = gyre::gather(std::move(tasks));
              EXPECT_EQ((co_await std::move(all)).size(), 4U);
            }),
            5);
}

TEST(out_of_memory, in_race_cancels_what_runs_and_arrives) {
  EXPECT_GT(fail_each_allocation([]() -> gyre::task<> {
              auto race = gyre::race(child(), child(), child());
              EXPECT_EQ((co_await std::move(race)).value, 1);
            }),
            5);
}

TEST(out_of_memory, in_a_group_cancels_what_runs_and_arrives) {
  EXPECT_GT(fail_each_allocation([]() -> gyre::task<> {
              auto body = [](gyre::task_group& group) -> gyre::task<> {
                for (int i = 0; i < 4; ++i) group.spawn(child(), {.name = "child"}).detach();
                co_return;
              };
              co_await gyre::task_group::scope(body);
            }),
            5);
}

TEST(out_of_memory, in_a_timeout_arrives) {
  EXPECT_GT(fail_each_allocation([]() -> gyre::task<> { EXPECT_EQ(co_await gyre::timeout(1s, child()), 1); }), 0);
}

#endif
