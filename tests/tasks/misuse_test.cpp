// tests/tasks/misuse_test.cpp: misuse that the types cannot rule out stops the program with a message.
#include <gyre/testing/cancel_at_every_await.hpp>

#include "tests/support/virtual_run.hpp"

#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace gyre_test;

namespace {

gyre::task<> do_nothing() { co_return; }

void on_a_thread_without_a_loop(const std::function<void()>& act) { std::thread(act).join(); }

/// Runs `act` on a thread without a loop while a task waits in `wait()`.
template <class Wait>
void while_a_task_waits(Wait wait, const std::function<void()>& act) {
  run_virtual([&]() -> gyre::task<> {
    auto waiter = gyre::spawn(wait());
    co_await gyre::yield();
    on_a_thread_without_a_loop(act);
    co_await waiter;
  });
}

}  // namespace

// ---- no loop

TEST(misuse_death, a_spawn_on_a_thread_without_a_loop_stops_the_program) {
  EXPECT_DEATH((void)gyre::spawn(do_nothing()), "spawn was called on a thread without a loop");
  EXPECT_DEATH(
      {
        gyre::async_scope scope;
        scope.spawn(do_nothing());
      },
      "async_scope was called on a thread without a loop");
}

TEST(misuse_death, a_thread_without_a_loop_that_wakes_or_cancels_a_task_stops_the_program) {
  const auto sentence = [](const char* in_debug_builds) {
    return gyre::checks_everything ? in_debug_builds : "on a thread without a loop.*loop.post";
  };
  EXPECT_DEATH(
      {
        gyre::event event;
        while_a_task_waits([&]() -> gyre::task<> { co_await event.wait(); }, [&] { event.set(); });
      },
      sentence("set on an event that belongs to the loop of another thread"));
  EXPECT_DEATH(
      {
        gyre::queue<int> queue(1);
        while_a_task_waits([&]() -> gyre::task<> { (void)co_await queue.get(); }, [&] { (void)queue.try_put(1); });
      },
      sentence("try_put on a queue that belongs to the loop of another thread"));
  EXPECT_DEATH(run_virtual([]() -> gyre::task<> {
                 auto sleeper = gyre::spawn(value_after(1h, 1));
                 co_await gyre::yield();
                 on_a_thread_without_a_loop([&] { sleeper.cancel(); });
               }),
               "cancel on a task_handle that belongs to the loop of another thread.*run_coroutine_threadsafe");
}

// ---- the loop of another thread

TEST(misuse_death, a_task_of_another_loop_stops_the_program_when_it_is_awaited_or_cancelled) {
  const auto on_another_loop = [](gyre::task<> (*act)(gyre::task_handle<int>&)) {
    run_virtual([&]() -> gyre::task<> {
      auto sleeper = gyre::spawn(value_after(1h, 1));
      co_await gyre::yield();
      std::thread([&] { gyre::run(act(sleeper)); }).join();
    });
  };
  EXPECT_DEATH(on_another_loop([](gyre::task_handle<int>& task) -> gyre::task<> { (void)co_await task; }),
               "co_await on a task_handle that belongs to the loop of another thread");
  EXPECT_DEATH(on_another_loop([](gyre::task_handle<int>& task) -> gyre::task<> {
                 task.cancel();
                 co_return;
               }),
               "cancel on a task_handle that belongs to the loop of another thread");
}

// ---- tasks that are empty, or awaited again

TEST(misuse_death, a_task_that_was_moved_from_stops_the_program_when_it_is_awaited_or_spawned) {
  EXPECT_DEATH(run_virtual([]() -> gyre::task<> {
                 auto task = value_after(0ms, 1);
                 [[maybe_unused]] auto taken = std::move(task);
                 (void)co_await std::move(task);  // NOLINT(bugprone-use-after-move): that is the test
               }),
               "an empty task was awaited");
  EXPECT_DEATH(run_virtual([]() -> gyre::task<> {
                 auto task = value_after(0ms, 1);
                 [[maybe_unused]] auto taken = std::move(task);
                 (void)gyre::spawn(std::move(task));  // NOLINT(bugprone-use-after-move): that is the test
                 co_return;
               }),
               "an empty task was started");
}

TEST(misuse_death, a_task_that_is_awaited_twice_stops_the_program) {
  EXPECT_DEATH(run_virtual([]() -> gyre::task<> {
                 auto task = value_after(0ms, 1);
                 (void)co_await std::move(task);
                 (void)co_await std::move(task);  // NOLINT(bugprone-use-after-move): that is the test
               }),
               "an empty task was awaited: it was moved from, spawned or awaited before, and runs once");
}

TEST(misuse_death, a_shared_task_handle_whose_value_is_taken_twice_stops_the_program) {
  EXPECT_DEATH(
      {
        gyre::event_loop loop;
        bool done = false;
        std::thread asking([&] {
          auto text = []() -> gyre::task<std::string> { co_return "some string that is not short"; };
          auto answer = gyre::run_coroutine_threadsafe(loop, text());
          EXPECT_EQ(answer.get(), "some string that is not short");
          (void)answer.get();
        });
        loop.run_until(done);
      },
      "get.. took the value of a task for the second time");
}

TEST(misuse_death, a_shared_task_that_was_moved_from_stops_the_program) {
  EXPECT_DEATH(run_virtual([]() -> gyre::task<> {
                 gyre::shared_task<int> once(value_after(0ms, 1));
                 [[maybe_unused]] auto taken = std::move(once);
                 auto copy = once;  // NOLINT(bugprone-use-after-move): that is the test
                 (void)co_await copy;
               }),
               "a shared_task that was moved from was used");
}

