// tests/coro/task_test.cpp: results, exceptions and depth of tasks.
#include <gyre/coro/task.hpp>

#include "tests/support/virtual_run.hpp"

#include <memory>
#include <stdexcept>

using namespace gyre_test;

namespace {

struct no_default {
  explicit no_default(int v) : value(v) {}
  int value;
};

gyre::task<int> one(int i) { co_return i; }
gyre::task<int> chain(int depth) {
  if (depth == 0) co_return 0;
  co_return 1 + co_await chain(depth - 1);
}
gyre::task<int> chain_that_throws(int depth) {
  if (depth == 0) throw std::runtime_error("from the bottom");
  co_return 1 + co_await chain_that_throws(depth - 1);
}

struct counted {
  static inline int alive = 0;
  counted() { ++alive; }
  counted(const counted&) { ++alive; }
  counted(counted&&) noexcept { ++alive; }
  ~counted() { --alive; }
};

gyre::task<> hold(counted) { co_return; }

}  // namespace

TEST(task, gives_values_of_every_kind) {
  run_virtual([]() -> gyre::task<> {
    EXPECT_EQ(co_await one(7), 7);
    int target = 1;
    auto reference = [&]() -> gyre::task<int&> { co_return target; };
    (co_await reference()) = 5;
    EXPECT_EQ(target, 5);
    auto move_only = []() -> gyre::task<std::unique_ptr<int>> { co_return std::make_unique<int>(3); };
    EXPECT_EQ(*co_await move_only(), 3);
    auto special = []() -> gyre::task<no_default> { co_return no_default(9); };
    EXPECT_EQ((co_await special()).value, 9);
  });
}

TEST(task, does_not_start_before_it_is_awaited) {
  run_virtual([]() -> gyre::task<> {
    bool started = false;
    auto body = [&]() -> gyre::task<> {
      started = true;
      co_return;
    };
    auto task = body();
    EXPECT_FALSE(started);
    co_await std::move(task);
    EXPECT_TRUE(started);
  });
}

TEST(task, that_is_never_awaited_frees_its_arguments) {
  {
    [[maybe_unused]] auto task = hold(counted());
    EXPECT_EQ(counted::alive, 1);
  }
  EXPECT_EQ(counted::alive, 0);
}

TEST(task, that_was_moved_from_is_empty) {
  auto first = one(1);
  auto second = std::move(first);
  EXPECT_FALSE(first);
  EXPECT_TRUE(second);
}

TEST(task, needs_no_stack_for_a_million_synchronous_awaits) {
  run_virtual([]() -> gyre::task<> {
    long sum = 0;
    for (int i = 0; i < 1'000'000; ++i) sum += co_await one(1);
    EXPECT_EQ(sum, 1'000'000);
  });
}

TEST(task, returns_and_throws_through_a_chain_of_100000_awaits_in_constant_stack) {
  run_virtual([]() -> gyre::task<> {
    EXPECT_EQ(co_await chain(100'000), 100'000);
    EXPECT_EQ(co_await error_of(chain_that_throws(100'000)), "from the bottom");
  });
}

TEST(task, throws_the_exception_of_a_constructor_of_its_result) {
  struct throws_when_moved {
    throws_when_moved() = default;
    throws_when_moved(throws_when_moved&&) { throw std::runtime_error("no room"); }
  };
  run_virtual([]() -> gyre::task<> {
    auto body = []() -> gyre::task<throws_when_moved> {
      throws_when_moved value;
      co_await gyre::yield();
      co_return std::move(value);
    };
    EXPECT_EQ(co_await error_of(body()), "no room");
  });
}

TEST(task, destroys_the_locals_of_every_coroutine_that_an_exception_leaves) {
  struct nested {
    static gyre::task<int> throws(int depth) {
      const counted local;
      co_await gyre::yield();
      if (depth == 0) throw std::runtime_error("deep");
      co_return co_await throws(depth - 1);
    }
  };
  run_virtual([]() -> gyre::task<> {
    EXPECT_EQ(co_await error_of(nested::throws(50)), "deep");
    EXPECT_EQ(counted::alive, 0);
  });
}

TEST(task, throws_a_value_that_is_no_std_exception_as_it_is) {
  run_virtual([]() -> gyre::task<> {
    auto body = []() -> gyre::task<int> {
      co_await gyre::yield();
      throw 42;
    };
    EXPECT_TRUE(co_await throws<int>(body()));
  });
}

TEST(task, that_was_never_awaited_is_destroyed_by_an_assignment_to_it) {
  auto task = hold(counted());
  auto other = hold(counted());
  EXPECT_EQ(counted::alive, 2);
  task = std::move(other);
  EXPECT_EQ(counted::alive, 1);
  EXPECT_FALSE(other);
  auto& same = task;
  task = std::move(same);
  EXPECT_TRUE(task);
  task = hold(counted());
  EXPECT_EQ(counted::alive, 1);
}

TEST(task, destroys_arguments_locals_and_result_when_the_await_is_over) {
  run_virtual([]() -> gyre::task<> {
    auto give = [](counted value) -> gyre::task<counted> {
      const counted local;
      co_await gyre::yield();
      EXPECT_GE(counted::alive, 2);
      co_return value;
    };
    for (int i = 0; i < 100; ++i) {
      const counted result = co_await give(counted());
      EXPECT_EQ(counted::alive, 1);
    }
    EXPECT_EQ(counted::alive, 0);
  });
}
