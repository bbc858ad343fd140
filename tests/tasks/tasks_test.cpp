// tests/tasks/tasks_test.cpp: spawn, task_handle, gather, race and shield.
#include <gyre/tasks/spawn.hpp>

#include "tests/support/virtual_run.hpp"

#include <gyre/testing/cancel_at_every_await.hpp>

#include <optional>

using namespace gyre_test;
using gyre::testing::cancel_at_every_await;

namespace {

gyre::loop_options on_virtual_time() {
  gyre::loop_options options;
  options.virtual_time = true;
  return options;
}

}  // namespace

TEST(task_handle, gives_the_result_of_the_task) {
  run_virtual([]() -> gyre::task<> {
    auto handle = gyre::spawn(value_after(5ms, 7), {.name = "seven"});
    EXPECT_FALSE(handle.done());
    EXPECT_EQ(handle.name(), "seven");
    EXPECT_EQ(co_await handle, 7);
    EXPECT_TRUE(handle.done());
  });
}

TEST(task_handle, throws_the_exception_of_the_task) {
  run_virtual([]() -> gyre::task<> {
    auto handle = gyre::spawn(fail_after(1ms, "broken"));
    std::string what;
    try {
      co_await handle;
    } catch (const std::runtime_error& error) {
      what = error.what();
    }
    EXPECT_EQ(what, "broken");
  });
}

TEST(task_handle, awaiting_a_cancelled_task_throws_task_cancelled) {
  run_virtual([]() -> gyre::task<> {
    auto handle = gyre::spawn(value_after(1h, 1));
    co_await gyre::yield();
    handle.cancel();
    bool thrown = false;
    try {
      (void)co_await handle;
    } catch (const gyre::task_cancelled&) {
      thrown = true;
    }
    EXPECT_TRUE(thrown);
  });
}

TEST(task_handle, a_cancelled_waiter_leaves_the_task_running) {
  run_virtual([]() -> gyre::task<> {
    auto handle = gyre::spawn(value_after(10ms, 3));
    auto waiter = gyre::spawn([&]() -> gyre::task<> { (void)co_await handle; });
    co_await gyre::sleep(1ms);
    waiter.cancel();
    co_await waiter.wait();
    EXPECT_TRUE(waiter.state().was_cancelled());
    EXPECT_EQ(co_await handle, 3);
  });
}

TEST(task_handle, several_tasks_may_wait_for_one) {
  run_virtual([]() -> gyre::task<> {
    auto handle = gyre::spawn(value_after(10ms, 3));
    int woken = 0;
    auto wait = [&]() -> gyre::task<> {
      co_await handle.wait();
      ++woken;
    };
    auto all = gyre::gather(wait(), wait(), wait());
    co_await std::move(all);
    EXPECT_EQ(woken, 3);
    EXPECT_EQ(handle.result(), 3);
  });
}

TEST(task_handle, that_outlives_its_loop_reports_an_unseen_failure_all_the_same) {
  std::optional<gyre::task_handle<void>> kept;
  run_virtual([&]() -> gyre::task<> {
    kept.emplace(gyre::spawn(fail_after(1ms, "unseen"), {.name = "kept"}));
    co_await gyre::sleep(2ms);
  });
  testing::internal::CaptureStderr();
  kept.reset();
  const std::string printed = testing::internal::GetCapturedStderr();
  EXPECT_NE(printed.find("kept"), std::string::npos) << printed;
  EXPECT_NE(printed.find("unseen"), std::string::npos) << printed;
}

TEST(spawn, keeps_a_lambda_and_its_captures_as_long_as_the_task_runs) {
  run_virtual([]() -> gyre::task<> {
    auto handle = gyre::spawn([text = std::string(100, 'x')]() -> gyre::task<std::size_t> {
      co_await gyre::sleep(1ms);
      co_return text.size();
    });
    EXPECT_EQ(co_await handle, 100U);
  });
}