TEST(misuse_death, an_async_scope_that_is_destroyed_before_its_tasks_have_ended_stops_the_program) {
  EXPECT_DEATH(run_virtual([]() -> gyre::task<> {
                 gyre::async_scope scope;
                 scope.spawn(gyre::as_task(gyre::sleep(1s)));
                 co_await gyre::yield();
               }),
               "an async_scope was destroyed while its tasks run: co_await scope.join.. first");
}

// ---- deadlock

TEST(misuse_death, a_task_that_waits_for_its_own_group_or_scope_stops_the_program) {
  const char* const sentence = "so it waits for itself";
  EXPECT_DEATH(run_virtual([]() -> gyre::task<> {
                 co_await gyre::task_group::scope([](gyre::task_group& group) -> gyre::task<> {
                   group.spawn([&]() -> gyre::task<> { co_await group.wait(); });
                   co_return;
                 });
               }),
               sentence);
  EXPECT_DEATH(run_virtual([]() -> gyre::task<> {
                 co_await gyre::task_group::scope([](gyre::task_group& group) -> gyre::task<> {
                   auto wait = [&]() -> gyre::task<> { co_await group.wait(); };
                   group.spawn([&]() -> gyre::task<> { (void)co_await gyre::gather(wait(), do_nothing()); });
                   co_await gyre::sleep(1s);
                 });
               }),
               sentence);
  EXPECT_DEATH(run_virtual([]() -> gyre::task<> {
                 gyre::async_scope scope;
                 scope.spawn([&]() -> gyre::task<> { co_await scope.join(); });
                 co_await scope.join();
               }),
               sentence);
}

TEST(task_group, may_be_awaited_by_a_helper_of_its_body_and_by_children_of_another_group) {
  run_virtual([]() -> gyre::task<> {
    int ended = 0;
    auto child = [&]() -> gyre::task<> {  // outlives the body of the group, as the group's tasks do
      co_await gyre::sleep(1ms);
      ++ended;
    };
    co_await gyre::task_group::scope([&](gyre::task_group& outer) -> gyre::task<> {
      outer.spawn(child());
      auto wait_for_outer = [&]() -> gyre::task<> { co_await outer.wait(); };
      (void)co_await gyre::gather(wait_for_outer(), do_nothing());
      EXPECT_EQ(ended, 1);
      outer.spawn([&]() -> gyre::task<> {
        co_await gyre::task_group::scope([&](gyre::task_group& inner) -> gyre::task<> {
          inner.spawn(child());
          co_await inner.wait();
          EXPECT_EQ(ended, 2);
        });
      });
    });
    gyre::async_scope scope;
    scope.spawn([&]() -> gyre::task<> {
      gyre::async_scope own;
      own.spawn(do_nothing());
      co_await own.join();
      ++ended;
    });
    co_await scope.join();
    EXPECT_EQ(ended, 3);
  });
}

TEST(misuse_death, a_deadlock_on_virtual_time_names_the_tasks_and_where_they_wait) {
  EXPECT_DEATH(run_virtual([]() -> gyre::task<> {
                 gyre::event never;
                 auto waiter = gyre::spawn([&]() -> gyre::task<> { co_await never.wait(); }, {.name = "waiter"});
                 co_await waiter;
               }),
               "deadlock: nothing can wake 2 tasks(.|\n)*waiter, spawned at .*misuse_test.cpp:[0-9]+, waits "
               "at(.|\n)*misuse_test.cpp:[0-9]+");
}

TEST(waiting_tasks, are_printed_with_name_and_call_stack) {
  run_virtual([]() -> gyre::task<> {
    gyre::event go;
    auto inner = [&]() -> gyre::task<> { co_await go.wait(); };
    auto first = gyre::spawn([&]() -> gyre::task<> { co_await inner(); }, {.name = "first"});
    auto second = gyre::spawn(inner());
    co_await gyre::yield();
    const std::string printed = gyre::testing::waiting_tasks(gyre::event_loop::current());
    EXPECT_NE(printed.find("  first, spawned at "), std::string::npos) << printed;
    EXPECT_NE(printed.find("  (no name), spawned at "), std::string::npos) << printed;
    go.set();
    co_await first;
    co_await second;
  });
}

// ---- handles

TEST(task_handle, that_is_dropped_while_its_task_runs_is_reported_in_debug_builds) {
  testing::internal::CaptureStderr();
  run_virtual([]() -> gyre::task<> {
    {
      const auto dropped = gyre::spawn(value_after(1ms, 1), {.name = "forgotten"});
    }
    auto replaced = gyre::spawn(value_after(1ms, 1), {.name = "replaced"});
    replaced = gyre::task_handle<int>();
    gyre::spawn(value_after(1ms, 1), {.name = "let go"}).detach();
    auto body = [](gyre::task_group& group) -> gyre::task<> {
      group.spawn(value_after(1ms, 1), {.name = "of a group"});
      co_return;
    };
    co_await gyre::task_group::scope(body);
  });
  const std::string printed = testing::internal::GetCapturedStderr();
  const std::string sentence = "the handle of a running task was dropped ";
  EXPECT_EQ(printed.contains(sentence + "(forgotten, spawned at "), gyre::checks_everything) << printed;
  EXPECT_EQ(printed.contains(sentence + "(replaced, "), gyre::checks_everything) << printed;
  EXPECT_EQ(printed.empty(), !gyre::checks_everything) << printed;
  EXPECT_FALSE(printed.contains("let go") || printed.contains("of a group")) << printed;
}
