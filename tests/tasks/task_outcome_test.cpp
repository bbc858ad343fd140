// tests/tasks/task_outcome_test.cpp: which code sees the value or the failure of a task, and how often.
#include "tests/support/co_assert.hpp"
#include "tests/support/failure_log.hpp"
#include "tests/support/virtual_run.hpp"

#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

using namespace gyre_test;

namespace {

gyre::task<int> throws_after(std::chrono::milliseconds time, std::string what) {
  co_await gyre::sleep(time);
  throw std::runtime_error(what);
}

gyre::task<std::string> failure_of(gyre::task_handle<int>& handle) {
  try {
    (void)co_await handle;
    co_return "none";
  } catch (const std::exception& error) {
    co_return error.what();
  }
}

}  // namespace

TEST(task_outcome, a_failure_is_thrown_every_time_the_handle_is_awaited) {
  run_virtual([]() -> gyre::task<> {
    auto handle = gyre::spawn(throws_after(1ms, "broken"));
    for (int i = 0; i < 3; ++i) EXPECT_EQ(co_await failure_of(handle), "broken");
    EXPECT_THROW(handle.result(), std::runtime_error);
    EXPECT_THROW(handle.result(), std::runtime_error);
  });
}

TEST(task_outcome, a_failure_is_thrown_to_every_task_that_awaits_it) {
  run_virtual([]() -> gyre::task<> {
    auto handle = gyre::spawn(throws_after(1ms, "broken"));
    std::vector<gyre::task<std::string>> waiters;
    for (int i = 0; i < 3; ++i) waiters.push_back(failure_of(handle));
    const auto seen = co_await gyre::gather(std::move(waiters));
    EXPECT_EQ(seen, (std::vector<std::string>(3, "broken")));
  });
}

TEST(task_outcome, a_cancelled_task_throws_task_cancelled_every_time) {
  run_virtual([]() -> gyre::task<> {
    auto handle = gyre::spawn(value_after(1h, 1));
    co_await gyre::yield();
    handle.cancel();
    EXPECT_THROW((void)co_await handle, gyre::task_cancelled);
    EXPECT_THROW((void)co_await handle, gyre::task_cancelled);
  });
}

TEST(task_outcome, of_void_or_a_reference_may_be_awaited_as_often_as_wanted) {
  run_virtual([]() -> gyre::task<> {
    static int value = 7;
    auto nothing = gyre::spawn([]() -> gyre::task<> { co_return; });
    auto reference = gyre::spawn([]() -> gyre::task<int&> { co_return value; });
    for (int i = 0; i < 2; ++i) {
      co_await nothing;
      EXPECT_EQ(&co_await reference, &value);
    }
  });
}

TEST(task_outcome_death, a_value_that_is_taken_twice_stops_the_program) {
  EXPECT_DEATH(run_virtual([]() -> gyre::task<> {
                 auto handle = gyre::spawn(value_after(1ms, 3));
                 EXPECT_EQ(co_await handle, 3);
                 (void)co_await handle;
               }),
               "the value of a task was taken for the second time");
  EXPECT_DEATH(run_virtual([]() -> gyre::task<> {
                 auto handle = gyre::spawn(value_after(1ms, 3));
                 auto take = [&]() -> gyre::task<> { (void)co_await handle; };
                 auto both = gyre::gather(take(), take());
                 co_await std::move(both);
               }),
               "shared_task");
}

TEST(task_outcome_death, the_result_of_a_task_that_runs_stops_the_program) {
  EXPECT_DEATH(run_virtual([]() -> gyre::task<> {
                 auto handle = gyre::spawn(value_after(1ms, 3));
                 (void)handle.result();
                 co_return;
               }),
               "result\\(\\) of a task that has not ended");
}

TEST(task_outcome_death, a_task_that_awaits_its_own_handle_stops_the_program) {
  EXPECT_DEATH(run_virtual([]() -> gyre::task<> {
                 gyre::task_handle<> handle;
                 handle = gyre::spawn([&]() -> gyre::task<> { co_await handle; });
                 co_await handle;
               }),
               "a task awaits its own handle");
}

// ---- failures that have been seen

TEST(task_outcome, waiting_for_the_end_is_not_seeing_the_failure) {
  run_virtual([]() -> gyre::task<> {
    failure_log log;
    {
      auto handle = gyre::spawn(throws_after(1ms, "unseen"), {.name = "waited"});
      co_await handle.wait();
    }
    CO_ASSERT_EQ(log.entries.size(), 1U);
    EXPECT_EQ(log.entries[0].name, "waited");
    {
      std::vector<gyre::task_handle<int>> handles;
      handles.push_back(gyre::spawn(throws_after(1ms, "unseen"), {.name = "one of many"}));
      (void)co_await gyre::wait(handles);
    }
    CO_ASSERT_EQ(log.entries.size(), 2U);
    EXPECT_EQ(log.entries[1].name, "one of many");
  });
}

TEST(task_outcome, awaiting_it_its_result_and_as_result_are_seeing_the_failure) {
  run_virtual([]() -> gyre::task<> {
    const failure_log log;
    {
      auto awaited = gyre::spawn(throws_after(1ms, "a"));
      EXPECT_EQ(co_await failure_of(awaited), "a");
      auto asked = gyre::spawn(throws_after(1ms, "b"));
      co_await asked.wait();
      EXPECT_THROW(asked.result(), std::runtime_error);
      const auto as_value = co_await gyre::as_result(gyre::spawn(throws_after(1ms, "c")));
      EXPECT_FALSE(as_value.has_value());
    }
    EXPECT_TRUE(log.entries.empty());
  });
}

