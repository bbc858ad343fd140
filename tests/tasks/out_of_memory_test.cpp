// tests/tasks/out_of_memory_test.cpp: the failure of any allocation is reported, and nothing is lost.
#include "tests/support/virtual_run.hpp"

#include <array>
#include <exception>
#include <string>
#include <thread>
#include <vector>

#ifndef GYRE_NO_FRAME_POOL  // sanitizers have their own operator new

#include "tests/support/failing_allocations.hpp"

#include <gyre/tasks/run_coroutine_threadsafe.hpp>

#include <functional>
#include <memory>

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

/// Runs on a new thread with an empty frame pool, so that each frame comes from the heap.
template <class Body>
void run_with_empty_pool(Body body) {
  std::thread([&] { run_virtual(body); }).join();
}

/// Runs `scenario` repeatedly. In each run, one more allocation succeeds before one fails, until none fails. Returns
/// the number of runs in which one failed.
template <class Scenario>
int fail_each_allocation(Scenario scenario) {
  int failures = 0;
  for (bool failed = true; failed && failures < 1000;) {
    failed = false;
    // A new thread has an empty frame pool, so that each frame comes from the heap.
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

TEST(out_of_memory, in_from_callback_arrives) {
  EXPECT_GT(fail_each_allocation([]() -> gyre::task<> {
              auto begin = [](const gyre::awaited_callback<int>& done) { done(3); };
              EXPECT_EQ(co_await gyre::from_callback<int>(begin), 3);
            }),
            0);
}

TEST(out_of_memory, in_what_from_callback_starts_arrives) {
  run_virtual([]() -> gyre::task<> {
    const fail_one_allocation failing(1);  // the state is allocated; the function that keeps the callback fails
    auto begin = [](const gyre::awaited_callback<int>& done) {
      const auto kept =
          std::make_unique<std::function<void()>>([done, numbers = std::array<int, 100>()] { done(numbers[0]); });
      (*kept)();
    };
    EXPECT_THROW((void)co_await gyre::from_callback<int>(begin), std::bad_alloc);
  });
}

TEST(out_of_memory, in_wait_arrives_and_the_tasks_go_on) {
  EXPECT_GT(fail_each_allocation([]() -> gyre::task<> {
              std::vector<gyre::task_handle<int>> handles;
              const int successes = std::exchange(allocations_left, -1);
              for (int i = 0; i < 3; ++i) handles.push_back(gyre::spawn(value_after(1ms, i)));
              allocations_left = successes;
              std::exception_ptr failure;
              try {
                EXPECT_EQ((co_await gyre::wait(handles)).done.size(), 3U);
              } catch (const std::bad_alloc&) {
                failure = std::current_exception();
              }
              for (auto& each : handles) co_await each;
              if (failure) std::rethrow_exception(failure);
            }),
            3);
}

TEST(out_of_memory, in_a_shared_task_arrives_and_the_next_await_starts_it) {
  run_with_empty_pool([]() -> gyre::task<> {
    const gyre::shared_task<int> shared(value_after(1ms, 7));
    auto wait = [&]() -> gyre::task<int> { co_return co_await shared; };
    {
      gyre::task<int> waiting = wait();
      const fail_one_allocation failing;  // for the state of the task
      EXPECT_THROW((void)co_await std::move(waiting), std::bad_alloc);
    }
    EXPECT_EQ(co_await wait(), 7);
  });
}

TEST(out_of_memory, in_spawn_then_arrives_and_the_callback_is_not_called) {
  int called = 0;
  const int failures = fail_each_allocation([&]() -> gyre::task<> {
    called = 0;
    try {
      gyre::spawn_then(child(), [&](auto outcome) { called += outcome.has_value() ? 1 : 100; });
    } catch (const std::bad_alloc&) {
      EXPECT_EQ(called, 0);
      throw;
    }
    allocations_left = -1;
    co_await gyre::sleep(2ms);
    EXPECT_EQ(called, 1);
  });
  EXPECT_GE(failures, 3) << "the two coroutines and the state of the task";
}

TEST(out_of_memory, in_post_posts_nothing) {
  run_virtual([]() -> gyre::task<> {
    auto owned = std::make_shared<int>(1);
    {
      const fail_one_allocation failing;
      EXPECT_THROW(gyre::event_loop::current().post([owned] { ++*owned; }), std::bad_alloc);
    }
    EXPECT_EQ(owned.use_count(), 1);
    gyre::event_loop::current().post([owned] { ++*owned; });
    co_await gyre::sleep(1ms);
    EXPECT_EQ(*owned, 2);
  });
}

TEST(out_of_memory, in_run_coroutine_threadsafe_arrives_and_nothing_is_left_over) {
  run_virtual([]() -> gyre::task<> {
    const auto owned = std::make_shared<int>(1);
    gyre::event over;
    int failures = 0;
    std::thread caller([&, &loop = gyre::event_loop::current()] {
      for (bool failed = true; failed; failures += failed ? 1 : 0) {
        auto work = [](std::shared_ptr<int> kept) -> gyre::task<int> { co_return *kept; };
        const fail_one_allocation failing(failures);
        failed = false;
        try {
          EXPECT_EQ(gyre::run_coroutine_threadsafe(loop, work(owned)).get(), 1);
        } catch (const std::bad_alloc&) {
          failed = true;
        }
      }
      loop.post([&] { over.set(); });
    });
    co_await over.wait();
    caller.join();
    EXPECT_GE(failures, 3) << "the outcome, its gate and the message";
    EXPECT_EQ(owned.use_count(), 1);
  });
}

TEST(out_of_memory, on_the_loop_of_run_coroutine_threadsafe_arrives_at_the_caller) {
  run_with_empty_pool([]() -> gyre::task<> {
    gyre::event_loop& loop = gyre::event_loop::current();
    gyre::event over;
    std::thread caller([&] {
      loop.post([] { allocations_left = 0; });  // the loop's next allocation is for the reporting coroutine
      EXPECT_THROW(gyre::run_coroutine_threadsafe(loop, value_after(1ms, 1)).get(), std::bad_alloc);
      loop.post([&] { over.set(); });
    });
    co_await over.wait();
    caller.join();
  });
}

TEST(out_of_memory, in_the_value_of_a_task_local_leaves_the_bindings_as_they_were) {
  struct fails_to_move {
    fails_to_move() = default;
    fails_to_move(fails_to_move&&) { throw std::bad_alloc(); }
  };
  static const gyre::task_local<std::shared_ptr<int>> number;
  static const gyre::task_local<fails_to_move> failing;
  const auto owned = std::make_shared<int>(1);
  run_virtual([&]() -> gyre::task<> {
    const auto outer = number.bind(owned);
    EXPECT_THROW((void)failing.bind(fails_to_move()), std::bad_alloc);
    EXPECT_EQ(*number.get(), owned);
    EXPECT_EQ(failing.get(), nullptr);
    co_return;
  });
  EXPECT_EQ(owned.use_count(), 1);
}

TEST(out_of_memory, in_a_timeout_arrives) {
  EXPECT_GT(fail_each_allocation([]() -> gyre::task<> { EXPECT_EQ(co_await gyre::timeout(1s, child()), 1); }), 0);
}

#endif
