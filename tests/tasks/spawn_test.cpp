// tests/tasks/spawn_test.cpp: the life of a task and of its handle, in every order.
#include <gyre/tasks/spawn.hpp>

#include "tests/support/co_assert.hpp"
#include "tests/support/failure_log.hpp"
#include "tests/support/virtual_run.hpp"

#include <memory>
#include <vector>

using namespace gyre_test;

TEST(spawn, begins_when_the_caller_next_waits_and_not_before) {
  run_virtual([]() -> gyre::task<> {
    bool began = false;
    auto handle = gyre::spawn([&]() -> gyre::task<> {
      began = true;
      co_return;
    });
    EXPECT_FALSE(began);
    co_await gyre::yield();
    EXPECT_TRUE(began);
    co_await handle;
  });
}

TEST(spawn, of_a_detached_task_that_fails_tells_the_handler_name_and_place_once) {
  run_virtual([]() -> gyre::task<> {
    failure_log log;
    constexpr unsigned line = __LINE__ + 1;
    gyre::spawn(fail_after(1ms, "lost"), {.name = "worker 7"}).detach();
    co_await gyre::sleep(5ms);
    CO_ASSERT_EQ(log.entries.size(), 1U);
    EXPECT_EQ(log.entries[0].name, "worker 7");
    EXPECT_EQ(log.entries[0].what, "lost");
    EXPECT_EQ(log.entries[0].line, line);
  });
}

TEST(spawn, a_failure_is_reported_when_the_last_handle_goes_and_nobody_has_looked) {
  run_virtual([]() -> gyre::task<> {
    failure_log log;
    {
      auto handle = gyre::spawn(fail_after(1ms, "unseen"));
      co_await gyre::sleep(5ms);
      EXPECT_TRUE(handle.done());
      EXPECT_TRUE(log.entries.empty());
    }
    CO_ASSERT_EQ(log.entries.size(), 1U);
    EXPECT_EQ(log.entries[0].what, "unseen");
  });
}

TEST(spawn, a_failure_that_was_awaited_is_not_reported) {
  run_virtual([]() -> gyre::task<> {
    failure_log log;
    EXPECT_EQ(co_await error_of(gyre::spawn(fail_after(1ms, "seen"))), "seen");
    EXPECT_TRUE(log.entries.empty());
  });
}

TEST(spawn, a_detached_task_that_is_cancelled_is_no_failure) {
  static std::size_t reported = 0;
  run_virtual([]() -> gyre::task<> {
    gyre::event_loop::current().set_exception_handler(
        [](const gyre::background_failure&, void*) noexcept { ++reported; }, nullptr);
    gyre::spawn(value_after(1h, 1)).detach();
    co_await gyre::yield();
  });
  EXPECT_EQ(reported, 0U);
}

TEST(spawn, cancelled_before_it_began_does_not_begin) {
  run_virtual([]() -> gyre::task<> {
    bool began = false;
    auto body = [&]() -> gyre::task<> {
      began = true;
      co_await gyre::yield();
    };
    auto task = gyre::spawn(body());
    auto function = gyre::spawn(body);
    task.cancel();
    function.cancel();
    co_await task.wait();
    co_await function.wait();
    EXPECT_FALSE(began);
    EXPECT_TRUE(task.state().was_cancelled());
    EXPECT_TRUE(function.state().was_cancelled());
  });
}

TEST(spawn, in_a_cancelled_task_starts_one_that_is_not_cancelled) {
  run_virtual([]() -> gyre::task<> {
    bool finished = false;
    auto handle = gyre::spawn([&]() -> gyre::task<> {
      try {
        co_await gyre::sleep(1h);
      } catch (const gyre::cancelled&) {
        gyre::spawn([&]() -> gyre::task<> {
          co_await gyre::sleep(1ms);
          finished = true;
        }).detach();
        throw;
      }
    });
    co_await gyre::yield();
    handle.cancel();
    co_await handle.wait();
    co_await gyre::sleep(2ms);
    EXPECT_TRUE(finished);
  });
}