// ---- handles that are destroyed while a task waits

TEST(task_outcome, a_waiter_gets_the_result_of_a_task_whose_handle_was_dropped_meanwhile) {
  run_virtual([]() -> gyre::task<> {
    auto handle = gyre::spawn(value_after(10ms, 5));
    auto waiter = gyre::spawn([&]() -> gyre::task<int> { co_return co_await handle; });
    auto watching = gyre::spawn([&]() -> gyre::task<> { co_await handle.wait(); });
    co_await gyre::sleep(1ms);
    handle.detach();
    EXPECT_EQ(co_await waiter, 5);
    co_await watching;
  });
}

TEST(task_outcome, a_waiter_of_a_shared_task_whose_last_copy_was_dropped_learns_that_it_was_cancelled) {
  run_virtual([]() -> gyre::task<> {
    std::optional<gyre::shared_task<int>> shared;
    shared.emplace(value_after(10ms, 5));
    auto waiter = gyre::spawn([&]() -> gyre::task<int> { co_return co_await *shared; });
    co_await gyre::sleep(1ms);
    shared.reset();
    EXPECT_THROW((void)co_await waiter, gyre::task_cancelled);
  });
}

// ---- groups

TEST(task_outcome, a_failure_that_the_body_of_a_group_has_awaited_is_thrown_as_itself) {
  run_virtual([]() -> gyre::task<> {
    auto body = [](gyre::task_group& group) -> gyre::task<> {
      auto child = group.spawn(throws_after(1ms, "once"));
      (void)co_await child;
    };
    auto whole = gyre::task_group::scope(body);
    EXPECT_THROW(co_await std::move(whole), std::runtime_error);
  });
}

TEST(task_outcome, a_failure_that_a_sibling_has_awaited_is_listed_once_beside_another) {
  run_virtual([]() -> gyre::task<> {
    auto body = [](gyre::task_group& group) -> gyre::task<> {
      auto child = group.spawn(throws_after(1ms, "first"));
      group.spawn([&]() -> gyre::task<> { (void)co_await child; });
      group.spawn([]() -> gyre::task<> {
        try {
          co_await gyre::sleep(1h);
        } catch (const gyre::cancelled&) {
        }
        throw std::runtime_error("second");
      });
      co_await group.wait();
    };
    try {
      co_await gyre::task_group::scope(body);
      ADD_FAILURE() << "it must throw";
    } catch (const gyre::exception_group& group) {
      EXPECT_STREQ(group.what(), "2 tasks failed: first; second");
    }
  });
}

// ---- how often a task was cancelled

TEST(task_handle, counts_cancels_and_how_many_were_taken_back) {
  run_virtual([]() -> gyre::task<> {
    auto handle = gyre::spawn(value_after(1h, 1));
    co_await gyre::yield();
    EXPECT_EQ(handle.cancelling(), 0U);
    handle.cancel();
    handle.cancel();
    EXPECT_EQ(handle.uncancel(), 1U);
    EXPECT_EQ(handle.cancelling(), 1U);
    EXPECT_THROW((void)co_await handle, gyre::task_cancelled);
  });
}

TEST(current_task, takes_back_its_own_cancel_without_a_handle) {
  run_virtual([]() -> gyre::task<> {
    auto handle = gyre::spawn(
        []() -> gyre::task<std::string> {
          gyre::this_task self = co_await gyre::current_task();
          try {
            co_await gyre::sleep(1h);
          } catch (const gyre::cancelled&) {
            EXPECT_EQ(self.cancelling(), 1U);
            EXPECT_EQ(self.uncancel(), 0U);
          }
          co_await gyre::sleep(1ms);
          co_return std::string(self.name());
        },
        {.name = "survivor"});
    co_await gyre::sleep(1ms);
    handle.cancel();
    EXPECT_EQ(co_await handle, "survivor");
  });
}

TEST(current_task, that_cancels_itself_fails_at_its_next_await) {
  run_virtual([]() -> gyre::task<> {
    auto handle = gyre::spawn([]() -> gyre::task<> {
      gyre::this_task self = co_await gyre::current_task();
      self.cancel();
      co_await gyre::yield();
      ADD_FAILURE() << "it goes on";
    });
    EXPECT_THROW(co_await handle, gyre::task_cancelled);
  });
}

TEST(task_outcome, a_task_that_is_cancelled_together_with_the_one_it_awaits_is_cancelled_and_has_not_failed) {
  run_virtual([]() -> gyre::task<> {
    auto first = gyre::spawn(throws_after(1h, "never"));
    auto second = gyre::spawn([&]() -> gyre::task<> { (void)co_await first; });
    co_await gyre::yield();
    first.cancel();
    co_await gyre::yield();  // the first has ended; the second has not continued yet
    second.cancel();
    co_await second.wait();
    EXPECT_TRUE(second.state().was_cancelled());
  });
}

TEST(task_outcome, a_loop_that_ends_reports_no_failure_of_background_tasks_that_await_each_other) {
  gyre::event_loop loop;
  const failure_log log;
  auto chain = gyre::spawn(throws_after(1h, "never"));
  for (int i = 0; i < 5; ++i) {
    auto next = [before = std::move(chain)]() mutable -> gyre::task<int> { co_return co_await before; };
    chain = gyre::spawn(std::move(next));
  }
  chain.detach();
  for (int i = 0; i < 3; ++i) loop.turn(false);
  loop.shutdown();
  EXPECT_EQ(log.entries.size(), 0U);
}
