// tests/tasks/gather_test.cpp: the results of all tasks, or the failure of one.
#include <gyre/tasks/gather.hpp>

#include "tests/support/virtual_run.hpp"

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

using namespace gyre_test;

TEST(gather, gives_the_results_in_the_order_of_the_arguments) {
  run_virtual([]() -> gyre::task<> {
    const auto begin = gyre::now();
    auto text = []() -> gyre::task<std::string> {
      co_await gyre::sleep(1ms);
      co_return "text";
    };
    auto all = gyre::gather(value_after(20ms, 1), text(), gyre::sleep(5ms));
    const auto results = co_await std::move(all);
    EXPECT_EQ(results.get<0>(), 1);
    EXPECT_EQ(results.get<1>(), "text");
    EXPECT_EQ(results.get<2>(), gyre::void_result{});
    EXPECT_EQ(since(begin), 20ms);
  });
}

TEST(gather, gives_a_vector_for_a_range) {
  run_virtual([]() -> gyre::task<> {
    std::vector<gyre::task<int>> tasks;
    for (int i = 0; i < 50; ++i) tasks.push_back(value_after(std::chrono::milliseconds(50 - i), i));
    const std::vector<int> results = co_await gyre::gather(std::move(tasks));
    EXPECT_EQ(results.size(), 50U);
    for (int i = 0; i < 50; ++i) EXPECT_EQ(results[static_cast<std::size_t>(i)], i);
    EXPECT_TRUE((co_await gyre::gather(std::vector<gyre::task<int>>())).empty());
  });
}

TEST(gather, gives_move_only_values_and_takes_handles) {
  run_virtual([]() -> gyre::task<> {
    auto make = []() -> gyre::task<std::unique_ptr<int>> { co_return std::make_unique<int>(2); };
    auto all = gyre::gather(make(), gyre::spawn(value_after(1ms, 3)));
    auto results = co_await std::move(all);
    EXPECT_EQ(*results.get<0>() + results.get<1>(), 5);
  });
}

TEST(gather, cancels_the_others_at_the_first_failure_and_throws_it) {
  run_virtual([]() -> gyre::task<> {
    const auto begin = gyre::now();
    EXPECT_EQ(co_await error_of(gyre::gather(value_after(1h, 1), fail_after(5ms, "first"))), "first");
    EXPECT_EQ(since(begin), 5ms);
  });
}

TEST(gather, throws_several_failures_as_a_group) {
  run_virtual([]() -> gyre::task<> {
    auto all = gyre::gather(fail_after(1ms, "first"), fail_despite_cancel("second"), fail_despite_cancel("third"));
    try {
      co_await std::move(all);
      ADD_FAILURE() << "nothing was thrown";
    } catch (const gyre::exception_group& group) {
      EXPECT_EQ(group.size(), 3U);
      EXPECT_TRUE(std::string(group.what()).starts_with("3 tasks failed: first; ")) << group.what();
    }
  });
}

TEST(gather, throws_a_cancel_from_outside_when_all_have_stopped) {
  run_virtual([]() -> gyre::task<> {
    int stopped = 0;
    auto body = [&]() -> gyre::task<> { (void)co_await gyre::gather(count_cancel(stopped), count_cancel(stopped)); };
    EXPECT_TRUE(co_await is_cancelled_after(1ms, body));
    EXPECT_EQ(stopped, 2);
  });
}

TEST(gather, gives_the_results_of_parts_that_finish_in_spite_of_a_cancel) {
  run_virtual([]() -> gyre::task<> {
    int sum = 0;
    auto body = [&]() -> gyre::task<> {
      auto both = gyre::gather(value_despite_cancel(1), value_despite_cancel(2));
      const auto results = co_await std::move(both);
      sum = results.get<0>() + results.get<1>();
    };
    EXPECT_FALSE(co_await is_cancelled_after(1ms, body));
    EXPECT_EQ(sum, 3);
  });
}

TEST(gather, throws_a_failure_in_place_of_a_cancel_from_outside) {
  run_virtual([]() -> gyre::task<> {
    std::string what;
    auto body = [&]() -> gyre::task<> {
      auto both = gyre::gather(value_after(1h, 1), fail_despite_cancel("failed"));
      what = co_await error_of(std::move(both));
    };
    // error_of catches the failure; nothing is awaited after it, so the task returns.
    EXPECT_FALSE(co_await is_cancelled_after(1ms, body));
    EXPECT_EQ(what, "failed");
  });
}

TEST(gather, that_is_never_awaited_starts_nothing) {
  run_virtual([]() -> gyre::task<> {
    bool started = false;
    auto part = [&]() -> gyre::task<> {
      started = true;
      co_return;
    };
    {
      [[maybe_unused]] auto dropped = gyre::gather(part(), part());
    }
    co_await gyre::sleep(1ms);
    EXPECT_FALSE(started);
  });
}

// ---- at most so many at a time

TEST(gather, runs_a_sliding_window_when_it_has_a_limit) {
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
    auto all = gyre::gather(std::move(tasks), {.max_concurrent = 2});
    const auto results = co_await std::move(all);
    EXPECT_EQ(most, 2);
    EXPECT_EQ(since(begin), 100ms) << "the slow one does not hold up the others";
    for (int i = 0; i < 10; ++i) EXPECT_EQ(results.at(static_cast<std::size_t>(i)), i);
  });
}

TEST(gather, starts_no_more_after_a_failure_when_it_has_a_limit) {
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
    auto all = gyre::gather(std::move(tasks), {.max_concurrent = 2});
    EXPECT_TRUE(co_await throws<std::runtime_error>(std::move(all)));
    EXPECT_LE(started, 4);
  });
}

TEST(gather, is_cancelled_as_a_whole_when_it_has_a_limit) {
  run_virtual([]() -> gyre::task<> {
    int ended = 0;
    auto body = [&]() -> gyre::task<> {
      std::vector<gyre::task<int>> tasks;
      for (int i = 0; i < 5; ++i) tasks.push_back(value_after(1h, i));
      auto all = gyre::gather(std::move(tasks), {.max_concurrent = 2});
      (void)co_await std::move(all);
      ++ended;
    };
    EXPECT_TRUE(co_await is_cancelled_after(1ms, body));
    EXPECT_EQ(ended, 0);
  });
}
