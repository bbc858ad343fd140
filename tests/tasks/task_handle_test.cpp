// tests/tasks/task_handle_test.cpp: a handle is an ordinary value, and several tasks may wait for its task.
#include <gyre/tasks/task_handle.hpp>

#include "tests/support/virtual_run.hpp"

#include <map>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

using namespace gyre_test;

TEST(task_handle, has_void_as_its_default_result) {
  EXPECT_TRUE((std::is_same_v<gyre::task_handle<>, gyre::task_handle<void>>));
  EXPECT_TRUE((std::is_same_v<gyre::shared_task_handle<>, gyre::shared_task_handle<void>>));
  EXPECT_TRUE((std::is_same_v<gyre::shared_task<>, gyre::shared_task<void>>));
}

TEST(task_handle, is_empty_until_a_task_is_assigned_to_it) {
  run_virtual([]() -> gyre::task<> {
    gyre::task_handle<int> handle;
    EXPECT_FALSE(handle);
    handle.detach();  // a no-op
    handle = gyre::spawn(value_after(1ms, 7));
    EXPECT_TRUE(handle);
    EXPECT_EQ(co_await handle, 7);
    gyre::task_handle<int> moved = std::move(handle);
    EXPECT_FALSE(handle);
    EXPECT_TRUE(moved);
  });
}

TEST(task_handle, is_an_element_that_a_container_makes) {
  run_virtual([]() -> gyre::task<> {
    std::map<std::string, gyre::task_handle<int>> running;
    running["a"] = gyre::spawn(value_after(1ms, 1));
    running["b"] = gyre::spawn(value_after(2ms, 2));
    EXPECT_EQ(co_await running["b"], 2);
    EXPECT_EQ(co_await running["a"], 1);
  });
}

TEST(task_handle, that_is_moved_goes_on_with_the_same_task) {
  run_virtual([]() -> gyre::task<> {
    auto first = gyre::spawn(value_after(1ms, 1), {.name = "one"});
    auto second = gyre::spawn(value_after(1h, 2), {.name = "two"});
    first = std::move(second);  // releases "one", which continues
    EXPECT_EQ(first.name(), "two");
    co_await gyre::sleep(2ms);
    EXPECT_FALSE(first.done());
    (void)co_await cancel_and_wait(first);
  });
}

TEST(task_handle, stops_the_program_with_a_sentence_when_it_has_no_task) {
  const char* const sentence = "this task_handle has no task";
  gyre::task_handle<> empty;
  EXPECT_DEATH((void)empty.done(), sentence);
  EXPECT_DEATH(empty.cancel(), sentence);
  EXPECT_DEATH(empty.result(), sentence);
  EXPECT_DEATH((void)empty.wait(), sentence);
  EXPECT_DEATH((void)empty.operator co_await(), sentence);
  gyre::shared_task_handle<> shared;
  EXPECT_FALSE(shared);
  EXPECT_DEATH(shared.get(), "this shared_task_handle has no task");
}

// ---- results

TEST(task_handle, gives_the_result_of_the_task) {
  run_virtual([]() -> gyre::task<> {
    auto handle = gyre::spawn(value_after(5ms, 7), {.name = "seven"});
    EXPECT_FALSE(handle.done());
    EXPECT_EQ(handle.name(), "seven");
    EXPECT_EQ(co_await handle, 7);
    EXPECT_TRUE(handle.done());
  });
}

TEST(task_handle, gives_the_result_of_an_ended_task_without_waiting) {
  run_virtual([]() -> gyre::task<> {
    auto handle = gyre::spawn(value_after(1ms, 4));
    co_await handle.wait();
    const auto begin = gyre::now();
    EXPECT_EQ(handle.result(), 4);
    EXPECT_EQ(gyre::now(), begin);
  });
}

TEST(task_handle, gives_references_and_move_only_values) {
  run_virtual([]() -> gyre::task<> {
    int target = 1;
    auto reference = gyre::spawn([&]() -> gyre::task<int&> { co_return target; });
    (co_await reference) = 2;
    EXPECT_EQ(target, 2);
    auto pointer = gyre::spawn([]() -> gyre::task<std::unique_ptr<int>> { co_return std::make_unique<int>(5); });
    EXPECT_EQ(*co_await pointer, 5);
  });
}

