// tests/tasks/ownership_test.cpp: results that several tasks share, and background tasks that belong to an object.
#include "tests/support/failure_log.hpp"
#include "tests/support/virtual_run.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

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

TEST(shared_task, goes_on_when_one_of_its_waiters_is_cancelled) {
  run_virtual([]() -> gyre::task<> {
    const gyre::shared_task<int> shared(value_after(10ms, 7));
    auto wait = [&]() -> gyre::task<int> { co_return co_await shared; };
    auto one = gyre::spawn(wait);
    auto two = gyre::spawn(wait);
    co_await gyre::sleep(1ms);
    (void)co_await cancel_and_wait(one);
    EXPECT_EQ(co_await two, 7);
  });
}

TEST(shared_task, is_cancelled_when_nobody_wants_it_any_more) {
  run_virtual([]() -> gyre::task<> {
    int cancelled = 0;
    std::optional<gyre::shared_task<>> shared(count_cancel(cancelled));
    (void)co_await is_cancelled_after(1ms, [&]() -> gyre::task<> { co_await *shared; });
    EXPECT_EQ(cancelled, 0);
    shared.reset();
    co_await gyre::sleep(1ms);
    EXPECT_EQ(cancelled, 1);
  });
}

TEST(shared_task, tells_a_waiter_that_it_was_cancelled_when_its_last_copy_is_dropped) {
  run_virtual([]() -> gyre::task<> {
    std::optional<gyre::shared_task<int>> shared(value_after(10ms, 5));
    auto waiter = gyre::spawn([&]() -> gyre::task<int> { co_return co_await *shared; });
    co_await gyre::sleep(1ms);
    shared.reset();
    EXPECT_THROW((void)co_await waiter, gyre::task_cancelled);
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
  run_virtual([]() -> gyre::task<> {
    const failure_log log;
    bool other_ended = false;
    gyre::async_scope scope;
    scope.spawn(fail_after(1ms, "no"), {.name = "failing"});
    scope.spawn([&]() -> gyre::task<> {
      co_await gyre::sleep(2ms);
      other_ended = true;
    });
    co_await scope.join();
    EXPECT_TRUE(other_ended);
    EXPECT_EQ(log.entries.size(), 1U);
    EXPECT_EQ(log.entries.at(0).name, "failing");
  });
}

TEST(async_scope, resumes_its_waiters_in_the_order_in_which_they_came) {
  run_virtual([]() -> gyre::task<> {
    gyre::async_scope scope;
    scope.spawn(value_after(20ms, 1));
    std::vector<int> order;
    auto join = [&](int who) -> gyre::task<> {
      co_await scope.join();
      order.push_back(who);
    };
    auto all = gyre::gather(join(0), join(1), join(2));
    co_await std::move(all);
    EXPECT_EQ(order, (std::vector{0, 1, 2}));
  });
}

TEST(async_scope, may_be_destroyed_by_its_first_waiter_while_others_are_about_to_go_on) {
  run_virtual([]() -> gyre::task<> {
    auto scope = std::make_unique<gyre::async_scope>();
    scope->spawn(value_after(1ms, 1));
    auto first = gyre::spawn([&]() -> gyre::task<> {
      co_await scope->join();
      scope.reset();
    });
    auto second = gyre::spawn([&]() -> gyre::task<> { co_await scope->join(); });
    co_await first;
    co_await second;
    EXPECT_EQ(scope, nullptr);
  });
}

TEST(async_scope, keeps_its_second_waiter_when_the_first_has_spawned_again) {
  run_virtual([]() -> gyre::task<> {
    gyre::async_scope scope;
    scope.spawn(value_after(1ms, 1));
    auto first = gyre::spawn([&]() -> gyre::task<> {
      co_await scope.join();
      scope.spawn(value_after(5ms, 1));
    });
    auto second = gyre::spawn([&]() -> gyre::task<> { co_await scope.join(); });
    co_await gyre::sleep(2ms);
    EXPECT_TRUE(first.done());
    EXPECT_FALSE(second.done());
    co_await second;
    EXPECT_EQ(scope.size(), 0U);
  });
}

// ---- tasks that are spawned late

namespace {

/// Spawns in a scope or group between the end of its last task and the resumption of the one that waits for it.
template <class Group>
gyre::task<> spawn_late(Group*& group, bool& late_ended) {
  co_await gyre::sleep(1ms);
  while (group->size() > 0) co_await gyre::yield();
  auto late = [&]() -> gyre::task<> {
    co_await gyre::sleep(5ms);
    late_ended = true;
  };
  (void)group->spawn(late);
}

}  // namespace

TEST(async_scope, waits_for_a_task_that_is_spawned_between_the_last_end_and_the_resumption) {
  run_virtual([]() -> gyre::task<> {
    bool late_ended = false;
    gyre::async_scope scope;
    scope.spawn(value_after(1ms, 1));
    gyre::async_scope* open = &scope;
    auto spawner = gyre::spawn(spawn_late(open, late_ended));
    co_await scope.join();
    EXPECT_EQ(scope.size(), 0U);
    EXPECT_TRUE(spawner.done());
    EXPECT_TRUE(late_ended);
  });
}

TEST(task_group, waits_for_a_child_that_is_spawned_from_outside_between_the_last_end_and_the_resumption) {
  run_virtual([]() -> gyre::task<> {
    bool late_ended = false;
    gyre::task_group* open = nullptr;
    auto spawner = gyre::spawn(spawn_late(open, late_ended));
    auto body = [&](gyre::task_group& group) -> gyre::task<> {
      group.spawn(value_after(1ms, 1)).detach();
      open = &group;
      co_return;
    };
    co_await gyre::task_group::scope(body);
    EXPECT_TRUE(spawner.done());
    EXPECT_TRUE(late_ended);
  });
}
