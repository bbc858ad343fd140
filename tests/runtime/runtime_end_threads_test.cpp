// tests/runtime/runtime_end_threads_test.cpp: what reaches the loops of a runtime while they end.
#include <gyre/runtime/runtime.hpp>

#include <gyre/gyre.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <semaphore>
#include <stdexcept>
#include <thread>
#include <vector>

#include "tests/support/seeds.hpp"

using namespace gyre_test;
using namespace std::chrono_literals;

TEST(runtime_end_threads, a_value_of_a_loop_that_is_first_used_while_a_task_cleans_up_is_destroyed) {
  static int values;
  values = 0;
  struct counted {
    counted() { ++values; }
    counted& operator=(counted&&) = delete;
    ~counted() { --values; }
  };
  const gyre::loop_local<counted> used_late;
  int seen = 0;
  {
    gyre::event_loop loop;  // outside of a runtime
    auto work = [&]() -> gyre::task<> {
      const gyre::scope_exit end([&] {
        (void)used_late.get();
        seen = values;
      });
      co_await gyre::sleep(1h);
    };
    gyre::spawn(work).detach();
    loop.turn(false);
  }
  EXPECT_EQ(seen, 1);
  EXPECT_EQ(values, 0);
}

TEST(runtime_end_threads, values_of_loops_that_use_each_other_while_they_end_are_all_destroyed) {
  static std::atomic<int> values;
  values = 0;
  struct used_late {
    used_late() { ++values; }
    used_late& operator=(used_late&&) = delete;
    ~used_late() { --values; }
  };
  static const gyre::loop_local<used_late> late;
  struct sends_at_its_end {
    gyre::event_loop* there = nullptr;
    ~sends_at_its_end() {
      if (there != nullptr) there->post([] { (void)late.get(); });
    }
  };
  static const gyre::loop_local<sends_at_its_end> ends;
  for (int round = 0; round < 50; ++round) {
    gyre::run(
        []() -> gyre::task<> {
          auto begin = [] {
            gyre::loop_group& loops = *gyre::event_loop::current().group();
            ends->there = &loops[(gyre::event_loop::current().index() + 1) % loops.size()];
          };
          co_await gyre::for_each_loop(begin);
        },
        {.threads = 3});
  }
  EXPECT_EQ(values, 0);
}

TEST(runtime_end_threads, functions_that_other_threads_post_while_tasks_clean_up_all_run) {
  for_each_seed(20, [](unsigned seed) {
    constexpr std::size_t loops = 3;
    std::atomic<long> posted = 0;
    std::atomic<long> ran = 0;
    std::atomic<bool> enough = false;
    std::vector<std::thread> posters;
    gyre::run(
        [&]() -> gyre::task<> {
          gyre::loop_group& group = *gyre::event_loop::current().group();
          for (std::size_t i = 0; i < loops; ++i)
            posters.emplace_back([&, i] {
              choices choose(seed * 10 + static_cast<unsigned>(i));
              while (!enough || choose.below(5) > 0) {
                ++posted;
                group[choose.below(loops)].post([&] { ++ran; });
                if (choose.one_in(10)) std::this_thread::sleep_for(std::chrono::microseconds(choose.below(50)));
              }
            });
          auto stop_posters = [&] {
            enough = true;
            for (std::thread& each : posters) each.join();
          };
          auto until_the_end = [&, stop_posters]() -> gyre::task<> {
            try {
              co_await gyre::sleep(1h);
            } catch (const gyre::cancelled&) {  // delivered again after the clean-up
            }
            co_await gyre::shield(gyre::to_thread(stop_posters));
          };
          gyre::spawn(until_the_end).detach();
          co_await gyre::sleep(std::chrono::microseconds(choices(seed).below(1000)));
        },
        {.threads = loops});
    EXPECT_EQ(ran, posted);
  });
}

TEST(runtime_end_threads, every_task_that_another_thread_has_started_gets_an_outcome_when_the_runtime_stops) {
  for_each_seed(20, [](unsigned seed) {
    constexpr int tasks = 50;
    std::atomic<int> outcomes = 0;
    std::latch all_started(2);
    std::vector<std::thread> callers;
    gyre::runtime cores({.threads = 2});
    for (unsigned i = 0; i < 2; ++i)
      callers.emplace_back([&, i] {
        choices choose(seed * 10 + i);
        std::vector<gyre::shared_task_handle<int>> handles;
        for (int n = 0; n < tasks; ++n) {
          const std::chrono::microseconds time(choose.below(500));
          auto work = [time]() -> gyre::task<int> {
            co_await gyre::sleep(time);
            co_return 1;
          };
          handles.push_back(gyre::run_coroutine_threadsafe(cores.loop(choose.below(2)), work));
        }
        all_started.count_down();
        for (auto& each : handles) {
          if (choose.one_in(3)) each.cancel();
          try {
            outcomes += each.get();
          } catch (const gyre::task_cancelled&) {  // by the handle, or by the end of its loop
            ++outcomes;
          }
        }
      });
    all_started.wait();
    cores.stop();
    for (std::thread& each : callers) each.join();
    EXPECT_EQ(outcomes, 2 * tasks);
  });
}

TEST(runtime_end_threads, loops_can_be_added_until_the_runtime_ends_and_not_afterwards) {
  for (int round = 0; round < 50; ++round) {
    gyre::runtime cores({.threads = 1});
    std::binary_semaphore began{0};
    std::atomic<bool> refused = false;
    cores.loop(0).post([&] {
      gyre::loop_group& loops = *gyre::event_loop::current().group();
      began.release();
      try {
        for (std::size_t size = 2; size < 20; ++size) loops.grow(size);
        while (!loops.is_ending()) std::this_thread::yield();
        loops.grow(20);
      } catch (const std::logic_error&) {
        refused = true;
      }
    });
    began.acquire();
    cores.stop();
    EXPECT_TRUE(refused);
  }
}
