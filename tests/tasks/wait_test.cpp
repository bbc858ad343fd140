// tests/tasks/wait_test.cpp: waiting for some of several tasks, first successes, sliding windows, and results of
// failures.
#include "tests/support/virtual_run.hpp"

#include <stdexcept>
#include <string>
#include <vector>

using namespace gyre_test;

namespace {

std::vector<gyre::task_handle<int>> three() {
  std::vector<gyre::task_handle<int>> handles;
  handles.push_back(gyre::spawn(value_after(30ms, 0)));
  handles.push_back(gyre::spawn(value_after(10ms, 1)));
  handles.push_back(gyre::spawn(value_after(20ms, 2)));
  return handles;
}

gyre::task<int> fails(std::chrono::milliseconds time) {
  co_await gyre::sleep(time);
  throw std::runtime_error("failed after " + std::to_string(time.count()));
}

}  // namespace

// ---- wait

TEST(wait, for_the_first_to_end_leaves_the_others_running) {
  run_virtual([]() -> gyre::task<> {
    auto handles = three();
    const auto begin = gyre::now();
    const auto result = co_await gyre::wait(handles, gyre::wait_until::first_completed);
    EXPECT_EQ(since(begin), 10ms);
    EXPECT_EQ(result.done, (std::vector<std::size_t>{1}));
    EXPECT_EQ(result.pending, (std::vector<std::size_t>{0, 2}));
    EXPECT_EQ(co_await handles[0], 0);
  });
}

TEST(wait, returns_by_default_when_all_have_ended) {
  run_virtual([]() -> gyre::task<> {
    auto handles = three();
    const auto begin = gyre::now();
    const auto result = co_await gyre::wait(handles);
    EXPECT_EQ(since(begin), 30ms);
    EXPECT_EQ(result.done.size(), 3U);
    const auto again = co_await gyre::wait(handles);  // nothing to wait for
    EXPECT_TRUE(again.pending.empty());
  });
}

TEST(wait, for_the_first_exception_does_not_return_for_a_success) {
  run_virtual([]() -> gyre::task<> {
    auto handles = three();
    handles.push_back(gyre::spawn(fails(15ms)));
    const auto result = co_await gyre::wait(handles, gyre::wait_until::first_exception);
    EXPECT_EQ(result.done, (std::vector<std::size_t>{1, 3}));
    EXPECT_THROW(co_await handles[3], std::runtime_error);
    (void)co_await gyre::wait(handles);
  });
}

TEST(wait, for_the_first_exception_does_not_return_for_a_cancelled_task) {
  run_virtual([]() -> gyre::task<> {
    auto handles = three();
    handles[1].cancel();
    const auto result = co_await gyre::wait(handles, gyre::wait_until::first_exception);
    EXPECT_TRUE(result.pending.empty());
  });
}

TEST(wait, for_the_first_exception_returns_at_once_for_a_failure_that_was_awaited_before) {
  run_virtual([]() -> gyre::task<> {
    auto handles = three();
    handles.push_back(gyre::spawn(fails(1ms)));
    EXPECT_THROW((void)co_await handles[3], std::runtime_error);
    const auto result = co_await gyre::wait(handles, gyre::wait_until::first_exception);
    EXPECT_EQ(result.done, (std::vector<std::size_t>{3}));
    (void)co_await gyre::wait(handles);
  });
}

TEST(wait, lets_the_tasks_go_on_when_it_is_cancelled) {
  run_virtual([]() -> gyre::task<> {
    auto handles = three();
    auto waits = [&]() -> gyre::task<> { (void)co_await gyre::wait(handles); };
    EXPECT_TRUE(co_await is_cancelled_after(5ms, waits));
    EXPECT_EQ(co_await handles[2], 2);
    (void)co_await gyre::wait(handles);
  });
}

TEST(wait, ends_with_a_time_out_around_it) {
  run_virtual([]() -> gyre::task<> {
    auto handles = three();
    EXPECT_THROW(co_await gyre::timeout(15ms, gyre::wait(handles)), gyre::timed_out);
    EXPECT_TRUE(handles[1].done());
    EXPECT_FALSE(handles[0].done());
    (void)co_await gyre::wait(handles);
  });
}

namespace {

/// The values of the tasks in the order of as_completed, with a pause after each.
gyre::task<std::vector<int>> order_of_completion(std::vector<gyre::task_handle<int>>& handles,
                                                 std::chrono::milliseconds pause = 0ms) {
  std::vector<int> order;
  auto completed = gyre::as_completed(handles);
  while (auto* handle = co_await completed.next()) {
    order.push_back(co_await *handle);
    if (pause > 0ms) co_await gyre::sleep(pause);
  }
  co_return order;
}

}  // namespace