TEST(task_handle, does_not_keep_the_arguments_of_a_task_that_has_ended) {
  run_virtual([]() -> gyre::task<> {
    auto stream = std::make_shared<int>(7);
    auto use = [](std::shared_ptr<int>) -> gyre::task<> { co_await gyre::sleep(1ms); };
    auto fail = [](std::shared_ptr<int>) -> gyre::task<> { co_await fail_after(1ms, "no"); };
    auto ended = gyre::spawn(use(stream));
    auto failed = gyre::spawn(fail(stream));
    auto never_began = gyre::spawn(use(stream));
    never_began.cancel();
    EXPECT_EQ(stream.use_count(), 4);
    co_await ended;
    co_await failed.wait();
    co_await never_began.wait();
    EXPECT_EQ(stream.use_count(), 1);
    EXPECT_THROW(failed.result(), std::runtime_error);
    EXPECT_THROW(failed.result(), std::runtime_error);
    ended.result();
    EXPECT_THROW(never_began.result(), gyre::task_cancelled);
  });
}

// Only a sanitizer reports a use of the dropped state.
TEST(task_handle, may_be_dropped_while_the_task_that_awaits_it_has_used_up_its_turn) {
  run_virtual([]() -> gyre::task<> {
    constexpr int one_more_than_a_turn_has = 65;
    std::vector<gyre::task_handle<>> handles;
    for (int i = 0; i < one_more_than_a_turn_has; ++i)
      handles.push_back(gyre::spawn([]() -> gyre::task<> { co_return; }));
    co_await gyre::sleep(1ms);
    auto await_all = gyre::spawn([&]() -> gyre::task<> {
      for (gyre::task_handle<>& each : handles) co_await each;
    });
    auto drop_all = gyre::spawn([&]() -> gyre::task<> {
      for (gyre::task_handle<>& each : handles) each = gyre::task_handle<>();
      co_return;
    });
    co_await drop_all;
    co_await await_all;
  });
}

// ---- several waiters

TEST(task_handle, resumes_its_waiters_in_the_order_in_which_they_came) {
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
    EXPECT_EQ(awaited.result(), 1);
  });
}

TEST(task_handle, keeps_the_other_waiters_when_one_is_cancelled) {
  run_virtual([]() -> gyre::task<> {
    for (std::size_t victim = 0; victim < 3; ++victim) {
      auto target = gyre::spawn(value_after(10ms, 1));
      std::vector<gyre::task_handle<void>> waiters;
      for (int i = 0; i < 3; ++i) waiters.push_back(gyre::spawn([&]() -> gyre::task<> { co_await target.wait(); }));
      co_await gyre::sleep(1ms);
      waiters[victim].cancel();
      for (auto& each : waiters) co_await each.wait();
      for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(waiters[i].state().was_cancelled(), i == victim);
      EXPECT_EQ(co_await target, 1);
    }
  });
}

TEST(task_handle, gives_its_result_to_a_waiter_that_is_cancelled_in_the_same_moment) {
  run_virtual([]() -> gyre::task<> {
    int seen = 0;
    auto target = gyre::spawn(value_after(5ms, 6));
    auto waiter = gyre::spawn([&]() -> gyre::task<> { seen = co_await target; });
    co_await target.wait();  // this task is resumed in the same turn as the waiter
    (void)co_await cancel_and_wait(waiter);
    EXPECT_EQ(seen, 6);
  });
}

TEST(task_handle, gives_its_result_to_a_waiter_when_it_is_dropped_meanwhile) {
  run_virtual([]() -> gyre::task<> {
    auto handle = gyre::spawn(value_after(10ms, 5));
    auto waiter = gyre::spawn([&]() -> gyre::task<int> { co_return co_await handle; });
    auto watching = gyre::spawn([&]() -> gyre::task<> { co_await handle.wait(); });
    co_await gyre::sleep(1ms);
    handle.detach();
    EXPECT_EQ(co_await waiter, 5);
    co_await watching;
  });
}

TEST(task_handle, unwinds_a_chain_of_a_thousand_tasks_that_wait_for_each_other) {
  run_virtual([]() -> gyre::task<> {
    struct chain {
      static gyre::task<int> link(int depth) {
        if (depth == 0) co_return 0;
        auto next = gyre::spawn(link(depth - 1));
        co_return 1 + co_await next;
      }
    };
    EXPECT_EQ(co_await chain::link(1000), 1000);
  });
}
