// tests/tasks/other_loop_test.cpp: tasks and groups that the loops of several threads use.
#include <gyre/loop/interval.hpp>
#include <gyre/tasks/async_scope.hpp>
#include <gyre/tasks/current_task.hpp>
#include <gyre/tasks/shared_task.hpp>
#include <gyre/tasks/task_group.hpp>

#include "tests/support/two_loops.hpp"
#include "tests/support/virtual_run.hpp"

#include <optional>
#include <string>
#include <thread>
#include <utility>

using namespace gyre_test;
using gyre::task;

namespace {

task<> nothing() { co_return; }

}  // namespace

class other_loop_tasks_death : public debug_build_death {};

TEST_F(other_loop_tasks_death, a_handle_of_a_running_task_stops_a_debug_build) {
  gyre::task_handle<> handle;
  const auto first = [&] { handle = gyre::spawn(gyre::as_task(gyre::sleep(1h))); };
  const char* const name = "a task_handle";
  expect_stop(first, [&] { handle.cancel(); }, elsewhere("cancel", name));
  expect_stop(first, [&] { (void)handle.cancelling(); }, elsewhere("cancelling", name));
  expect_stop(first, [&] { handle.uncancel(); }, elsewhere("uncancel", name));
  expect_stop(first, [&] { (void)handle.done(); }, elsewhere("done", name));
  expect_stop(first, [&] { (void)handle.name(); }, elsewhere("name", name));
  expect_stop(first, [&] { handle.result(); }, elsewhere("result", name));
  expect_stop(first, [&] { handle.detach(); }, elsewhere("detach", name));
  expect_stop(first, [&] { handle = {}; }, elsewhere("destructor", name));
  expect_stop_in_await(first, [&]() -> auto& { return handle; }, elsewhere("co_await", name));
}

TEST_F(other_loop_tasks_death, a_task_that_is_cancelled_through_this_task_stops_a_debug_build) {
  const auto scenario = [] {
    run_virtual([]() -> task<> {
      gyre::this_task self = co_await gyre::current_task();
      run_elsewhere([&]() -> task<> {
        self.cancel();
        co_return;
      });
    });
  };
  EXPECT_DEATH(scenario(), elsewhere("cancel", "a this_task"));
}

TEST_F(other_loop_tasks_death, a_task_group_stops_a_debug_build) {
  const auto in_group = [](auto use) {
    run_virtual([&]() -> task<> {
      auto body = [&](gyre::task_group& group) -> task<> {
        run_elsewhere([&]() -> task<> { co_await use(group); });
        co_return;
      };
      co_await gyre::task_group::scope(body);
    });
  };
  const char* const name = "a group of tasks";
  const auto spawn = [](gyre::task_group& group) -> task<> {
    (void)group.spawn(nothing());
    co_return;
  };
  EXPECT_DEATH(in_group(spawn), elsewhere("spawn", name));
  const auto cancel = [](gyre::task_group& group) -> task<> {
    group.cancel();
    co_return;
  };
  EXPECT_DEATH(in_group(cancel), elsewhere("cancel", name));
  EXPECT_DEATH(in_group([](gyre::task_group& group) -> task<> { co_await group.wait(); }), elsewhere("waiting", name));
}

TEST_F(other_loop_tasks_death, a_task_group_on_a_thread_without_a_loop_stops_a_debug_build) {
  const auto scenario = [] {
    run_virtual([]() -> task<> {
      auto body = [](gyre::task_group& group) -> task<> {
        std::thread([&] { group.cancel(); }).join();
        co_return;
      };
      co_await gyre::task_group::scope(body);
    });
  };
  EXPECT_DEATH(scenario(), elsewhere("cancel", "a group of tasks"));
}

TEST_F(other_loop_tasks_death, an_async_scope_stops_a_debug_build) {
  std::optional<gyre::async_scope> scope;
  const auto first = [&] { scope.emplace(); };
  const char* const name = "a group of tasks";
  expect_stop(first, [&] { scope->spawn(nothing()); }, elsewhere("spawn", name));
  expect_stop(first, [&] { scope->cancel(); }, elsewhere("cancel", name));
  expect_stop_in_await(first, [&] { return scope->join(); }, elsewhere("waiting", name));
}

TEST_F(other_loop_tasks_death, a_timeout_scope_stops_a_debug_build) {
  const auto scenario = [] {
    run_virtual([]() -> task<> {
      auto body = [](gyre::timeout_scope& scope) -> task<> {
        run_elsewhere([&]() -> task<> {
          scope.reschedule(1h);
          co_return;
        });
        co_return;
      };
      co_await gyre::timeout(1h, body);
    });
  };
  EXPECT_DEATH(scenario(), elsewhere("reschedule", "a timeout_scope"));
}

TEST_F(other_loop_tasks_death, a_shared_task_stops_a_debug_build) {
  std::optional<gyre::shared_task<>> shared(std::in_place, nothing());
  const auto first = [&] { (void)shared->done(); };
  const char* const name = "a shared_task";
  expect_stop(first, [&] { [[maybe_unused]] const auto copy = *shared; }, elsewhere("copy", name));  // NOLINT
  expect_stop(first, [&] { shared.reset(); }, elsewhere("destructor", name));
  expect_stop_in_await(first, [&]() -> auto& { return *shared; }, elsewhere("co_await", name));
}

TEST(other_loop_interval_death, an_interval_stops_the_program) {
  gyre::interval* ticking = nullptr;
  const auto first = [&] {
    ticking = new gyre::interval(1s);
    ticking->reset();
  };
  expect_stop(first, [&] { ticking->reset(); }, elsewhere("reset", "an interval"));
  expect_stop_in_await(first, [&] { return ticking->tick(); }, elsewhere("tick", "an interval"));
}

TEST(other_loop_tasks, the_handle_of_a_task_that_has_ended_may_be_used_by_any_thread) {
  run_virtual([]() -> task<> {
    auto handle = gyre::spawn(value_after(1ms, 3));
    co_await handle.wait();
    std::thread([&] {
      EXPECT_TRUE(handle.done());
      EXPECT_EQ(handle.result(), 3);
      handle = {};
    }).join();
  });
}

TEST(other_loop_tasks, a_handle_may_outlive_its_loop_and_be_destroyed_by_any_thread) {
  gyre::task_handle<int> handle;
  std::thread([&] {
    run_virtual([&]() -> task<> {
      handle = gyre::spawn(value_after(1ms, 3));
      co_await handle.wait();
    });
  }).join();
  run_elsewhere([&]() -> task<> {
    EXPECT_EQ(handle.result(), 3);
    handle = {};
    co_return;
  });
}
