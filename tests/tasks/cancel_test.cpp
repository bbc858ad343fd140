// tests/tasks/cancel_test.cpp: a cancel of a task by its handle or by itself, and a cancel that is taken back.
#include <gyre/tasks/current_task.hpp>
#include <gyre/tasks/spawn.hpp>

#include "tests/support/virtual_run.hpp"

#include <optional>
#include <string>

using namespace gyre_test;

TEST(cancel, is_level_triggered_so_that_every_later_await_fails_too) {
  run_virtual([]() -> gyre::task<> {
    int failures = 0;
    auto stubborn = [&]() -> gyre::task<> {
      for (; failures < 5; ++failures) EXPECT_THROW(co_await gyre::sleep(1h), gyre::cancelled);
    };
    (void)co_await is_cancelled_after(1ms, stubborn);
    EXPECT_EQ(failures, 5);
  });
}

TEST(cancel, is_not_caught_as_a_std_exception) {
  run_virtual([]() -> gyre::task<> {
    bool swallowed = false;
    auto body = [&]() -> gyre::task<> { swallowed = co_await throws<std::exception>(gyre::sleep(1h)); };
    EXPECT_TRUE(co_await is_cancelled_after(1ms, body));
    EXPECT_FALSE(swallowed);
  });
}

TEST(cancel, of_a_waiter_leaves_the_awaited_task_running) {
  run_virtual([]() -> gyre::task<> {
    auto handle = gyre::spawn(value_after(10ms, 3));
    EXPECT_TRUE(co_await is_cancelled_after(1ms, [&]() -> gyre::task<> { (void)co_await handle; }));
    EXPECT_EQ(co_await handle, 3);
  });
}

TEST(cancel, after_the_end_of_a_task_changes_nothing) {
  run_virtual([]() -> gyre::task<> {
    auto handle = gyre::spawn(value_after(1ms, 4));
    co_await handle.wait();
    handle.cancel();
    EXPECT_EQ(co_await handle, 4);
  });
}

TEST(cancel, loses_against_a_value_that_comes_in_spite_of_it) {
  run_virtual([]() -> gyre::task<> {
    auto handle = gyre::spawn(value_despite_cancel(8));
    co_await gyre::yield();
    handle.cancel();
    EXPECT_EQ(co_await handle, 8);
  });
}

TEST(cancel, of_a_task_and_of_the_one_that_it_awaits_is_a_cancel_and_no_failure) {
  run_virtual([]() -> gyre::task<> {
    auto first = gyre::spawn(value_after(1h, 1));
    auto second = gyre::spawn([&]() -> gyre::task<> { (void)co_await first; });
    co_await gyre::yield();
    first.cancel();
    co_await gyre::yield();  // the first has ended; the second has not continued yet
    EXPECT_TRUE(co_await cancel_and_wait(second));
  });
}

// ---- cancels that are taken back

TEST(cancel, that_is_taken_back_lets_later_awaits_pass) {
  run_virtual([]() -> gyre::task<> {
    std::optional<gyre::task_handle<int>> handle;
    handle.emplace(gyre::spawn([&]() -> gyre::task<int> {
      co_await outlast_cancel();
      EXPECT_TRUE(handle->cancelling());
      handle->uncancel();
      EXPECT_FALSE(handle->cancelling());
      co_await gyre::sleep(1ms);
      co_return 5;
    }));
    co_await gyre::yield();
    handle->cancel();
    EXPECT_EQ(co_await *handle, 5);
  });
}

TEST(cancel, that_is_taken_back_does_not_undo_that_of_a_scope_inside) {
  run_virtual([]() -> gyre::task<> {
    std::optional<gyre::task_handle<bool>> handle;
    handle.emplace(gyre::spawn([&]() -> gyre::task<bool> {
      bool inner_cancelled = false;
      auto body = [&](gyre::task_group& group) -> gyre::task<> {
        group.cancel();
        handle->cancel();
        handle->uncancel();
        EXPECT_THROW(co_await gyre::yield(), gyre::cancelled);
        inner_cancelled = true;
      };
      co_await gyre::task_group::scope(body);
      co_return inner_cancelled;
    }));
    EXPECT_TRUE(co_await *handle);
  });
}

TEST(cancel, is_counted_and_so_are_those_that_are_taken_back) {
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

TEST(cancel, can_be_taken_back_after_the_end_of_the_task_and_of_its_group) {
  run_virtual([]() -> gyre::task<> {
    gyre::task_handle<int> child;
    auto body = [&](gyre::task_group& group) -> gyre::task<> {
      child = group.spawn(value_after(1h, 1));
      co_await gyre::yield();
      child.cancel();
    };
    co_await gyre::task_group::scope(body);
    EXPECT_EQ(child.cancelling(), 1U);
    EXPECT_EQ(child.uncancel(), 0U);
    EXPECT_EQ(child.uncancel(), 0U);
  });
}

// ---- the task itself

TEST(current_task, takes_back_its_own_cancel_without_a_handle) {
  run_virtual([]() -> gyre::task<> {
    auto body = []() -> gyre::task<std::string> {
      gyre::this_task self = co_await gyre::current_task();
      co_await outlast_cancel();
      EXPECT_EQ(self.cancelling(), 1U);
      EXPECT_EQ(self.uncancel(), 0U);
      co_await gyre::sleep(1ms);
      co_return std::string(self.name());
    };
    auto handle = gyre::spawn(body, {.name = "survivor"});
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
