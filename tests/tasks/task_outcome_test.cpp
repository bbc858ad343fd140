// tests/tasks/task_outcome_test.cpp: which code sees the value or the failure of a task, and how often.
#include "tests/support/co_assert.hpp"
#include "tests/support/failure_log.hpp"
#include "tests/support/virtual_run.hpp"

#include <stdexcept>
#include <string>
#include <vector>

using namespace gyre_test;

TEST(task_outcome, a_failure_is_thrown_every_time_the_handle_is_awaited) {
  run_virtual([]() -> gyre::task<> {
    auto handle = gyre::spawn(fail_after(1ms, "broken"));
    for (int i = 0; i < 3; ++i) EXPECT_EQ(co_await error_of(handle), "broken");
    EXPECT_THROW(handle.result(), std::runtime_error);
    EXPECT_THROW(handle.result(), std::runtime_error);
  });
}

TEST(task_outcome, a_failure_is_thrown_to_every_task_that_awaits_it) {
  run_virtual([]() -> gyre::task<> {
    auto handle = gyre::spawn(fail_after(1ms, "broken"));
    std::vector<gyre::task<std::string>> waiters;
    for (int i = 0; i < 3; ++i) waiters.push_back(error_of(handle));
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

TEST(task_outcome, nothing_and_a_reference_may_be_awaited_as_often_as_wanted) {
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

TEST(task_outcome, a_failure_has_not_been_seen_by_waiting_for_the_end) {
  run_virtual([]() -> gyre::task<> {
    const failure_log log;
    {
      auto handle = gyre::spawn(fail_after(1ms, "unseen"), {.name = "waited"});
      co_await handle.wait();
    }
    CO_ASSERT_EQ(log.entries.size(), 1U);
    EXPECT_EQ(log.entries[0].name, "waited");
    {
      std::vector<gyre::task_handle<>> handles;
      handles.push_back(gyre::spawn(fail_after(1ms, "unseen"), {.name = "one of many"}));
      (void)co_await gyre::wait(handles);
    }
    CO_ASSERT_EQ(log.entries.size(), 2U);
    EXPECT_EQ(log.entries[1].name, "one of many");
  });
}

TEST(task_outcome, a_failure_has_been_seen_by_an_await_its_result_and_as_result) {
  run_virtual([]() -> gyre::task<> {
    const failure_log log;
    {
      EXPECT_EQ(co_await error_of(gyre::spawn(fail_after(1ms, "a"))), "a");
      auto asked = gyre::spawn(fail_after(1ms, "b"));
      co_await asked.wait();
      EXPECT_THROW(asked.result(), std::runtime_error);
      const auto as_value = co_await gyre::as_result(gyre::spawn(fail_after(1ms, "c")));
      EXPECT_FALSE(as_value.has_value());
    }
    EXPECT_TRUE(log.entries.empty());
  });
}

// ---- groups

TEST(task_outcome, a_failure_that_the_body_of_a_group_has_awaited_is_thrown_as_itself) {
  run_virtual([]() -> gyre::task<> {
    auto body = [](gyre::task_group& group) -> gyre::task<> {
      auto child = group.spawn(fail_after(1ms, "once"));
      co_await child;
    };
    EXPECT_EQ(co_await error_of(gyre::task_group::scope(body)), "once");
  });
}

TEST(task_outcome, a_failure_that_a_sibling_has_awaited_is_listed_once_beside_another) {
  run_virtual([]() -> gyre::task<> {
    auto body = [](gyre::task_group& group) -> gyre::task<> {
      auto child = group.spawn(fail_after(1ms, "first"));
      group.spawn([&]() -> gyre::task<> { co_await child; });
      group.spawn(fail_despite_cancel("second"));
      co_await group.wait();
    };
    EXPECT_EQ(co_await error_of(gyre::task_group::scope(body)), "2 tasks failed: first; second");
  });
}