TEST(cancel, is_level_triggered_every_later_await_fails_too) {
  run_virtual([]() -> gyre::task<> {
    int failures = 0;
    auto handle = gyre::spawn([&]() -> gyre::task<> {
      for (int i = 0; i < 5; ++i) {
        try {
          co_await gyre::sleep(1h);
        } catch (const gyre::cancelled&) {
          ++failures;
        }
      }
    });
    co_await gyre::sleep(1ms);
    handle.cancel();
    co_await handle.wait();
    EXPECT_EQ(failures, 5);
  });
}

TEST(cancel, is_not_caught_as_a_std_exception) {
  run_virtual([]() -> gyre::task<> {
    bool swallowed = false;
    auto handle = gyre::spawn([&]() -> gyre::task<> {
      try {
        co_await gyre::sleep(1h);
      } catch (const std::exception&) {
        swallowed = true;
      }
    });
    co_await gyre::sleep(1ms);
    handle.cancel();
    co_await handle.wait();
    EXPECT_FALSE(swallowed);
    EXPECT_TRUE(handle.state().was_cancelled());
  });
}

TEST(gather, gives_the_results_in_the_order_of_the_arguments) {
  run_virtual([]() -> gyre::task<> {
    const auto begin = gyre::now();
    auto text = []() -> gyre::task<std::string> {
      co_await gyre::sleep(1ms);
      co_return "text";
    };
    auto all = gyre::gather(value_after(20ms, 1), text(), gyre::sleep(5ms));
    const auto results = co_await std::move(all);
    EXPECT_EQ(results.get<0>(), 1);
    EXPECT_EQ(results.get<1>(), "text");
    EXPECT_EQ(results.get<2>(), gyre::void_result{});
    EXPECT_EQ(since(begin), 20ms);
  });
}

TEST(gather, over_a_range_gives_a_vector) {
  run_virtual([]() -> gyre::task<> {
    std::vector<gyre::task<int>> tasks;
    for (int i = 0; i < 50; ++i) tasks.push_back(value_after(std::chrono::milliseconds(50 - i), i));
    const std::vector<int> results = co_await gyre::gather(std::move(tasks));
    EXPECT_EQ(results.size(), 50U);
    for (int i = 0; i < 50; ++i) EXPECT_EQ(results[static_cast<std::size_t>(i)], i);
  });
}

TEST(gather, the_first_failure_cancels_the_others_and_is_thrown) {
  run_virtual([]() -> gyre::task<> {
    const auto begin = gyre::now();
    EXPECT_EQ(co_await error_of(gyre::gather(value_after(1h, 1), fail_after(5ms, "first"))), "first");
    EXPECT_EQ(since(begin), 5ms);
  });
}

TEST(gather, several_failures_arrive_as_a_group) {
  run_virtual([]() -> gyre::task<> {
    auto stubborn = [](std::string what) -> gyre::task<> {
      try {
        co_await gyre::sleep(1h);
      } catch (const gyre::cancelled&) {
      }
      throw std::runtime_error(what);
    };
    std::size_t count = 0;
    std::string what;
    try {
      auto all = gyre::gather(fail_after(1ms, "first"), stubborn("second"), stubborn("third"));
      co_await std::move(all);
    } catch (const gyre::exception_group& group) {
      count = group.size();
      what = group.what();
    }
    EXPECT_EQ(count, 3U);
    EXPECT_NE(what.find("3 tasks failed: first; "), std::string::npos) << what;
  });
}

TEST(race, gives_the_first_result_when_the_others_have_stopped) {
  run_virtual([]() -> gyre::task<> {
    bool loser_stopped = false;
    auto loser = [&]() -> gyre::task<int> {
      try {
        co_await gyre::sleep(1h);
      } catch (const gyre::cancelled&) {
        loser_stopped = true;
        throw;
      }
      co_return 0;
    };
    auto both = gyre::race(loser(), value_after(5ms, 2));
    const auto first = co_await std::move(both);
    EXPECT_EQ(first.index, 1U);
    EXPECT_EQ(first.value, 2);
    EXPECT_TRUE(loser_stopped);
  });
}

