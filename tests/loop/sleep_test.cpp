// tests/loop/sleep_test.cpp: sleeping and yielding.
#include <gyre/loop/event_loop.hpp>

#include "tests/support/virtual_run.hpp"

using namespace gyre_test;

TEST(sleep, lasts_exactly_as_long_as_asked_on_virtual_time) {
  run_virtual([]() -> gyre::task<> {
    const auto begin = gyre::now();
    co_await gyre::sleep(1500us);
    EXPECT_EQ(gyre::now() - begin, 1500us);
    co_await gyre::sleep_until(begin + 2h);
    EXPECT_EQ(gyre::now() - begin, 2h);
  });
}

TEST(sleep, takes_no_wall_time_on_virtual_time) {
  const auto begin = std::chrono::steady_clock::now();
  run_virtual([]() -> gyre::task<> { co_await gyre::sleep(24h * 365); });
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 10s);
}

TEST(sleep, is_never_early_in_real_time) {
  gyre::run([]() -> gyre::task<> {
    for (int i = 1; i <= 20; ++i) {
      const auto begin = std::chrono::steady_clock::now();
      co_await gyre::sleep(std::chrono::microseconds(i * 137));
      EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::microseconds(i * 137));
    }
  });
}

TEST(sleep, yields_once_when_it_has_no_length) {
  run_virtual([]() -> gyre::task<> {
    bool other_ran = false;
    gyre::spawn([&]() -> gyre::task<> {
      other_ran = true;
      co_return;
    }).detach();
    co_await gyre::sleep(-5s);
    EXPECT_TRUE(other_ran);
  });
}

TEST(sleep, that_is_cancelled_wakes_at_once) {
  run_virtual([]() -> gyre::task<> {
    const auto begin = gyre::now();
    auto sleeper = gyre::spawn([]() -> gyre::task<> { co_await gyre::sleep(1h); });
    co_await gyre::sleep(1ms);
    sleeper.cancel();
    co_await sleeper.wait();
    EXPECT_TRUE(sleeper.state().was_cancelled());
    EXPECT_EQ(since(begin), 1ms);
  });
}

TEST(sleep, wakes_many_tasks_in_order) {
  run_virtual([]() -> gyre::task<> {
    std::vector<int> order;
    std::vector<gyre::task<>> sleepers;
    for (int i = 0; i < 100; ++i)
      sleepers.push_back(gyre::call_in_frame([&order, i]() -> gyre::task<> {
        co_await gyre::sleep(std::chrono::nanoseconds((i * 37) % 100));
        order.push_back((i * 37) % 100);
      }));
    co_await gyre::gather(std::move(sleepers));
    EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
  });
}

TEST(yield, lets_all_others_run_once) {
  run_virtual([]() -> gyre::task<> {
    std::string trace;
    auto letter = [&](char c) -> gyre::task<> {
      for (int i = 0; i < 3; ++i) {
        trace += c;
        co_await gyre::yield();
      }
    };
    auto both = gyre::gather(letter('a'), letter('b'));
    co_await std::move(both);
    EXPECT_EQ(trace, "ababab");
  });
}
