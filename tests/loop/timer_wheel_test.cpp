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

TEST(timer_wheel, is_never_early_by_a_nanosecond) {
  gyre::timer_wheel wheel(0);
  recorded t;
  for (const gyre::io::monotonic_time deadline : {1L, 16'383L, 16'384L, 1'048'577L, 67'108'865L, 999'999'999'999L}) {
    recorded::fired.clear();
    t.deadline = deadline;
    wheel.arm(t);
    wheel.advance(deadline - 1);
    EXPECT_TRUE(recorded::fired.empty()) << deadline;
    wheel.advance(deadline);
    EXPECT_EQ(recorded::fired.size(), 1U) << deadline;
  }
}

TEST(timer_wheel, next_deadline_is_exact_for_a_single_timer_at_any_distance) {
  for (const gyre::io::monotonic_time distance : {1L, 1'000L, 1'000'000L, 1'000'000'000L, 3'600'000'000'000L}) {
    gyre::timer_wheel wheel(123'456'789);
    recorded t;
    t.deadline = 123'456'789 + distance;
    wheel.arm(t);
    EXPECT_EQ(wheel.next_deadline(), t.deadline);
    wheel.disarm(t);
    EXPECT_EQ(wheel.next_deadline(), gyre::io::wait_forever);
  }
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

TEST(timer_wheel, holds_a_million_timers) {
  gyre::timer_wheel wheel(0);
  std::vector<recorded> timers(1'000'000);
  std::mt19937_64 random(7);
  for (recorded& each : timers) {
    each.deadline = static_cast<gyre::io::monotonic_time>(random() % 3'600'000'000'000U);
    wheel.arm(each);
  }
  for (std::size_t i = 0; i < timers.size(); i += 2) wheel.disarm(timers[i]);
  recorded::fired.clear();
  recorded::fired.reserve(timers.size());
  for (gyre::io::monotonic_time now = 0; !wheel.empty(); now += 60'000'000'000) wheel.advance(now);
  EXPECT_EQ(recorded::fired.size(), timers.size() / 2);
}
