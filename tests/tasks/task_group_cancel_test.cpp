// tests/tasks/task_group_cancel_test.cpp: a group when it is cancelled, or something around it or inside it.
#include <gyre/tasks/task_group.hpp>

#include "tests/support/virtual_run.hpp"

#include <string>

using namespace gyre_test;

namespace {

/// Spawns a child that sleeps for an hour. The scope waits for it.
gyre::task<> group_of_a_sleeper() {
  auto body = [](gyre::task_group& group) -> gyre::task<> {
    group.spawn(value_after(1h, 1));
    co_return;
  };
  co_await gyre::task_group::scope(body);
}

}  // namespace

TEST(task_group, ends_normally_after_its_own_cancel) {
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

TEST(task_group, ends_normally_after_a_cancel_by_a_child_when_only_children_are_left) {
  run_virtual([]() -> gyre::task<> {
    const auto begin = gyre::now();
    auto body = [](gyre::task_group& group) -> gyre::task<> {
      group.spawn(value_after(1h, 1));
      group.spawn([&group]() -> gyre::task<> {
        co_await gyre::sleep(5ms);
        group.cancel();
      });
      co_return;
    };
    co_await gyre::task_group::scope(body);
    EXPECT_EQ(since(begin), 5ms);
  });
}

TEST(task_group, does_not_let_a_child_past_its_first_await_that_is_spawned_after_the_cancel) {
  run_virtual([]() -> gyre::task<> {
    bool went_on = false;
    auto child = [&]() -> gyre::task<> {
      co_await gyre::sleep(1ms);
      went_on = true;
    };
    auto body = [&](gyre::task_group& group) -> gyre::task<> {
      group.cancel();
      group.spawn(child());
      group.spawn(child);
      co_return;
    };
    co_await gyre::task_group::scope(body);
    EXPECT_FALSE(went_on);
  });
}

TEST(task_group, goes_on_when_a_child_is_cancelled_by_its_handle) {
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

// ---- from outside

TEST(task_group, passes_a_cancel_from_outside_on_to_its_children_and_ends_as_cancelled) {
  run_virtual([]() -> gyre::task<> {
    int cancelled_children = 0;
    auto body = [&](gyre::task_group& group) -> gyre::task<> {
      group.spawn(count_cancel(cancelled_children));
      group.spawn(count_cancel(cancelled_children));
      co_await group.wait();
      co_await gyre::yield();
    };
    EXPECT_TRUE(co_await is_cancelled_after(1ms, gyre::task_group::scope(body)));
    EXPECT_EQ(cancelled_children, 2);
  });
}

TEST(task_group, does_not_return_as_if_its_children_were_done_when_a_cancel_from_outside_cuts_them_off) {
  run_virtual([]() -> gyre::task<> {
    bool went_on = false;
    auto body = [&]() -> gyre::task<> {
      co_await group_of_a_sleeper();
      went_on = true;
    };
    EXPECT_TRUE(co_await is_cancelled_after(1ms, body));
    EXPECT_FALSE(went_on);
  });
}

TEST(task_group, does_not_return_as_if_its_children_were_done_when_a_group_around_it_is_cancelled) {
  run_virtual([]() -> gyre::task<> {
    bool went_on = false;
    auto body = [&](gyre::task_group& group) -> gyre::task<> {
      group.spawn([&]() -> gyre::task<> {
        co_await group_of_a_sleeper();
        went_on = true;
      });
      co_await gyre::sleep(1ms);
      group.cancel();
    };
    co_await gyre::task_group::scope(body);
    EXPECT_FALSE(went_on);
  });
}

TEST(task_group, times_out_when_a_time_out_around_it_cuts_its_children_off) {
  run_virtual([]() -> gyre::task<> {
    const auto begin = gyre::now();
    EXPECT_TRUE(co_await throws<gyre::timed_out>(gyre::timeout(10ms, group_of_a_sleeper())));
    EXPECT_EQ(since(begin), 10ms);
  });
}

TEST(task_group, returns_when_all_children_finish_in_spite_of_a_cancel_from_outside) {
  run_virtual([]() -> gyre::task<> {
    bool returned = false;
    auto body = [&]() -> gyre::task<> {
      auto group_body = [](gyre::task_group& group) -> gyre::task<> {
        group.spawn(outlast_cancel());
        co_return;
      };
      co_await gyre::task_group::scope(group_body);
      returned = true;
    };
    EXPECT_FALSE(co_await is_cancelled_after(1ms, body));
    EXPECT_TRUE(returned);
  });
}

TEST(task_group, throws_a_failure_in_place_of_the_cancel_that_came_with_it) {
  run_virtual([]() -> gyre::task<> {
    auto body = [](gyre::task_group& group) -> gyre::task<> {
      group.spawn(fail_despite_cancel("clean-up failed"));
      group.spawn(value_after(1h, 1));
      co_return;
    };
    auto handle = gyre::spawn(gyre::task_group::scope(body));
    co_await gyre::sleep(1ms);
    handle.cancel();
    EXPECT_EQ(co_await error_of(handle), "clean-up failed");
  });
}
