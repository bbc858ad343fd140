// tests/coro/generator_test.cpp: values one after another, computed or awaited.
#include <gyre/coro/async_generator.hpp>
#include <gyre/coro/generator.hpp>
#include <gyre/testing/cancel_at_every_await.hpp>

#include "tests/support/virtual_run.hpp"

#include <memory>
#include <optional>
#include <ranges>
#include <stdexcept>
#include <string>
#include <vector>

using namespace gyre_test;

namespace {

struct tracked {
  static inline int alive = 0;
  tracked() { ++alive; }
  ~tracked() { --alive; }
};

gyre::generator<int> count(int end) {
  const tracked local;
  for (int i = 0; i < end; ++i) co_yield i;
}
gyre::generator<std::string> words() {
  co_yield "one";
  std::string two = "two";
  co_yield two;
  EXPECT_EQ(two, "changed") << "the loop sees the yielded object itself";
}
gyre::generator<int> fails_after(int count) {
  for (int i = 0; i < count; ++i) co_yield i;
  throw std::runtime_error("no more");
}

gyre::async_generator<int> ticks(int end) {
  const tracked local;
  for (int i = 0; i < end; ++i) {
    co_await gyre::sleep(1ms);
    co_yield i;
  }
}
gyre::async_generator<std::unique_ptr<int>> moved_out() {
  for (int i = 0; i < 3; ++i) co_yield std::make_unique<int>(i);
}
gyre::async_generator<int> fails() {
  co_yield 1;
  co_await gyre::sleep(1ms);
  throw std::runtime_error("no more");
}

}  // namespace

TEST(generator, gives_its_values_in_order) {
  std::vector<int> got;
  for (const int i : count(4)) got.push_back(i);
  EXPECT_EQ(got, (std::vector{0, 1, 2, 3}));
  for (const int i : count(0)) ADD_FAILURE() << i;
}

TEST(generator, gives_the_object_that_was_yielded) {
  std::string all;
  for (std::string& word : words()) {
    all += word;
    word = "changed";
  }
  EXPECT_EQ(all, "onetwo");
}

TEST(generator, is_a_range_for_the_standard_library) {
  static_assert(std::ranges::input_range<gyre::generator<int>>);
  std::vector<int> odd;
  for (const int i : count(6) | std::views::filter([](int n) { return n % 2 == 1; })) odd.push_back(i);
  EXPECT_EQ(odd, (std::vector{1, 3, 5}));
}

TEST(generator, throws_its_exception_out_of_the_loop) {
  int last = -1;
  EXPECT_THROW(for (const int i : fails_after(3)) last = i, std::runtime_error);
  EXPECT_EQ(last, 2);
}

TEST(generator, that_is_left_early_destroys_its_locals) {
  for (const int i : count(100))
    if (i == 1) break;
  EXPECT_EQ(tracked::alive, 0);
  {
    const auto never_begun = count(1);
  }
  EXPECT_EQ(tracked::alive, 0);
}

TEST(async_generator, gives_the_values_that_it_has_waited_for) {
  run_virtual([]() -> gyre::task<> {
    auto numbers = ticks(4);
    std::vector<int> got;
    while (const int* number = co_await numbers.next()) got.push_back(*number);
    EXPECT_EQ(got, (std::vector{0, 1, 2, 3}));
    EXPECT_EQ(co_await numbers.next(), nullptr);
  });
}

TEST(async_generator, lets_its_values_be_moved_out) {
  run_virtual([]() -> gyre::task<> {
    auto pointers = moved_out();
    int sum = 0;
    while (auto* pointer = co_await pointers.next()) {
      const std::unique_ptr<int> mine = std::move(*pointer);
      sum += *mine;
    }
    EXPECT_EQ(sum, 3);
  });
}

TEST(async_generator, throws_its_exception_once_and_has_then_ended) {
  run_virtual([]() -> gyre::task<> {
    auto numbers = fails();
    EXPECT_EQ(*co_await numbers.next(), 1);
    EXPECT_THROW(co_await numbers.next(), std::runtime_error);
    EXPECT_EQ(co_await numbers.next(), nullptr);
  });
}

TEST(async_generator, that_is_left_early_destroys_its_locals) {
  run_virtual([]() -> gyre::task<> {
    {
      auto numbers = ticks(100);
      (void)co_await numbers.next();
      EXPECT_EQ(tracked::alive, 1);
    }
    EXPECT_EQ(tracked::alive, 0);
  });
}

TEST(async_generator, a_cancel_reaches_what_it_waits_for) {
  run_virtual([]() -> gyre::task<> {
    int got = 0;
    auto read = [&]() -> gyre::task<> {
      auto numbers = ticks(1000);
      while (co_await numbers.next()) ++got;
    };
    auto reader = gyre::spawn(read());
    co_await gyre::sleep(std::chrono::microseconds(3500));
    EXPECT_TRUE(co_await cancel_and_wait(reader));
    EXPECT_EQ(got, 3);
    EXPECT_EQ(tracked::alive, 0);
  });
}

