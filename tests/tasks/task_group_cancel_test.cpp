// tests/tasks/task_group_cancel_test.cpp: a group when it is cancelled, or something around it or inside it.
#include <gyre/tasks/task_group.hpp>

#include "tests/support/virtual_run.hpp"

using namespace gyre_test;

namespace {

/// Spawns a child that sleeps for `time`. The scope waits for it.
gyre::task<> group_of_one_sleeper(std::chrono::milliseconds time) {
  auto body = [time](gyre::task_group& group) -> gyre::task<> {
    group.spawn(value_after(time, 1));
    co_return;
  };
  co_await gyre::task_group::scope(body);
}

gyre::task<> stubborn_failure(std::string what) {
  try {
    co_await gyre::sleep(1h);
  } catch (const gyre::cancelled&) {
  }
  throw std::runtime_error(what);
}

}  // namespace

TEST(task_group, whose_children_are_cut_off_by_a_cancel_from_outside_does_not_return_as_if_they_were_done) {
  run_virtual([]() -> gyre::task<> {
    bool went_on = false;
    auto handle = gyre::spawn([&]() -> gyre::task<> {
      co_await group_of_one_sleeper(1h);
      went_on = true;
    });
    co_await gyre::sleep(1ms);
    handle.cancel();
    co_await handle.wait();
    EXPECT_FALSE(went_on);
    EXPECT_TRUE(handle.state().was_cancelled());
  });
}

TEST(task_group, whose_children_are_cut_off_by_a_time_out_around_it_times_out) {
  run_virtual([]() -> gyre::task<> {
    const auto begin = gyre::now();
    bool expired = false;
    try {
      co_await gyre::timeout(10ms, group_of_one_sleeper(1h));
    } catch (const gyre::timed_out&) {
      expired = true;
    }
    EXPECT_TRUE(expired);
    EXPECT_EQ(since(begin), 10ms);
  });
}

TEST(task_group, inside_a_group_that_is_cancelled_passes_the_cancel_on) {
  run_virtual([]() -> gyre::task<> {
    bool went_on = false;
    auto body = [&](gyre::task_group& group) -> gyre::task<> {
      group.spawn([&]() -> gyre::task<> {
        co_await group_of_one_sleeper(1h);
        went_on = true;
      });
      co_await gyre::sleep(1ms);
      group.cancel();
    };
    co_await gyre::task_group::scope(body);
    EXPECT_FALSE(went_on);
  });
}

TEST(task_group, whose_children_all_finish_in_spite_of_a_cancel_from_outside_returns) {
  run_virtual([]() -> gyre::task<> {
    bool returned = false;
    auto stubborn = []() -> gyre::task<> {
      try {
        co_await gyre::sleep(1h);
      } catch (const gyre::cancelled&) {
      }
    };
    auto handle = gyre::spawn([&]() -> gyre::task<> {
      auto body = [&](gyre::task_group& group) -> gyre::task<> {
        group.spawn(stubborn());
        co_return;
      };
      co_await gyre::task_group::scope(body);
      returned = true;
    });
    co_await gyre::sleep(1ms);
    handle.cancel();
    co_await handle.wait();
    EXPECT_TRUE(returned);
    EXPECT_FALSE(handle.state().was_cancelled());
  });
}

TEST(task_group, a_failure_says_more_than_the_cancel_that_came_with_it) {
  run_virtual([]() -> gyre::task<> {
    auto handle = gyre::spawn([&]() -> gyre::task<> {
      auto body = [&](gyre::task_group& group) -> gyre::task<> {
        group.spawn(stubborn_failure("clean-up failed"));
        group.spawn(value_after(1h, 1));
        co_return;
      };
      co_await gyre::task_group::scope(body);
    });
    co_await gyre::sleep(1ms);
    handle.cancel();
    co_await handle.wait();
    std::string what;
    try {
      handle.result();
    } catch (const std::exception& error) {
      what = error.what();
    }
    EXPECT_EQ(what, "clean-up failed");
  });
}

TEST(task_group, that_cancels_itself_returns_normally_also_when_only_children_are_left) {
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

TEST(task_group, several_failures_arrive_as_a_group_body_included) {
  run_virtual([]() -> gyre::task<> {
    std::string what;
    auto body = [](gyre::task_group& group) -> gyre::task<> {
      group.spawn(stubborn_failure("second"));
      group.spawn(fail_after(1ms, "first"));
      co_await stubborn_failure("body");
    };
    try {
      co_await gyre::task_group::scope(body);
    } catch (const gyre::exception_group& group) {
      what = group.what();
      EXPECT_EQ(group.size(), 3U);
    }
    EXPECT_TRUE(what.starts_with("3 tasks failed: first; ")) << what;
  });
}

TEST(task_group, a_child_spawned_after_the_cancel_does_not_get_past_its_first_await) {
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

TEST(task_group, that_ends_by_a_failure_leaves_the_scope_around_it_alone) {
  run_virtual([]() -> gyre::task<> {
    auto body = [](gyre::task_group& group) -> gyre::task<> {
      group.spawn(fail_after(1ms, "x"));
      co_return;
    };
    EXPECT_EQ(co_await error_of(gyre::task_group::scope(body)), "x");
    co_await gyre::sleep(1ms);  // nothing outside is cancelled
  });
}

TEST(task_group, children_are_told_of_the_cancel_before_the_scope_returns_and_may_clean_up_shielded) {
  run_virtual([]() -> gyre::task<> {
    const auto begin = gyre::now();
    bool cleaned_up = false;
    auto body = [&](gyre::task_group& group) -> gyre::task<> {
      group.spawn([&]() -> gyre::task<> {
        bool cancelled = false;
        try {
          co_await gyre::sleep(1h);
        } catch (const gyre::cancelled&) {
          cancelled = true;
        }
        co_await gyre::shield(gyre::sleep(20ms));
        cleaned_up = cancelled;
      });
      group.spawn(fail_after(5ms, "sibling"));
      co_return;
    };
    EXPECT_EQ(co_await error_of(gyre::task_group::scope(body)), "sibling");
    EXPECT_TRUE(cleaned_up);
    EXPECT_EQ(since(begin), 25ms);
  });
}

TEST(task_group, with_no_child_returns_at_once) {
  run_virtual([]() -> gyre::task<> {
    auto body = [](gyre::task_group&) -> gyre::task<> { co_return; };
    co_await gyre::task_group::scope(body);
  });
}

TEST(task_group, of_ten_thousand_children_waits_for_all) {
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