TEST(task_handle, of_a_task_that_has_ended_gives_the_result_without_waiting) {
  run_virtual([]() -> gyre::task<> {
    auto handle = gyre::spawn(value_after(1ms, 4));
    co_await handle.wait();
    const auto begin = gyre::now();
    EXPECT_EQ(handle.result(), 4);
    EXPECT_EQ(gyre::now(), begin);
  });
}

TEST(task_handle, gives_references_and_move_only_values) {
  run_virtual([]() -> gyre::task<> {
    int target = 1;
    auto reference = gyre::spawn([&]() -> gyre::task<int&> { co_return target; });
    (co_await reference) = 2;
    EXPECT_EQ(target, 2);
    auto pointer = gyre::spawn([]() -> gyre::task<std::unique_ptr<int>> { co_return std::make_unique<int>(5); });
    EXPECT_EQ(*co_await pointer, 5);
  });
}

TEST(task_handle, cancel_after_the_end_changes_nothing) {
  run_virtual([]() -> gyre::task<> {
    auto handle = gyre::spawn(value_after(1ms, 4));
    co_await handle.wait();
    handle.cancel();
    EXPECT_EQ(co_await handle, 4);
  });
}

TEST(task_handle, a_value_that_came_in_spite_of_the_cancel_is_the_result) {
  run_virtual([]() -> gyre::task<> {
    auto handle = gyre::spawn([]() -> gyre::task<int> {
      try {
        co_await gyre::sleep(1h);
      } catch (const gyre::cancelled&) {
      }
      co_return 8;
    });
    co_await gyre::yield();
    handle.cancel();
    EXPECT_EQ(co_await handle, 8);
  });
}

TEST(task_handle, that_is_moved_goes_on_with_the_same_task) {
  run_virtual([]() -> gyre::task<> {
    auto first = gyre::spawn(value_after(1ms, 1), {.name = "one"});
    auto second = gyre::spawn(value_after(1h, 2), {.name = "two"});
    first = std::move(second);  // releases "one", which continues
    EXPECT_EQ(first.name(), "two");
    co_await gyre::sleep(2ms);
    EXPECT_FALSE(first.done());
    first.cancel();
    co_await first.wait();
  });
}

TEST(task_handle, waiters_that_are_cancelled_in_any_order_leave_the_others_waiting) {
  run_virtual([]() -> gyre::task<> {
    for (std::size_t victim = 0; victim < 3; ++victim) {
      auto target = gyre::spawn(value_after(10ms, 1));
      std::vector<gyre::task_handle<void>> waiters;
      for (int i = 0; i < 3; ++i) waiters.push_back(gyre::spawn([&]() -> gyre::task<> { co_await target.wait(); }));
      co_await gyre::sleep(1ms);
      waiters[victim].cancel();
      for (auto& each : waiters) co_await each.wait();
      for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(waiters[i].state().was_cancelled(), i == victim);
      EXPECT_EQ(co_await target, 1);
    }
  });
}

TEST(task_handle, awaited_by_a_task_that_is_cancelled_in_the_same_moment_as_it_ends_gives_the_result) {
  run_virtual([]() -> gyre::task<> {
    int seen = 0;
    auto target = gyre::spawn(value_after(5ms, 6));
    auto waiter = gyre::spawn([&]() -> gyre::task<> { seen = co_await target; });
    co_await target.wait();  // this task is resumed in the same turn as the waiter
    waiter.cancel();
    co_await waiter.wait();
    EXPECT_EQ(seen, 6);
  });
}

TEST(task_handle, a_chain_of_a_thousand_tasks_that_wait_for_each_other_unwinds) {
  run_virtual([]() -> gyre::task<> {
    struct chain {
      static gyre::task<int> link(int depth) {
        if (depth == 0) co_return 0;
        auto next = gyre::spawn(link(depth - 1));
        co_return 1 + co_await next;
      }
    };
    EXPECT_EQ(co_await chain::link(1000), 1000);
  });
}
