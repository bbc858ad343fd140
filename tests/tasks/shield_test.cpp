// tests/tasks/shield_test.cpp: which cancels a shield holds off, and which it lets through.
#include <gyre/tasks/shield.hpp>

#include "tests/support/virtual_run.hpp"

using namespace gyre_test;

namespace {

/// Runs `body` as a task, cancels it after `time`, and waits for it. Returns whether the cancel ended it.
template <class Body>
gyre::task<bool> cancel_after(std::chrono::milliseconds time, Body body) {
  auto handle = gyre::spawn(std::move(body));
  co_await gyre::sleep(time);
  handle.cancel();
  co_await handle.wait();
  co_return handle.state().was_cancelled();
}

}  // namespace

TEST(shield, a_cancel_that_came_before_does_not_reach_what_is_inside) {
  run_virtual([]() -> gyre::task<> {
    int result = 0;
    auto body = [&]() -> gyre::task<> {
      bool cancelled = false;
      try {
        co_await gyre::sleep(1h);
      } catch (const gyre::cancelled&) {
        cancelled = true;
      }
      if (cancelled) result = co_await gyre::shield(value_after(5ms, 9));
    };
    EXPECT_FALSE(co_await cancel_after(1ms, body));  // it awaited nothing more, and returned
    EXPECT_EQ(result, 9);
  });
}

TEST(shield, a_cancel_that_comes_during_it_meets_the_next_await) {
  run_virtual([]() -> gyre::task<> {
    const auto begin = gyre::now();
    std::string trace;
    auto body = [&]() -> gyre::task<> {
      co_await gyre::shield(gyre::sleep(20ms));
      trace += 'a';
      co_await gyre::yield();
      trace += 'b';
    };
    EXPECT_TRUE(co_await cancel_after(5ms, body));
    EXPECT_EQ(trace, "a");
    EXPECT_EQ(since(begin), 20ms);
  });
}

TEST(shield, after_it_a_cancel_works_as_before) {
  run_virtual([]() -> gyre::task<> {
    const auto begin = gyre::now();
    auto body = []() -> gyre::task<> {
      co_await gyre::shield(gyre::sleep(1ms));
      co_await gyre::sleep(1h);
    };
    EXPECT_TRUE(co_await cancel_after(5ms, body));
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
    EXPECT_FALSE(co_await cancel_after(1ms, body));
    EXPECT_EQ(finished, 3);
  });
}

TEST(shield, a_time_out_and_a_group_inside_it_still_cancel_what_is_theirs) {
  run_virtual([]() -> gyre::task<> {
    bool expired = false;
    auto inside = [&]() -> gyre::task<> {
      try {
        co_await gyre::timeout(5ms, gyre::sleep(1h));
      } catch (const gyre::timed_out&) {
        expired = true;
      }
      auto group_body = [](gyre::task_group& group) -> gyre::task<> {
        group.spawn(value_after(1h, 1));
        group.cancel();
        co_return;
      };
      co_await gyre::task_group::scope(group_body);
    };
    auto body = [&]() -> gyre::task<> { co_await gyre::shield(inside); };
    EXPECT_FALSE(co_await cancel_after(1ms, body));
    EXPECT_TRUE(expired);
  });
}

TEST(shield, inside_a_time_out_delays_it_and_the_time_out_is_still_reported) {
  run_virtual([]() -> gyre::task<> {
    const auto begin = gyre::now();
    bool expired = false;
    auto body = []() -> gyre::task<> {
      co_await gyre::shield(gyre::sleep(30ms));
      co_await gyre::sleep(1h);
    };
    try {
      co_await gyre::timeout(10ms, body);
    } catch (const gyre::timed_out&) {
      expired = true;
    }
    EXPECT_TRUE(expired);
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