TEST(async_generator, may_be_read_by_different_tasks_one_after_the_other) {
  run_virtual([]() -> gyre::task<> {
    auto numbers = ticks(4);
    auto read_one = [&]() -> gyre::task<int> { co_return *co_await numbers.next(); };
    for (int i = 0; i < 4; ++i) EXPECT_EQ(co_await gyre::spawn(read_one()), i);
  });
}

TEST(async_generator, a_cancel_at_any_await_leaks_nothing) {
  gyre::testing::cancel_at_every_await(
      []() -> gyre::task<> {
        auto numbers = ticks(5);
        while (co_await numbers.next()) co_await gyre::yield();
      },
      [](bool) { EXPECT_EQ(tracked::alive, 0); });
}

namespace {

gyre::async_generator<int> yields_in_a_timeout() {
  const gyre::timeout_scope limit(co_await gyre::this_task_context{}, gyre::deadline_after(10s));
  co_yield 1;
}
gyre::async_generator<int> yields_in_a_cancel_scope() {
  gyre::cancel_scope scope;
  scope.open(co_await gyre::this_task_context{});
  co_yield 1;
}
gyre::async_generator<int> yields_in_a_binding() {
  static const gyre::task_local<int> number;
  const auto bound = number.bind(1);
  co_yield 1;
}
gyre::async_generator<int> waits_in_a_timeout(int end) {
  for (int i = 0; i < end; ++i) {
    {
      const gyre::timeout_scope limit(co_await gyre::this_task_context{}, gyre::deadline_after(10s));
      co_await gyre::sleep(1ms);
    }
    co_yield i;
  }
}
template <class Make>
void read_first(Make make) {
  run_virtual([&]() -> gyre::task<> {
    auto numbers = make();
    (void)co_await numbers.next();
  });
}

}  // namespace

TEST(async_generator_death, a_co_yield_inside_a_scope_of_the_generator_stops_the_program) {
  EXPECT_DEATH(read_first(yields_in_a_timeout), "co_yield inside");
  EXPECT_DEATH(read_first(yields_in_a_cancel_scope), "co_yield inside");
  EXPECT_DEATH(read_first(yields_in_a_binding), "co_yield inside");
}

TEST(async_generator_death, a_next_while_another_one_waits_stops_the_program) {
  EXPECT_DEATH(run_virtual([]() -> gyre::task<> {
                 auto numbers = ticks(2);
                 auto read = [&]() -> gyre::task<> { (void)co_await numbers.next(); };
                 auto both = gyre::gather(read(), read());
                 co_await std::move(both);
               }),
               "another next");
}

TEST(async_generator, may_close_a_timeout_before_each_value) {
  run_virtual([]() -> gyre::task<> {
    auto numbers = waits_in_a_timeout(3);
    for (int i = 0; i < 3; ++i) {
      auto next = [&]() -> gyre::task<int> { co_return *co_await numbers.next(); };
      EXPECT_EQ(co_await gyre::timeout(5ms, next()), i);
    }
    EXPECT_EQ(co_await numbers.next(), nullptr);
  });
}

TEST(generator, that_has_ended_or_failed_is_an_empty_range) {
  auto numbers = count(3);
  std::vector<int> seen;
  for (int number : numbers) seen.push_back(number);
  for (int number : numbers) seen.push_back(number);
  EXPECT_EQ(seen, (std::vector{0, 1, 2}));
  auto failing = fails_after(1);
  EXPECT_THROW(for (int number : failing) seen.push_back(number), std::runtime_error);
  for (int number : failing) seen.push_back(number);
  EXPECT_EQ(seen, (std::vector{0, 1, 2, 0}));
}

TEST(generator, goes_on_after_a_break) {
  auto numbers = count(3);
  for (int number : numbers)
    if (number == 1) break;
  std::vector<int> rest;
  for (int number : numbers) rest.push_back(number);
  EXPECT_EQ(rest, std::vector{2});
}

TEST(generator_death, iterating_one_that_was_moved_from_stops_the_program) {
  auto numbers = count(3);
  [[maybe_unused]] auto taken = std::move(numbers);
  EXPECT_DEATH((void)numbers.begin(), "a generator that was moved from");  // NOLINT(bugprone-use-after-move)
}

TEST(async_generator_death, that_was_moved_from_stops_the_program) {
  EXPECT_DEATH(gyre::run([]() -> gyre::task<> {
                 auto numbers = ticks(3);
                 const auto there = std::move(numbers);
                 (void)co_await numbers.next();  // NOLINT(bugprone-use-after-move): that is the test
               }),
               "next.. of an async_generator that was moved from");
}

TEST(async_generator_death, that_is_destroyed_while_a_task_waits_in_its_next_stops_the_program) {
  const auto destroy = [] {
    run_virtual([]() -> gyre::task<> {
      std::optional<gyre::async_generator<int>> numbers(ticks(3));
      const auto read = [&]() -> gyre::task<> { (void)co_await numbers->next(); };
      auto reader = gyre::spawn(read);
      co_await gyre::yield();
      numbers.reset();
      co_await reader;
    });
  };
  EXPECT_DEATH(destroy(),
               "an async_generator was destroyed while a task waits in its next.*: cancel and await that task first");
}
