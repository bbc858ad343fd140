// tests/tasks/wait_test.cpp: waiting for some of several tasks, first successes, sliding windows, and results of
// failures.
#include "tests/support/virtual_run.hpp"

#include <algorithm>
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

TEST(wait, until_the_first_has_ended_leaves_the_others_running) {
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

TEST(wait, until_all_have_ended_is_the_default) {
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

TEST(wait, until_the_first_exception_does_not_return_for_a_success) {
  run_virtual([]() -> gyre::task<> {
    auto handles = three();
    handles.push_back(gyre::spawn(fails(15ms)));
    const auto result = co_await gyre::wait(handles, gyre::wait_until::first_exception);
    EXPECT_EQ(result.done, (std::vector<std::size_t>{1, 3}));
    EXPECT_THROW(co_await handles[3], std::runtime_error);
    (void)co_await gyre::wait(handles);
  });
}

TEST(wait, until_the_first_exception_does_not_return_for_a_cancelled_task) {
  run_virtual([]() -> gyre::task<> {
    auto handles = three();
    handles[1].cancel();
    const auto result = co_await gyre::wait(handles, gyre::wait_until::first_exception);
    EXPECT_TRUE(result.pending.empty());
  });
}

TEST(wait, until_the_first_exception_returns_at_once_for_a_failure_that_was_awaited_before) {
  run_virtual([]() -> gyre::task<> {
    auto handles = three();
    handles.push_back(gyre::spawn(fails(1ms)));
    EXPECT_THROW((void)co_await handles[3], std::runtime_error);
    const auto result = co_await gyre::wait(handles, gyre::wait_until::first_exception);
    EXPECT_EQ(result.done, (std::vector<std::size_t>{3}));
    (void)co_await gyre::wait(handles);
  });
}

TEST(wait, a_cancel_stops_waiting_and_the_tasks_go_on) {
  run_virtual([]() -> gyre::task<> {
    auto handles = three();
    auto waiter = gyre::spawn([&]() -> gyre::task<> { (void)co_await gyre::wait(handles); });
    co_await gyre::sleep(5ms);
    waiter.cancel();
    co_await waiter.wait();
    EXPECT_TRUE(waiter.state().was_cancelled());
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

TEST(as_completed, gives_tasks_in_the_order_in_which_they_end) {
  run_virtual([]() -> gyre::task<> {
    auto handles = three();
    std::vector<int> order;
    auto completed = gyre::as_completed(handles);
    while (auto* handle = co_await completed.next()) order.push_back(co_await *handle);
    EXPECT_EQ(order, (std::vector{1, 2, 0}));
  });
}

TEST(as_completed, gives_tasks_that_end_while_the_caller_is_busy_in_the_order_of_their_ends) {
  run_virtual([]() -> gyre::task<> {
    auto handles = three();
    std::vector<int> order;
    auto completed = gyre::as_completed(handles);
    while (auto* handle = co_await completed.next()) {
      order.push_back(co_await *handle);
      co_await gyre::sleep(50ms);
    }
    EXPECT_EQ(order, (std::vector{1, 2, 0}));
  });
}

TEST(as_completed, gives_tasks_that_have_ended_before_in_the_order_of_their_ends) {
  run_virtual([]() -> gyre::task<> {
    auto handles = three();
    (void)co_await gyre::wait(handles);
    std::vector<int> order;
    auto completed = gyre::as_completed(handles);
    while (auto* handle = co_await completed.next()) order.push_back(co_await *handle);
    EXPECT_EQ(order, (std::vector{1, 2, 0}));
  });
}

TEST(as_completed, a_cancel_of_the_caller_lets_the_tasks_go_on) {
  run_virtual([]() -> gyre::task<> {
    auto handles = three();
    auto reader = gyre::spawn([&]() -> gyre::task<> {
      auto completed = gyre::as_completed(handles);
      (void)co_await completed.next();
      (void)co_await completed.next();
    });
    co_await gyre::sleep(15ms);
    reader.cancel();
    co_await reader.wait();
    EXPECT_TRUE(reader.state().was_cancelled());
    EXPECT_EQ(co_await handles[0], 0);
    EXPECT_EQ(co_await handles[2], 2);
  });
}

TEST(as_completed, left_early_lets_the_others_go_on) {
  run_virtual([]() -> gyre::task<> {
    auto handles = three();
    {
      auto completed = gyre::as_completed(handles);
      EXPECT_TRUE((co_await completed.next())->done());
    }
    (void)co_await gyre::wait(handles);
  });
}

// ---- some

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
    try {
      (void)co_await std::move(two);
      ADD_FAILURE() << "nothing was thrown";
    } catch (const gyre::exception_group& group) {
      EXPECT_EQ(group.size(), 2U);
    }
    EXPECT_EQ(since(begin), 2ms);
  });
}

TEST(first_n, of_more_than_there_are_is_refused) {
  run_virtual([]() -> gyre::task<> {
    auto one_of_none = gyre::first_n(1, std::vector<gyre::task<int>>());
    EXPECT_THROW((void)co_await std::move(one_of_none), std::system_error);
    auto none = gyre::first_n(0, std::vector<gyre::task<int>>());
    EXPECT_TRUE((co_await std::move(none)).empty());
  });
}

// ---- gather with a limit, and with failures as values

TEST(gather, with_a_limit_runs_a_sliding_window) {
  run_virtual([]() -> gyre::task<> {
    int running = 0;
    int most = 0;
    auto work = [&](int i) -> gyre::task<int> {
      most = std::max(most, ++running);
      co_await gyre::sleep(std::chrono::milliseconds(i == 0 ? 100 : 10));
      --running;
      co_return i;
    };
    std::vector<gyre::task<int>> tasks;
    for (int i = 0; i < 10; ++i) tasks.push_back(work(i));
    const auto begin = gyre::now();
    auto all = gyre::gather(std::move(tasks), {.at_most = 2});
    const auto results = co_await std::move(all);
    EXPECT_EQ(most, 2);
    EXPECT_EQ(since(begin), 100ms) << "the slow one does not hold up the others";
    for (int i = 0; i < 10; ++i) EXPECT_EQ(results.at(static_cast<std::size_t>(i)), i);
  });
}

TEST(gather, with_a_limit_starts_no_more_after_a_failure) {
  run_virtual([]() -> gyre::task<> {
    int started = 0;
    auto work = [&](int i) -> gyre::task<int> {
      ++started;
      co_await gyre::sleep(1ms);
      if (i == 1) throw std::runtime_error("no");
      co_return i;
    };
    std::vector<gyre::task<int>> tasks;
    for (int i = 0; i < 10; ++i) tasks.push_back(work(i));
    auto all = gyre::gather(std::move(tasks), {.at_most = 2});
    EXPECT_THROW((void)co_await std::move(all), std::runtime_error);
    EXPECT_LE(started, 4);
  });
}

TEST(gather, with_a_limit_that_is_cancelled_throws_cancelled) {
  run_virtual([]() -> gyre::task<> {
    int ended = 0;
    auto outer = gyre::spawn([&]() -> gyre::task<> {
      std::vector<gyre::task<int>> tasks;
      for (int i = 0; i < 5; ++i) tasks.push_back(value_after(1h, i));
      auto all = gyre::gather(std::move(tasks), {.at_most = 2});
      (void)co_await std::move(all);
      ++ended;
    });
    co_await gyre::sleep(1ms);
    outer.cancel();
    co_await outer.wait();
    EXPECT_TRUE(outer.state().was_cancelled());
    EXPECT_EQ(ended, 0);
  });
}

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
    auto waits = gyre::spawn([]() -> gyre::task<> { (void)co_await gyre::as_result(value_after(1h, 1)); });
    co_await gyre::yield();
    waits.cancel();
    co_await waits.wait();
    EXPECT_TRUE(waits.state().was_cancelled());
  });
}
