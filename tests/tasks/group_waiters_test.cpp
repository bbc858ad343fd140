// tests/tasks/group_waiters_test.cpp: several tasks that wait for the children of one group, and children that are
// spawned late.
#include "tests/support/virtual_run.hpp"

#include <memory>
#include <vector>

using namespace gyre_test;

TEST(async_scope, all_who_wait_for_it_go_on_in_the_order_in_which_they_came) {
  run_virtual([]() -> gyre::task<> {
    gyre::async_scope scope;
    scope.spawn(value_after(20ms, 1));
    std::vector<int> order;
    auto join = [&](int who) -> gyre::task<> {
      co_await scope.join();
      order.push_back(who);
    };
    std::vector<gyre::task_handle<void>> joining;
    for (int who = 0; who < 3; ++who) joining.push_back(gyre::spawn(join(who)));
    for (auto& each : joining) co_await each;
    EXPECT_EQ(order, (std::vector{0, 1, 2}));
  });
}

TEST(async_scope, the_first_who_waits_may_destroy_it_while_others_are_about_to_go_on) {
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

TEST(async_scope, a_task_spawned_between_the_last_end_and_the_resumption_is_waited_for) {
  run_virtual([]() -> gyre::task<> {
    bool late_ended = false;
    auto late = [&]() -> gyre::task<> {
      co_await gyre::sleep(5ms);
      late_ended = true;
    };
    auto scope = std::make_unique<gyre::async_scope>();
    scope->spawn(value_after(1ms, 1));
    // Runs after the end of the child and before the task that joins.
    auto spawner = gyre::spawn([&]() -> gyre::task<> {
      co_await gyre::sleep(1ms);
      while (scope->size() > 0) co_await gyre::yield();
      scope->spawn(late());
    });
    co_await scope->join();
    EXPECT_EQ(scope->size(), 0U);
    EXPECT_TRUE(spawner.done());
    EXPECT_TRUE(late_ended);
    scope.reset();
  });
}

TEST(task_group, a_child_spawned_from_outside_between_the_last_end_and_the_resumption_is_waited_for) {
  run_virtual([]() -> gyre::task<> {
    bool late_ended = false;
    gyre::task_group* open = nullptr;
    auto late = [&]() -> gyre::task<> {
      co_await gyre::sleep(5ms);
      late_ended = true;
    };
    auto spawner = gyre::spawn([&]() -> gyre::task<> {
      co_await gyre::sleep(1ms);
      while (open->size() > 0) co_await gyre::yield();
      open->spawn(late()).detach();
    });
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

TEST(async_scope, a_second_waiter_waits_on_when_the_first_has_spawned_again) {
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

TEST(task_handle, tasks_that_wait_for_one_go_on_in_the_order_in_which_they_came) {
  run_virtual([]() -> gyre::task<> {
    auto awaited = gyre::spawn(value_after(5ms, 1));
    std::vector<int> order;
    auto wait = [&](int who) -> gyre::task<> {
      co_await awaited.wait();
      order.push_back(who);
    };
    auto all = gyre::gather(wait(0), wait(1), wait(2));
    co_await std::move(all);
    EXPECT_EQ(order, (std::vector{0, 1, 2}));
  });
}
