// tests/sync/stress.hpp: many tasks that act at random in one world, while some of them are cancelled.
#pragma once

#include "tests/support/seeds.hpp"
#include "tests/support/virtual_run.hpp"

#include <chrono>
#include <cstddef>
#include <vector>

namespace gyre_test {

/// The base of a world. Runs with the same seed are the same.
struct random_world {
  explicit random_world(unsigned seed) : choose(seed) {}

  std::chrono::microseconds moment(std::size_t below) { return std::chrono::microseconds(choose.below(below)); }
  /// Awaits an action that may last too long, so that every task ends, whatever the others do.
  gyre::task<> limited(gyre::task<> action) {
    const auto limit = std::chrono::microseconds(20) + moment(200);
    (void)co_await throws<gyre::timed_out>(gyre::timeout(limit, std::move(action)));
  }

  choices choose;
};

/// For each of 30 seeds, 40 tasks act in a `World`: each awaits its `step()` 30 times. Some are cancelled at random
/// moments. Then awaits the world's `finish()` and the tasks, and calls `check(world)`.
template <class World, class Check>
void stress(Check check) {
  for_each_seed(30, [&](unsigned seed) {
    run_virtual([&]() -> gyre::task<> {
      World world(seed);
      const auto act = [&]() -> gyre::task<> {
        for (int i = 0; i < 30; ++i) co_await world.step();
      };
      std::vector<gyre::task_handle<void>> tasks;
      for (int i = 0; i < 40; ++i) tasks.push_back(gyre::spawn(act()));
      for (int i = 0; i < 15; ++i) {
        co_await gyre::sleep(world.moment(100));
        tasks[world.choose.below(40)].cancel();
      }
      co_await world.finish();
      for (auto& each : tasks) {
        co_await each.wait();
        EXPECT_TRUE(!each.state().failure() || each.state().was_cancelled());
      }
      check(world);
    });
  });
}

}  // namespace gyre_test