TEST(race, of_different_types_gives_a_variant) {
  run_virtual([]() -> gyre::task<> {
    auto text = []() -> gyre::task<std::string> { co_return "now"; };
    auto both = gyre::race(value_after(5ms, 2), text());
    const auto first = co_await std::move(both);
    EXPECT_EQ(first.index, 1U);
    EXPECT_EQ(std::get<1>(first.value), "now");
  });
}

TEST(race, throws_when_the_first_to_end_fails) {
  run_virtual([]() -> gyre::task<> {
    EXPECT_EQ(co_await error_of(gyre::race(gyre::as_task(gyre::sleep(1h)), fail_after(1ms, "lost"))), "lost");
  });
}

TEST(race, over_a_range_names_the_winner) {
  run_virtual([]() -> gyre::task<> {
    std::vector<gyre::task<int>> tasks;
    for (int i = 0; i < 10; ++i) tasks.push_back(value_after(std::chrono::milliseconds(i == 4 ? 1 : 100), i));
    const auto first = co_await gyre::race(std::move(tasks));
    EXPECT_EQ(first.index, 4U);
    EXPECT_EQ(first.value, 4);
  });
}

TEST(shield, lets_clean_up_finish_and_the_next_await_fails) {
  run_virtual([]() -> gyre::task<> {
    bool finished = false;
    bool next_failed = false;
    auto handle = gyre::spawn([&]() -> gyre::task<> {
      auto clean_up = [&]() -> gyre::task<> {
        co_await gyre::sleep(10ms);
        finished = true;
      };
      co_await gyre::shield(clean_up);
      try {
        co_await gyre::yield();
      } catch (const gyre::cancelled&) {
        next_failed = true;
        throw;
      }
    });
    co_await gyre::sleep(1ms);
    handle.cancel();
    co_await handle.wait();
    EXPECT_TRUE(finished);
    EXPECT_TRUE(next_failed);
  });
}

TEST(cancel_at_every_await, of_gather_race_and_groups_leaks_nothing) {
  int value = 0;
  auto scenario = [&]() -> gyre::task<> {
    value = 0;
    auto all = gyre::gather(value_after(3ms, 1), value_after(2ms, 2), gyre::sleep(1ms));
    value += (co_await std::move(all)).get<0>();
    auto race = gyre::race(value_after(1ms, 10), value_after(5ms, 20));
    value += (co_await std::move(race)).value;
    auto body = [&](gyre::task_group& group) -> gyre::task<> {
      for (int i = 0; i < 3; ++i) group.spawn(value_after(std::chrono::milliseconds(i), i));
      co_await gyre::sleep(1ms);
      co_await group.wait();
      value += 100;
    };
    co_await gyre::task_group::scope(body);
  };
  const auto report = cancel_at_every_await(
      scenario,
      [&](bool was_cancelled) {
        if (!was_cancelled) EXPECT_EQ(value, 111);
      },
      on_virtual_time());
  EXPECT_GT(report.cancelled, 10U);
  EXPECT_GT(report.completed, 0U);
}

TEST(cancel_at_every_await, of_time_outs_that_expire_and_that_do_not_leaks_nothing) {
  auto scenario = [&]() -> gyre::task<> {
    EXPECT_EQ(co_await gyre::timeout(1s, value_after(1ms, 1)), 1);
    bool expired = false;
    try {
      (void)co_await gyre::timeout(1ms, value_after(1s, 1));
    } catch (const gyre::timed_out&) {
      expired = true;
    }
    EXPECT_TRUE(expired);
  };
  const auto report = cancel_at_every_await(scenario, [](bool) {}, on_virtual_time());
  EXPECT_GT(report.cancelled, 3U);
}
