// tests/tasks/task_group_test.cpp: tasks that live and fail together.
#include <gyre/tasks/task_group.hpp>

#include "tests/support/virtual_run.hpp"

using namespace gyre_test;

TEST(task_group, scope_waits_for_every_child) {
  run_virtual([]() -> gyre::task<> {
    const auto begin = gyre::now();
    int ended = 0;
    auto child = [&](std::chrono::milliseconds time) -> gyre::task<> {
      co_await gyre::sleep(time);
      ++ended;
    };
    auto body = [&](gyre::task_group& group) -> gyre::task<> {
      for (const auto time : {5ms, 30ms, 10ms}) group.spawn(child(time));
      co_return;
    };
    co_await gyre::task_group::scope(body);
    EXPECT_EQ(ended, 3);
    EXPECT_EQ(since(begin), 30ms);
  });
}

TEST(task_group, the_first_failure_cancels_siblings_and_body_and_is_thrown) {
  run_virtual([]() -> gyre::task<> {
    const auto begin = gyre::now();
    auto body = [](gyre::task_group& group) -> gyre::task<> {
      group.spawn(value_after(1h, 1));
      group.spawn(fail_after(5ms, "child"));
      co_await gyre::sleep(1h);
    };
    EXPECT_EQ(co_await error_of(gyre::task_group::scope(body)), "child");
    EXPECT_EQ(since(begin), 5ms);
  });
}

TEST(task_group, an_exception_of_the_body_cancels_the_children) {
  run_virtual([]() -> gyre::task<> {
    const auto begin = gyre::now();
    auto body = [](gyre::task_group& group) -> gyre::task<> {
      group.spawn(value_after(1h, 1));
      co_await gyre::sleep(1ms);
      throw std::runtime_error("body");
    };
    EXPECT_EQ(co_await error_of(gyre::task_group::scope(body)), "body");
    EXPECT_EQ(since(begin), 1ms);
  });
}

TEST(task_group, its_own_cancel_ends_it_normally) {
  run_virtual([]() -> gyre::task<> {
    const auto begin = gyre::now();
    auto body = [](gyre::task_group& group) -> gyre::task<> {
      group.spawn(value_after(1h, 1));
      co_await gyre::sleep(1ms);
      group.cancel();
    };
    co_await gyre::task_group::scope(body);
    EXPECT_EQ(since(begin), 1ms);
  });
}

TEST(task_group, children_may_spawn_further_children) {
  run_virtual([]() -> gyre::task<> {
    int leaves = 0;
    struct tree {
      static gyre::task<> grow(gyre::task_group& group, int depth, int& leaf_count) {
        if (depth == 0) {
          ++leaf_count;
          co_return;
        }
        co_await gyre::yield();
        group.spawn(grow(group, depth - 1, leaf_count));
        group.spawn(grow(group, depth - 1, leaf_count));
      }
    };
    auto body = [&](gyre::task_group& group) -> gyre::task<> {
      group.spawn(tree::grow(group, 6, leaves));
      co_return;
    };
    co_await gyre::task_group::scope(body);
    EXPECT_EQ(leaves, 64);
  });
}

TEST(task_group, wait_returns_when_no_child_is_left_and_more_may_follow) {
  run_virtual([]() -> gyre::task<> {
    auto body = [](gyre::task_group& group) -> gyre::task<> {
      group.spawn(value_after(5ms, 1));
      co_await group.wait();
      EXPECT_EQ(group.size(), 0U);
      group.spawn(value_after(5ms, 1));
      EXPECT_EQ(group.size(), 1U);
    };
    co_await gyre::task_group::scope(body);
  });
}

TEST(task_group, a_child_cancelled_by_its_handle_fails_nobody) {
  run_virtual([]() -> gyre::task<> {
    auto body = [](gyre::task_group& group) -> gyre::task<> {
      auto victim = group.spawn(value_after(1h, 1));
      auto other = group.spawn(value_after(5ms, 2));
      co_await gyre::sleep(1ms);
      victim.cancel();
      EXPECT_EQ(co_await other, 2);
    };
    co_await gyre::task_group::scope(body);
  });
}

TEST(task_group, a_cancel_from_outside_reaches_children_and_stays_a_cancel) {
  run_virtual([]() -> gyre::task<> {
    int cancelled_children = 0;
    auto child = [&]() -> gyre::task<> {
      try {
        co_await gyre::sleep(1h);
      } catch (const gyre::cancelled&) {
        ++cancelled_children;
        throw;
      }
    };
    auto handle = gyre::spawn([&]() -> gyre::task<> {
      auto body = [&](gyre::task_group& group) -> gyre::task<> {
        group.spawn(child());
        group.spawn(child());
        co_await group.wait();
        co_await gyre::yield();
      };
      co_await gyre::task_group::scope(body);
    });
    co_await gyre::sleep(1ms);
    handle.cancel();
    co_await handle.wait();
    EXPECT_EQ(cancelled_children, 2);
    EXPECT_TRUE(handle.state().was_cancelled());
  });
}

TEST(task_group, nested_groups_fail_from_the_inside_out) {
  run_virtual([]() -> gyre::task<> {
    auto inner = [](gyre::task_group& group) -> gyre::task<> {
      group.spawn(fail_after(1ms, "deep"));
      co_await gyre::sleep(1h);
    };
    auto outer = [&](gyre::task_group& group) -> gyre::task<> {
      group.spawn(value_after(1h, 1));
      co_await gyre::task_group::scope(inner);
    };
    EXPECT_EQ(co_await error_of(gyre::task_group::scope(outer)), "deep");
  });
}
