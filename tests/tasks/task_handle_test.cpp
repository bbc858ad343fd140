// tests/tasks/task_handle_test.cpp: a handle is an ordinary value: a member, an element, empty at first.
#include <gyre/tasks/task_handle.hpp>

#include "tests/support/virtual_run.hpp"

#include <map>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

using namespace gyre_test;

TEST(task_handle, is_of_a_task_of_void_when_nothing_is_said) {
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

TEST(task_handle, without_a_task_stops_the_program_with_a_sentence) {
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

TEST(task_handle, that_is_kept_does_not_keep_the_arguments_of_a_task_that_has_ended) {
  run_virtual([]() -> gyre::task<> {
    auto stream = std::make_shared<int>(7);
    auto use = [](std::shared_ptr<int>) -> gyre::task<> { co_await gyre::sleep(1ms); };
    auto fail = [](std::shared_ptr<int>) -> gyre::task<int> {
      co_await gyre::sleep(1ms);
      throw std::runtime_error("no");
    };
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

TEST(task_handle, takes_a_cancel_back_after_the_end_of_the_task_and_of_its_group) {
  run_virtual([]() -> gyre::task<> {
    gyre::task_handle<> child;
    auto body = [&](gyre::task_group& group) -> gyre::task<> {
      child = group.spawn([]() -> gyre::task<> { co_await gyre::sleep(1h); });
      co_await gyre::yield();
      child.cancel();
    };
    co_await gyre::task_group::scope(body);
    EXPECT_EQ(child.cancelling(), 1U);
    EXPECT_EQ(child.uncancel(), 0U);
    EXPECT_EQ(child.uncancel(), 0U);
  });
}
