// tests/tasks/ownership_test.cpp: shared results, background tasks of an object, eager starts, and cancels that are
// withdrawn.
#include "tests/support/virtual_run.hpp"

#include <optional>
#include <stdexcept>
#include <string>

using namespace gyre_test;

// ---- shared_task

TEST(shared_task, runs_once_for_everybody_who_awaits_it) {
  run_virtual([]() -> gyre::task<> {
    int runs = 0;
    auto work = [&]() -> gyre::task<std::string> {
      ++runs;
      co_await gyre::sleep(1ms);
      co_return "result";
    };
    const gyre::shared_task<std::string> shared(work());
    co_await gyre::sleep(1ms);
    EXPECT_EQ(runs, 0) << "nobody wants it yet";
    auto wait = [](gyre::shared_task<std::string> copy) -> gyre::task<std::string> { co_return co_await copy; };
    auto both = gyre::gather(wait(shared), wait(shared));
    auto results = co_await std::move(both);
    EXPECT_EQ(results.get<0>(), "result");
    EXPECT_EQ(results.get<1>(), "result");
    EXPECT_EQ(co_await shared, "result");
    EXPECT_EQ(runs, 1);
  });
}

TEST(shared_task, gives_its_exception_to_everybody) {
  run_virtual([]() -> gyre::task<> {
    const gyre::shared_task<void> shared(fail_after(1ms, "no"));
    for (int i = 0; i < 3; ++i) EXPECT_EQ(co_await error_of(shared), "no");
  });
}

TEST(shared_task, goes_on_when_one_who_waits_is_cancelled) {
  run_virtual([]() -> gyre::task<> {
    const gyre::shared_task<int> shared(value_after(10ms, 7));
    auto wait = [&]() -> gyre::task<int> { co_return co_await shared; };
    auto one = gyre::spawn(wait);
    auto two = gyre::spawn(wait);
    co_await gyre::sleep(1ms);
    one.cancel();
    co_await one.wait();
    EXPECT_EQ(co_await two, 7);
  });
}

TEST(shared_task, is_cancelled_when_nobody_wants_it_any_more) {
  run_virtual([]() -> gyre::task<> {
    bool cancelled = false;
    auto work = [&]() -> gyre::task<int> {
      try {
        co_await gyre::sleep(1h);
      } catch (const gyre::cancelled&) {
        cancelled = true;
        throw;
      }
      co_return 1;
    };
    std::optional<gyre::shared_task<int>> shared(work());
    auto waiter = gyre::spawn([&]() -> gyre::task<int> { co_return co_await *shared; });
    co_await gyre::sleep(1ms);
    waiter.cancel();
    co_await waiter.wait();
    EXPECT_FALSE(cancelled);
    shared.reset();
    co_await gyre::sleep(1ms);
    EXPECT_TRUE(cancelled);
  });
}

// ---- async_scope

TEST(async_scope, owns_tasks_until_they_have_been_joined) {
  run_virtual([]() -> gyre::task<> {
    int ended = 0;
    gyre::async_scope scope;
    for (int i = 0; i < 3; ++i)
      scope.spawn([&]() -> gyre::task<> {
        co_await gyre::sleep(1ms);
        ++ended;
      });
    EXPECT_EQ(scope.size(), 3U);
    co_await scope.join();
    EXPECT_EQ(ended, 3);
    scope.spawn(value_after(1h, 1));
    scope.cancel();
    co_await scope.join();
    EXPECT_EQ(scope.size(), 0U);
  });
}

TEST(async_scope, reports_failures_and_lets_the_others_go_on) {
  static std::string reported;
  reported.clear();
  run_virtual([]() -> gyre::task<> {
    gyre::event_loop::current().set_exception_handler(
        [](const gyre::background_failure& failure, void*) noexcept { reported += failure.task_name; }, nullptr);
    bool other_ended = false;
    gyre::async_scope scope;
    scope.spawn(fail_after(1ms, "no"), {.name = "failing"});
    scope.spawn([&]() -> gyre::task<> {
      co_await gyre::sleep(2ms);
      other_ended = true;
    });
    co_await scope.join();
    EXPECT_TRUE(other_ended);
  });
  EXPECT_EQ(reported, "failing");
}

// ---- eager start

TEST(spawn, eagerly_runs_to_the_first_wait_inside_the_call) {
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

// ---- uncancel

TEST(task_handle, a_cancel_that_is_taken_back_lets_later_awaits_pass) {
  run_virtual([]() -> gyre::task<> {
    std::optional<gyre::task_handle<int>> handle;
    handle.emplace(gyre::spawn([&]() -> gyre::task<int> {
      try {
        co_await gyre::sleep(1h);
      } catch (const gyre::cancelled&) {
        EXPECT_TRUE(handle->cancelling());
        handle->uncancel();
      }
      EXPECT_FALSE(handle->cancelling());
      co_await gyre::sleep(1ms);
      co_return 5;
    }));
    co_await gyre::yield();
    handle->cancel();
    EXPECT_EQ(co_await *handle, 5);
  });
}

TEST(task_handle, taking_a_cancel_back_does_not_undo_that_of_a_scope_inside) {
  run_virtual([]() -> gyre::task<> {
    std::optional<gyre::task_handle<bool>> handle;
    handle.emplace(gyre::spawn([&]() -> gyre::task<bool> {
      bool inner_cancelled = false;
      auto body = [&](gyre::task_group& group) -> gyre::task<> {
        group.cancel();
        handle->cancel();
        handle->uncancel();
        try {
          co_await gyre::yield();
        } catch (const gyre::cancelled&) {
          inner_cancelled = true;
          throw;
        }
      };
      co_await gyre::task_group::scope(body);
      co_return inner_cancelled;
    }));
    EXPECT_TRUE(co_await *handle);
  });
}
