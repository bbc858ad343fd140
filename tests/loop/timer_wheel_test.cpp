// tests/loop/timer_wheel_test.cpp: deadlines are kept exactly and in order, whatever their number.
#include <gyre/loop/timer_wheel.hpp>

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <vector>

namespace {

struct recorded : gyre::timer {
  static inline std::vector<int> fired;
  int id = 0;
  recorded() {
    fire = [](gyre::timer& t) noexcept { fired.push_back(static_cast<recorded&>(t).id); };
  }
};

}  // namespace

TEST(timer_wheel, fires_in_the_order_of_deadlines_and_equal_ones_as_they_were_armed) {
  gyre::timer_wheel wheel(1000);
  recorded timers[5];
  const gyre::io::monotonic_time deadlines[] = {50'000'000, 2'000, 2'000, 1'500, 3'000'000'000};
  recorded::fired.clear();
  for (int i = 0; i < 5; ++i) {
    timers[i].id = i;
    timers[i].deadline = deadlines[i];
    wheel.arm(timers[i]);
  }
  wheel.advance(10'000'000'000);
  EXPECT_EQ(recorded::fired, (std::vector<int>{3, 1, 2, 0, 4}));
  EXPECT_TRUE(wheel.empty());
}

TEST(timer_wheel, a_deadline_in_the_past_fires_at_the_next_look) {
  gyre::timer_wheel wheel(1'000'000'000);
  recorded t;
  recorded::fired.clear();
  t.deadline = 5;
  wheel.arm(t);
  EXPECT_LE(wheel.next_deadline(), 1'000'000'000);
  wheel.advance(1'000'000'000);
  EXPECT_EQ(recorded::fired.size(), 1U);
}

TEST(timer_wheel, a_timer_that_is_disarmed_by_another_one_does_not_fire) {
  struct killer : gyre::timer {
    gyre::timer_wheel* wheel = nullptr;
    gyre::timer* victim = nullptr;
  };
  gyre::timer_wheel wheel(0);
  recorded victim;
  killer first;
  recorded::fired.clear();
  first.wheel = &wheel;
  first.victim = &victim;
  first.fire = [](gyre::timer& t) noexcept { static_cast<killer&>(t).wheel->disarm(*static_cast<killer&>(t).victim); };
  first.deadline = 10;
  victim.deadline = 20;
  wheel.arm(first);
  wheel.arm(victim);
  wheel.advance(100);
  EXPECT_TRUE(recorded::fired.empty());
  EXPECT_TRUE(wheel.empty());
}

TEST(timer_wheel, agrees_with_a_sorted_map_over_random_arms_cancels_and_advances) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    std::mt19937_64 random(seed);
    gyre::io::monotonic_time now = static_cast<gyre::io::monotonic_time>(random() % 1'000'000'000'000U);
    gyre::timer_wheel wheel(now);
    std::vector<recorded> timers(500);
    std::multimap<gyre::io::monotonic_time, int> model;
    for (int i = 0; i < 500; ++i) timers[static_cast<std::size_t>(i)].id = i;
    const auto erase = [&](int id) {
      for (auto it = model.begin(); it != model.end(); ++it)
        if (it->second == id) {
          model.erase(it);
          return;
        }
    };
    for (int step = 0; step < 5'000; ++step) {
      recorded& t = timers[random() % timers.size()];
      if (random() % 4 != 0) {
        if (t.armed()) {
          wheel.disarm(t);
          erase(t.id);
        } else {
          t.deadline = now + static_cast<gyre::io::monotonic_time>(random() % (1ULL << (random() % 44)));
          wheel.arm(t);
          model.emplace(t.deadline, t.id);
        }
        continue;
      }
      if (!model.empty()) EXPECT_LE(wheel.next_deadline(), model.begin()->first);
      now += static_cast<gyre::io::monotonic_time>(random() % (1ULL << (random() % 40)));
      recorded::fired.clear();
      wheel.advance(now);
      std::vector<int> expected;
      while (!model.empty() && model.begin()->first <= now) {
        expected.push_back(model.begin()->second);
        model.erase(model.begin());
      }
      ASSERT_EQ(recorded::fired, expected) << "seed " << seed << " step " << step;
    }
    for (recorded& each : timers) wheel.disarm(each);
  }
}
