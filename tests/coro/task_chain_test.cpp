// tests/coro/task_chain_test.cpp: chains of coroutines that own each other through their arguments need no deep stack.
#include <gyre/gyre.hpp>

#include "tests/support/virtual_run.hpp"

#include <memory>
#include <string>
#include <vector>

using namespace gyre_test;

namespace {

// More than a stack of 8 MiB has room for if each link takes a part of it: about 16 bytes at -O2, and 100 at -O0.
constexpr int long_chain = gyre::checks_everything ? 100'000 : 1'000'000;
constexpr int long_chain_of_spawned = long_chain > 200'000 ? 200'000 : long_chain;  // each needs more

/// Counts the objects that exist.
struct chain_object {
  static inline int alive = 0;
  chain_object() { ++alive; }
  chain_object(const chain_object&) { ++alive; }
  ~chain_object() { --alive; }
};

gyre::task<int> last_link(chain_object) { co_return 0; }
gyre::task<int> link_before(gyre::task<int> next, chain_object) { co_return 1 + co_await std::move(next); }
GYRE_CORO_WRAPPER gyre::task<int> chain_of(int links) {
  auto made = last_link(chain_object());
  for (int i = 0; i < links; ++i) made = link_before(std::move(made), chain_object());
  return made;
}

gyre::async_generator<int> numbers() {
  for (int i = 0; i < 3; ++i) co_yield i;
}
gyre::async_generator<int> passed_on(gyre::async_generator<int> from, chain_object) {
  while (int* number = co_await from.next()) co_yield *number;
}

gyre::task<int> after(gyre::task_handle<int> previous, chain_object) { co_return 1 + co_await previous; }
gyre::task<int> shared_link(gyre::shared_task<int> next, chain_object) { co_return 1 + co_await next; }
gyre::task<int> never_awaits(gyre::task_handle<int>, chain_object) { co_return 1; }

struct ending {
  std::vector<std::string>* order;
  std::string name;
  ending(std::vector<std::string>* into, std::string called) : order(into), name(std::move(called)) {}
  ending(ending&& other) noexcept : order(std::exchange(other.order, nullptr)), name(std::move(other.name)) {}
  ending& operator=(ending&&) = delete;
  ~ending() {
    if (order != nullptr) order->push_back(name);
  }
};
gyre::task<> holds(ending) { co_return; }
gyre::task<> holds_a_task(ending, gyre::task<> inner, ending) { co_await std::move(inner); }

/// After each test, all objects are gone.
class task_chain : public testing::Test {
 protected:
  void TearDown() override { EXPECT_EQ(chain_object::alive, 0); }
};

}  // namespace

TEST_F(task_chain, that_was_never_awaited_is_destroyed) {
  [[maybe_unused]] auto made = chain_of(long_chain);
  EXPECT_EQ(chain_object::alive, long_chain + 1);
}

TEST_F(task_chain, that_is_awaited_as_a_temporary_ends) {
  run_virtual([]() -> gyre::task<> { EXPECT_EQ(co_await chain_of(long_chain), long_chain); });
}

TEST_F(task_chain, is_freed_when_its_await_ends_however_long_the_task_object_lives) {
  run_virtual([]() -> gyre::task<> {
    auto made = chain_of(long_chain);
    EXPECT_TRUE(made);
    EXPECT_EQ(co_await std::move(made), long_chain);
    EXPECT_FALSE(made);  // NOLINT(bugprone-use-after-move): that is the test
    EXPECT_EQ(chain_object::alive, 0);
  });
}

TEST_F(task_chain, that_is_spawned_ends) {
  run_virtual([]() -> gyre::task<> {
    auto running = gyre::spawn(chain_of(long_chain));
    EXPECT_EQ(co_await running, long_chain);
  });
}

TEST_F(task_chain, that_is_cancelled_before_it_starts_is_destroyed) {
  run_virtual([]() -> gyre::task<> {
    auto running = gyre::spawn(chain_of(long_chain));
    EXPECT_TRUE(co_await cancel_and_wait(running));
  });
}

TEST_F(task_chain, that_consists_of_async_generators_is_destroyed) {
  run_virtual([]() -> gyre::task<> {
    auto all = numbers();
    for (int i = 0; i < long_chain; ++i) all = passed_on(std::move(all), chain_object());
    co_return;
  });
}

TEST_F(task_chain, that_consists_of_started_generators_is_destroyed_from_the_innermost_on) {
  struct depth_guard {
    explicit depth_guard(std::vector<int>& all) : open(all) { open.push_back(0); }
    ~depth_guard() { open.pop_back(); }
    depth_guard& operator=(depth_guard&&) = delete;
    std::vector<int>& open;
  };
  struct nested {
    static gyre::async_generator<int> walk(std::vector<int>& open, int depth) {
      const depth_guard here(open);
      if (depth == 0) co_yield static_cast<int>(open.size());
      if (depth == 0) co_return;
      auto below = walk(open, depth - 1);
      while (auto* const each = co_await below.next()) co_yield *each;
    }
    static gyre::async_generator<int> all(int depth) {
      std::vector<int> open;  // the guards of all levels refer to it
      auto below = walk(open, depth);
      while (auto* const each = co_await below.next()) co_yield *each;
    }
  };
  run_virtual([]() -> gyre::task<> {
    auto walking = nested::all(300);
    EXPECT_EQ(*co_await walking.next(), 301);
  });
}

TEST_F(task_chain, that_consists_of_handles_of_running_tasks_ends) {
  run_virtual([]() -> gyre::task<> {
    auto running = gyre::spawn(last_link(chain_object()));
    for (int i = 0; i < long_chain_of_spawned; ++i) running = gyre::spawn(after(std::move(running), chain_object()));
    EXPECT_EQ(co_await running, long_chain_of_spawned);
  });
}

TEST_F(task_chain, that_consists_of_handles_whose_values_nobody_takes_is_destroyed) {
  run_virtual([]() -> gyre::task<> {
    auto running = gyre::spawn(last_link(chain_object()));
    for (int i = 0; i < long_chain_of_spawned; ++i)
      running = gyre::spawn(never_awaits(std::move(running), chain_object()));
    co_await running.wait();
  });
}

TEST_F(task_chain, that_consists_of_shared_tasks_ends_or_is_destroyed) {
  for (const bool starts : {false, true}) {
    run_virtual([&]() -> gyre::task<> {
      gyre::shared_task<int> made(last_link(chain_object()));
      for (int i = 0; i < long_chain_of_spawned; ++i)
        made = gyre::shared_task<int>(shared_link(std::move(made), chain_object()));
      if (starts) {
        EXPECT_EQ(co_await made, long_chain_of_spawned);
      }
    });
    EXPECT_EQ(chain_object::alive, 0);
  }
}

TEST_F(task_chain, a_task_that_was_never_awaited_ends_between_the_arguments_around_it) {
  std::vector<std::string> order;
  {
    auto inner = holds(ending(&order, "inner"));
    [[maybe_unused]] auto outer = holds_a_task(ending(&order, "first"), std::move(inner), ending(&order, "last"));
  }
  ASSERT_EQ(order.size(), 3U);
  EXPECT_EQ(order[1], "inner");
}