TEST(as_completed, gives_tasks_in_the_order_in_which_they_end) {
  run_virtual([]() -> gyre::task<> {
    auto handles = three();
    const auto order = co_await order_of_completion(handles);
    EXPECT_EQ(order, (std::vector{1, 2, 0}));
  });
}

TEST(as_completed, keeps_the_order_of_tasks_that_end_while_the_caller_is_busy) {
  run_virtual([]() -> gyre::task<> {
    auto handles = three();
    const auto order = co_await order_of_completion(handles, 50ms);
    EXPECT_EQ(order, (std::vector{1, 2, 0}));
  });
}

TEST(as_completed, keeps_the_order_of_tasks_that_have_ended_before) {
  run_virtual([]() -> gyre::task<> {
    auto handles = three();
    (void)co_await gyre::wait(handles);
    const auto order = co_await order_of_completion(handles);
    EXPECT_EQ(order, (std::vector{1, 2, 0}));
  });
}

TEST(as_completed, lets_the_tasks_go_on_when_the_caller_is_cancelled) {
  run_virtual([]() -> gyre::task<> {
    auto handles = three();
    auto reads = [&]() -> gyre::task<> {
      auto completed = gyre::as_completed(handles);
      (void)co_await completed.next();
      (void)co_await completed.next();
    };
    EXPECT_TRUE(co_await is_cancelled_after(15ms, reads));
    EXPECT_EQ(co_await handles[0], 0);
    EXPECT_EQ(co_await handles[2], 2);
  });
}

TEST(as_completed, lets_the_others_go_on_when_it_is_left_early) {
  run_virtual([]() -> gyre::task<> {
    auto handles = three();
    {
      auto completed = gyre::as_completed(handles);
      EXPECT_TRUE((co_await completed.next())->done());
    }
    (void)co_await gyre::wait(handles);
  });
}

// ---- first_n

TEST(first_n, gives_the_first_successes_and_cancels_the_rest) {
  run_virtual([]() -> gyre::task<> {
    std::vector<gyre::task<int>> tasks;
    tasks.push_back(value_after(1h, 0));
    tasks.push_back(value_after(10ms, 1));
    tasks.push_back(fails(5ms));
    tasks.push_back(value_after(20ms, 3));
    const auto begin = gyre::now();
    auto first_two = gyre::first_n(2, std::move(tasks));
    const auto results = co_await std::move(first_two);
    EXPECT_EQ(since(begin), 20ms);
    EXPECT_EQ(results.size(), 2U);
    EXPECT_EQ(results.at(0).index, 1U);
    EXPECT_EQ(results.at(1).value, 3);
  });
}

TEST(first_n, throws_what_failed_when_too_few_can_succeed) {
  run_virtual([]() -> gyre::task<> {
    std::vector<gyre::task<int>> tasks;
    tasks.push_back(fails(1ms));
    tasks.push_back(value_after(1h, 1));
    tasks.push_back(fails(2ms));
    const auto begin = gyre::now();
    auto two = gyre::first_n(2, std::move(tasks));
    EXPECT_EQ(co_await error_of(std::move(two)), "2 tasks failed: failed after 1; failed after 2");
    EXPECT_EQ(since(begin), 2ms);
  });
}

TEST(first_n, refuses_more_than_there_are_tasks) {
  run_virtual([]() -> gyre::task<> {
    auto one_of_none = gyre::first_n(1, std::vector<gyre::task<int>>());
    EXPECT_THROW((void)co_await std::move(one_of_none), std::system_error);
    auto none = gyre::first_n(0, std::vector<gyre::task<int>>());
    EXPECT_TRUE((co_await std::move(none)).empty());
  });
}

// ---- as_result

TEST(as_result, gives_failures_as_values_so_that_all_can_finish) {
  run_virtual([]() -> gyre::task<> {
    auto both = gyre::gather(gyre::as_result(fails(1ms)), gyre::as_result(value_after(5ms, 2)));
    auto results = co_await std::move(both);
    EXPECT_THROW(std::rethrow_exception(results.get<0>().error()), std::runtime_error);
    EXPECT_EQ(results.get<1>().value(), 2);
  });
}

TEST(as_result, lets_a_cancel_through) {
  run_virtual([]() -> gyre::task<> {
    auto waits = []() -> gyre::task<> { (void)co_await gyre::as_result(value_after(1h, 1)); };
    EXPECT_TRUE(co_await is_cancelled_after(1ms, waits));
  });
}
