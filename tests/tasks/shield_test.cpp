// tests/tasks/shield_test.cpp: which cancels a shield holds off, and which it lets through.
#include <gyre/tasks/shield.hpp>

#include "tests/support/virtual_run.hpp"

#include <string>

using namespace gyre_test;

TEST(shield, keeps_a_cancel_that_came_before_from_what_is_inside) {
  run_virtual([]() -> gyre::task<> {
    int result = 0;
    auto body = [&]() -> gyre::task<> {
      co_await outlast_cancel();
      result = co_await gyre::shield(value_after(5ms, 9));
    };
    EXPECT_FALSE(co_await is_cancelled_after(1ms, body));  // it awaited nothing more, and returned
    EXPECT_EQ(result, 9);
  });
}

TEST(shield, lets_clean_up_finish_when_a_cancel_comes_during_it_and_then_the_next_await_fails) {
  run_virtual([]() -> gyre::task<> {
    const auto begin = gyre::now();
    std::string trace;
    auto body = [&]() -> gyre::task<> {
      auto clean_up = [&]() -> gyre::task<> {
        co_await gyre::sleep(20ms);
        trace += 'a';
      };
      co_await gyre::shield(clean_up);
      trace += 'b';
      co_await gyre::yield();
      trace += 'c';
    };
    EXPECT_TRUE(co_await is_cancelled_after(5ms, body));
    EXPECT_EQ(trace, "ab");
    EXPECT_EQ(since(begin), 20ms);
  });
}

TEST(shield, has_no_effect_on_a_cancel_after_it) {
  run_virtual([]() -> gyre::task<> {
    const auto begin = gyre::now();
    auto body = []() -> gyre::task<> {
      co_await gyre::shield(gyre::sleep(1ms));
      co_await gyre::sleep(1h);
    };
    EXPECT_TRUE(co_await is_cancelled_after(5ms, body));
    EXPECT_EQ(since(begin), 5ms);
  });
}

TEST(shield, passes_values_references_and_exceptions_through) {
  run_virtual([]() -> gyre::task<> {
    int target = 0;
    auto reference = [&]() -> gyre::task<int&> { co_return target; };
    (co_await gyre::shield(reference)) = 3;
    EXPECT_EQ(target, 3);
    EXPECT_EQ(co_await gyre::shield(value_after(1ms, 2)), 2);
    EXPECT_EQ(co_await error_of(gyre::shield(fail_after(1ms, "through"))), "through");
  });
}

TEST(shield, protects_tasks_that_are_spawned_in_a_group_inside_it) {
  run_virtual([]() -> gyre::task<> {
    int finished = 0;
    auto group_body = [&](gyre::task_group& group) -> gyre::task<> {
      for (int i = 0; i < 3; ++i)
        group.spawn([&finished]() -> gyre::task<> {
          co_await gyre::sleep(10ms);
          ++finished;
        });
      co_return;
    };
    auto body = [&]() -> gyre::task<> { co_await gyre::shield(gyre::task_group::scope(group_body)); };
    EXPECT_FALSE(co_await is_cancelled_after(1ms, body));
    EXPECT_EQ(finished, 3);
  });
}

TEST(shield, lets_a_time_out_and_a_group_inside_it_cancel_what_is_theirs) {
  run_virtual([]() -> gyre::task<> {
    bool expired = false;
    auto inside = [&]() -> gyre::task<> {
      expired = co_await throws<gyre::timed_out>(gyre::timeout(5ms, gyre::sleep(1h)));
      auto group_body = [](gyre::task_group& group) -> gyre::task<> {
        group.spawn(value_after(1h, 1));
        group.cancel();
        co_return;
      };
      co_await gyre::task_group::scope(group_body);
    };
    auto body = [&]() -> gyre::task<> { co_await gyre::shield(inside); };
    EXPECT_FALSE(co_await is_cancelled_after(1ms, body));
    EXPECT_TRUE(expired);
  });
}

TEST(shield, delays_a_time_out_around_it_which_is_still_reported) {
  run_virtual([]() -> gyre::task<> {
    const auto begin = gyre::now();
    auto body = []() -> gyre::task<> {
      co_await gyre::shield(gyre::sleep(30ms));
      co_await gyre::sleep(1h);
    };
    EXPECT_TRUE(co_await throws<gyre::timed_out>(gyre::timeout(10ms, body)));
    EXPECT_EQ(since(begin), 30ms);
  });
}

TEST(shield, is_finished_by_a_shutdown_too) {
  bool finished = false;
  run_virtual([&]() -> gyre::task<> {
    gyre::spawn([&]() -> gyre::task<> {
      co_await gyre::shield(gyre::sleep(1s));
      finished = true;
    }).detach();
    co_await gyre::yield();
  });
  EXPECT_TRUE(finished);
}
