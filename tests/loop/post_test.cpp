// tests/loop/post_test.cpp: work posted to a loop, and how a turn runs it.
#include <gyre/loop/event_loop.hpp>

#include "tests/support/failure_log.hpp"
#include "tests/support/virtual_run.hpp"

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using namespace gyre_test;

TEST(post, before_the_loop_runs_is_kept_and_run_in_order) {
  std::vector<int> order;
  bool done = false;
  gyre::event_loop loop;
  for (int i = 0; i < 100; ++i) loop.post([&order, i] { order.push_back(i); });
  loop.post([&] { done = true; });
  EXPECT_TRUE(order.empty());
  loop.run_until(done);
  EXPECT_EQ(order.size(), 100U);
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

TEST(post, from_inside_a_posted_function_runs_later) {
  std::string trace;
  bool done = false;
  gyre::event_loop loop;
  loop.post([&] {
    loop.post([&] {
      trace += 'b';
      done = true;
    });
    trace += 'a';
  });
  loop.run_until(done);
  EXPECT_EQ(trace, "ab");
}

TEST(post, takes_a_function_that_can_only_be_moved_and_destroys_it) {
  auto value = std::make_shared<int>(3);
  int seen = 0;
  {
    gyre::event_loop loop;
    bool done = false;
    loop.post([&, value, only = std::make_unique<int>(4)] {
      seen = *value + *only;
      done = true;
    });
    loop.run_until(done);
  }
  EXPECT_EQ(seen, 7);
  EXPECT_EQ(value.use_count(), 1);
}

TEST(post, is_run_by_a_shutdown) {
  bool ran = false;
  gyre::event_loop loop;
  loop.post([&] { ran = true; });
  loop.shutdown();
  EXPECT_TRUE(ran);
}

TEST(post_threads, that_is_expected_keeps_virtual_time_and_shutdown_waiting) {
  std::thread worker;
  bool arrived = false;
  {
    gyre::loop_options options;
    options.virtual_time = true;
    gyre::event_loop loop(options);
    loop.expect_post();
    worker = std::thread([&loop, &arrived] {
      std::this_thread::yield();
      loop.post([&loop, &arrived] {
        arrived = true;
        loop.expected_post_arrived();
      });
    });
  }
  worker.join();
  EXPECT_TRUE(arrived);
}

TEST(event_loop, fires_a_thousand_timers_in_order_within_a_turn) {
  run_virtual([]() -> gyre::task<> {
    std::vector<int> order;
    auto body = [&](gyre::task_group& group) -> gyre::task<> {
      for (int i = 0; i < 1000; ++i)
        group.spawn([&order, i]() -> gyre::task<> {
          co_await gyre::sleep(std::chrono::nanoseconds(1 + i % 10));
          order.push_back(i);
        });
      co_return;
    };
    co_await gyre::task_group::scope(body);
    bool sorted = true;
    for (std::size_t i = 1; i < order.size(); ++i) {
      const int before = order[i - 1];
      const int after = order[i];
      sorted = sorted && (before % 10 < after % 10 || (before % 10 == after % 10 && before < after));
    }
    EXPECT_EQ(order.size(), 1000U);
    EXPECT_TRUE(sorted);  // by deadline, with equal deadlines in the order of their sleeps
  });
}

TEST(event_loop, an_idle_loop_with_a_virtual_clock_does_not_wait_in_the_kernel) {
  run_virtual([]() -> gyre::task<> {
    const std::uint64_t before = gyre::event_loop::current().waits();
    for (int i = 0; i < 1000; ++i) co_await gyre::sleep(1h);
    EXPECT_EQ(gyre::event_loop::current().waits(), before);
  });
}

TEST(event_loop, virtual_time_stands_still_while_tasks_are_ready) {
  run_virtual([]() -> gyre::task<> {
    auto sleeper = gyre::spawn([]() -> gyre::task<> { co_await gyre::sleep(1ns); });
    const auto begin = gyre::now();
    for (int i = 0; i < 1000; ++i) co_await gyre::yield();
    EXPECT_EQ(gyre::now(), begin);
    EXPECT_FALSE(sleeper.done());
    co_await sleeper;
    EXPECT_EQ(gyre::now() - begin, 1ns);
  });
}

TEST(event_loop, shutdown_does_not_begin_what_tasks_spawn_while_they_end) {
  int ended = 0;
  {
    gyre::loop_options options;
    options.virtual_time = true;
    gyre::event_loop loop(options);
    struct chain {
      static gyre::task<> link(int depth, int& count) {
        bool cancelled = false;
        try {
          co_await gyre::sleep(1h);
        } catch (const gyre::cancelled&) {
          cancelled = true;
        }
        ++count;
        if (cancelled && depth > 0) gyre::spawn(link(depth - 1, count)).detach();
      }
    };
    gyre::spawn(chain::link(10, ended)).detach();
    loop.turn(false);
    loop.shutdown();
    EXPECT_EQ(loop.tasks(), 0U);
    loop.shutdown();
  }
  EXPECT_EQ(ended, 1);
}

TEST(event_loop, a_new_one_can_be_made_when_the_last_one_is_gone) {
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(gyre::event_loop::current_or_null(), nullptr);
    gyre::event_loop loop;
    EXPECT_EQ(&gyre::event_loop::current(), &loop);
  }
  EXPECT_EQ(gyre::event_loop::current_or_null(), nullptr);
}

TEST(yield, in_a_cancelled_scope_fails_at_once_and_one_that_waits_returns) {
  run_virtual([]() -> gyre::task<> {
    std::string trace;
    auto handle = gyre::spawn([&]() -> gyre::task<> {
      co_await gyre::yield();  // cancelled while it waits here
      trace += 'a';
      try {
        co_await gyre::yield();
        trace += 'b';
      } catch (const gyre::cancelled&) {
        trace += 'c';
        throw;
      }
    });
    co_await gyre::yield();
    handle.cancel();
    co_await handle.wait();
    EXPECT_EQ(trace, "ac");
  });
}

TEST(post, tells_the_exception_handler_of_what_a_function_throws) {
  gyre::event_loop loop;
  failure_log failures;
  bool done = false;
  loop.post([] { throw std::runtime_error("from a post"); });
  loop.post([&] { done = true; });
  loop.run_until(done);
  ASSERT_EQ(failures.entries.size(), 1U);
  EXPECT_EQ(failures.entries[0].what, "from a post");
}
