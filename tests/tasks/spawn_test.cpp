// tests/tasks/spawn_test.cpp: when a spawned task begins, and what becomes of one that fails.
#include <gyre/tasks/spawn.hpp>

#include "tests/support/co_assert.hpp"
#include "tests/support/failure_log.hpp"
#include "tests/support/virtual_run.hpp"

#include <optional>
#include <string>

using namespace gyre_test;

TEST(spawn, begins_the_task_when_the_caller_next_waits_and_not_before) {
  run_virtual([]() -> gyre::task<> {
    bool began = false;
    auto handle = gyre::spawn([&]() -> gyre::task<> {
      began = true;
      co_return;
    });
    EXPECT_FALSE(began);
    co_await gyre::yield();
    EXPECT_TRUE(began);
    co_await handle;
  });
}

TEST(spawn, runs_an_eager_task_to_its_first_wait_inside_the_call) {
  run_virtual([]() -> gyre::task<> {
    int step = 0;
    auto body = [&]() -> gyre::task<int> {
      step = 1;
      co_await gyre::yield();
      step = 2;
      co_return 3;
    };
    auto handle = gyre::spawn(body(), {.eager = true});
    EXPECT_EQ(step, 1);
    EXPECT_EQ(co_await handle, 3);
    auto at_once = gyre::spawn(value_after(0ms, 4), {.eager = true});
    EXPECT_EQ(co_await at_once, 4);
  });
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

TEST(spawn, does_not_begin_a_task_that_is_cancelled_before) {
  run_virtual([]() -> gyre::task<> {
    bool began = false;
    auto body = [&]() -> gyre::task<> {
      began = true;
      co_await gyre::yield();
    };
    auto task = gyre::spawn(body());
    auto function = gyre::spawn(body);
    task.cancel();
    function.cancel();
    EXPECT_TRUE(co_await cancel_and_wait(task));
    EXPECT_TRUE(co_await cancel_and_wait(function));
    EXPECT_FALSE(began);
  });
}

TEST(spawn, starts_an_uncancelled_task_in_a_cancelled_one) {
  run_virtual([]() -> gyre::task<> {
    bool finished = false;
    auto spawns_when_cancelled = [&]() -> gyre::task<> {
      co_await outlast_cancel();
      gyre::spawn([&]() -> gyre::task<> {
        co_await gyre::sleep(1ms);
        finished = true;
      }).detach();
    };
    (void)co_await is_cancelled_after(1ms, spawns_when_cancelled);
    co_await gyre::sleep(2ms);
    EXPECT_TRUE(finished);
  });
}

// ---- failures

TEST(spawn, reports_the_failure_of_a_detached_task_once_with_name_and_place) {
  run_virtual([]() -> gyre::task<> {
    const failure_log log;
    constexpr unsigned line = __LINE__ + 1;
    gyre::spawn(fail_after(1ms, "lost"), {.name = "worker 7"}).detach();
    co_await gyre::sleep(5ms);
    CO_ASSERT_EQ(log.entries.size(), 1U);
    EXPECT_EQ(log.entries[0].name, "worker 7");
    EXPECT_EQ(log.entries[0].what, "lost");
    EXPECT_EQ(log.entries[0].line, line);
  });
}

TEST(spawn, reports_a_failure_when_the_last_handle_goes_and_nobody_has_looked) {
  run_virtual([]() -> gyre::task<> {
    const failure_log log;
    {
      auto handle = gyre::spawn(fail_after(1ms, "unseen"));
      co_await gyre::sleep(5ms);
      EXPECT_TRUE(handle.done());
      EXPECT_TRUE(log.entries.empty());
    }
    CO_ASSERT_EQ(log.entries.size(), 1U);
    EXPECT_EQ(log.entries[0].what, "unseen");
  });
}

TEST(spawn, reports_an_unseen_failure_on_standard_error_when_the_handle_outlives_its_loop) {
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

TEST(spawn, reports_no_failure_when_a_detached_task_is_cancelled) {
  std::optional<failure_log> log;
  run_virtual([&]() -> gyre::task<> {
    log.emplace();
    gyre::spawn(value_after(1h, 1)).detach();
    co_await gyre::yield();
  });
  EXPECT_TRUE(log->entries.empty());
}

TEST(spawn, reports_no_failure_of_background_tasks_that_await_each_other_when_the_loop_ends) {
  gyre::event_loop loop;
  const failure_log log;
  auto chain = gyre::spawn(value_after(1h, 1));
  for (int i = 0; i < 5; ++i) {
    auto next = [before = std::move(chain)]() mutable -> gyre::task<int> { co_return co_await before; };
    chain = gyre::spawn(std::move(next));
  }
  chain.detach();
  for (int i = 0; i < 3; ++i) loop.turn(false);
  loop.shutdown();
  EXPECT_EQ(log.entries.size(), 0U);
}
