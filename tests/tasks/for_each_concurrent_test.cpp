// tests/tasks/for_each_concurrent_test.cpp: the same work for each element, a limited number at a time.
#include <gyre/tasks/for_each_concurrent.hpp>
#include <gyre/testing/cancel_at_every_await.hpp>

#include "tests/support/virtual_run.hpp"

#include <algorithm>
#include <memory>
#include <ranges>
#include <stdexcept>
#include <vector>

using namespace gyre_test;

TEST(for_each_concurrent, runs_at_most_so_many_at_a_time_in_the_order_of_the_range) {
  run_virtual([]() -> gyre::task<> {
    const std::vector<int> numbers{1, 2, 3, 4, 5, 6, 7};
    std::vector<int> begun;
    std::size_t running = 0;
    std::size_t most = 0;
    auto work = [&](const int& number) -> gyre::task<> {
      begun.push_back(number);
      most = std::max(most, ++running);
      co_await gyre::sleep(number * 1ms);
      --running;
    };
    const auto begin = gyre::now();
    co_await gyre::for_each_concurrent(numbers, 3, work);
    EXPECT_EQ(begun, numbers);
    EXPECT_EQ(most, 3U);
    EXPECT_EQ(running, 0U);
    EXPECT_LT(since(begin), 28ms);
  });
}

TEST(for_each_concurrent, changes_the_elements_of_a_container_where_they_are) {
  run_virtual([]() -> gyre::task<> {
    std::vector<int> numbers{1, 2, 3};
    auto twice = [](int& number) -> gyre::task<> {
      co_await gyre::yield();
      number *= 2;
    };
    co_await gyre::for_each_concurrent(numbers, 2, twice);
    EXPECT_EQ(numbers, (std::vector{2, 4, 6}));
  });
}

TEST(for_each_concurrent, keeps_a_temporary_range_and_elements_that_are_made_for_the_occasion) {
  run_virtual([]() -> gyre::task<> {
    int sum = 0;
    auto add_owned = [&](std::unique_ptr<int>& number) -> gyre::task<> {
      co_await gyre::yield();
      sum += *number;
    };
    std::vector<std::unique_ptr<int>> owned;
    for (int i = 1; i <= 3; ++i) owned.push_back(std::make_unique<int>(i));
    co_await gyre::for_each_concurrent(std::move(owned), 2, add_owned);
    EXPECT_EQ(sum, 6);
    auto add = [&](int number) -> gyre::task<> {
      co_await gyre::yield();
      sum += number;
    };
    co_await gyre::for_each_concurrent(std::views::iota(1, 5), 2, add);
    EXPECT_EQ(sum, 16);
  });
}

TEST(for_each_concurrent, returns_for_an_empty_range) {
  run_virtual([]() -> gyre::task<> {
    const std::vector<int> none;
    auto work = [](const int&) -> gyre::task<> { co_return; };
    co_await gyre::for_each_concurrent(none, 1, work);
  });
}

TEST(for_each_concurrent, the_first_failure_cancels_those_that_run_and_starts_no_more) {
  run_virtual([]() -> gyre::task<> {
    const std::vector<int> numbers{1, 2, 3, 4, 5};
    int begun = 0;
    int cut_off = 0;
    auto work = [&](const int& number) -> gyre::task<> {
      ++begun;
      if (number == 2) {
        co_await gyre::sleep(1ms);
        throw std::runtime_error("two");
      }
      co_await count_cancel(cut_off);
    };
    auto all = gyre::for_each_concurrent(numbers, 3, work);
    EXPECT_EQ(co_await error_of(std::move(all)), "two");
    EXPECT_EQ(begun, 3);
    EXPECT_EQ(cut_off, 2);
  });
}

TEST(for_each_concurrent, throws_what_the_range_throws_when_those_that_run_have_ended) {
  run_virtual([]() -> gyre::task<> {
    int ended = 0;
    auto work = [&](int number) -> gyre::task<> {
      if (number == 1)
        co_await gyre::sleep(1ms);
      else
        co_await count_cancel(ended);
    };
    auto numbers = []() -> gyre::generator<int> {
      co_yield 1;
      co_yield 2;
      co_yield 3;  // resumes after the first has ended, so that the second has begun
      throw std::runtime_error("the range is broken");
    };
    auto all = gyre::for_each_concurrent(numbers(), 2, work);
    EXPECT_EQ(co_await error_of(std::move(all)), "the range is broken");
    EXPECT_EQ(ended, 1);
  });
}

TEST(for_each_concurrent, a_cancel_at_any_await_ends_all) {
  gyre::testing::cancel_at_every_await(
      []() -> gyre::task<> {
        const std::vector<int> numbers{1, 2, 3, 4};
        auto work = [](const int&) -> gyre::task<> {
          co_await gyre::yield();
          co_await gyre::sleep(1ms);
        };
        co_await gyre::for_each_concurrent(numbers, 2, work);
      },
      [](bool) {}, {.backend = {}, .virtual_time = true});
}

TEST(for_each_concurrent_death, that_lets_none_run_stops_the_program) {
  const std::vector<int> numbers{1};
  auto work = [](const int&) -> gyre::task<> { co_return; };
  EXPECT_DEATH((void)gyre::for_each_concurrent(numbers, 0, work), "max_concurrent 0");
}
