// tests/tasks/task_group_test.cpp: tasks that live and fail together.
#include <gyre/tasks/task_group.hpp>

#include "tests/support/virtual_run.hpp"

#include <stdexcept>
#include <string>

using namespace gyre_test;

TEST(task_group, waits_for_every_child) {
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

TEST(task_group, returns_at_once_when_it_has_no_child) {
  run_virtual([]() -> gyre::task<> {
    auto body = [](gyre::task_group&) -> gyre::task<> { co_return; };
    co_await gyre::task_group::scope(body);
  });
}

TEST(task_group, waits_for_ten_thousand_children) {
  run_virtual([]() -> gyre::task<> {
    int ended = 0;
    auto body = [&](gyre::task_group& group) -> gyre::task<> {
      for (int i = 0; i < 10'000; ++i)
        group.spawn([&ended, i]() -> gyre::task<> {
          co_await gyre::sleep(std::chrono::microseconds(i % 97));
          ++ended;
        });
      co_return;
    };
    co_await gyre::task_group::scope(body);
    EXPECT_EQ(ended, 10'000);
  });
}

TEST(task_group, lets_children_spawn_further_children) {
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

TEST(task_group, may_get_more_children_after_a_wait_for_the_last_one) {
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

// ---- failures

TEST(task_group, cancels_siblings_and_body_at_the_first_failure_and_throws_it) {
  run_virtual([]() -> gyre::task<> {
    const auto begin = gyre::now();
    auto body = [](gyre::task_group& group) -> gyre::task<> {
      group.spawn(value_after(1h, 1));
      group.spawn(fail_after(5ms, "child"));
      co_await gyre::sleep(1h);
    };
    EXPECT_EQ(co_await error_of(gyre::task_group::scope(body)), "child");
    EXPECT_EQ(since(begin), 5ms);
    co_await gyre::sleep(1ms);  // nothing outside is cancelled
  });
}

TEST(task_group, cancels_the_children_when_its_body_throws) {
  run_virtual([]() -> gyre::task<> {
    const auto begin = gyre::now();
    auto body = [](gyre::task_group& group) -> gyre::task<> {
      group.spawn(value_after(1h, 1));
      co_await fail_after(1ms, "body");
    };
    EXPECT_EQ(co_await error_of(gyre::task_group::scope(body)), "body");
    EXPECT_EQ(since(begin), 1ms);
  });
}

TEST(task_group, passes_a_failure_on_to_the_group_around_it) {
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

TEST(task_group, throws_several_failures_as_a_group_in_which_that_of_the_body_counts) {
  run_virtual([]() -> gyre::task<> {
    auto body = [](gyre::task_group& group) -> gyre::task<> {
      group.spawn(fail_despite_cancel("second"));
      group.spawn(fail_after(1ms, "first"));
      co_await fail_despite_cancel("body");
    };
    try {
      co_await gyre::task_group::scope(body);
      ADD_FAILURE() << "nothing was thrown";
    } catch (const gyre::exception_group& group) {
      EXPECT_EQ(group.size(), 3U);
      EXPECT_TRUE(std::string(group.what()).starts_with("3 tasks failed: first; ")) << group.what();
    }
  });
}

TEST(task_group, tells_children_of_a_failure_before_it_returns_so_that_they_may_clean_up_shielded) {
  run_virtual([]() -> gyre::task<> {
    const auto begin = gyre::now();
    bool cleaned_up = false;
    auto body = [&](gyre::task_group& group) -> gyre::task<> {
      group.spawn([&]() -> gyre::task<> {
        co_await outlast_cancel();
        co_await gyre::shield(gyre::sleep(20ms));
        cleaned_up = true;
      });
      group.spawn(fail_after(5ms, "sibling"));
      co_return;
    };
    EXPECT_EQ(co_await error_of(gyre::task_group::scope(body)), "sibling");
    EXPECT_TRUE(cleaned_up);
    EXPECT_EQ(since(begin), 25ms);
  });
}
