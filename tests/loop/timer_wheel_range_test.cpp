// tests/loop/timer_wheel_range_test.cpp: the wheel at the edges of its levels, at great distances, and with many
// timers.
#include <gyre/loop/timer_wheel.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <random>
#include <vector>

namespace {

using gyre::io::monotonic_time;

struct counting : gyre::timer {
  static inline monotonic_time now = 0;
  static inline long fired = 0;
  static inline long early = 0;
  static inline long unordered = 0;
  static inline monotonic_time last = 0;
  counting() {
    fire = [](gyre::timer& t) noexcept {
      ++fired;
      early += t.deadline > now;
      unordered += t.deadline < last;
      last = t.deadline;
    };
  }
  static void reset() {
    fired = early = unordered = 0;
    last = 0;
  }
  static void advance(gyre::timer_wheel& wheel, monotonic_time to) {
    now = to;
    wheel.advance(to);
  }
};

}  // namespace

TEST(timer_wheel, is_exact_on_both_sides_of_every_level_from_every_position) {
  for (const monotonic_time start : {monotonic_time{0}, monotonic_time{1}, monotonic_time{123'456'789'012'345}}) {
    for (int bit = 0; bit < 62; ++bit) {
      for (const monotonic_time offset : {monotonic_time{-1}, monotonic_time{0}, monotonic_time{1}}) {
        const monotonic_time deadline = start + (monotonic_time{1} << bit) + offset;
        gyre::timer_wheel wheel(start);
        counting t;
        t.deadline = deadline;
        counting::reset();
        wheel.arm(t);
        EXPECT_EQ(wheel.next_deadline(), deadline);
        wheel.disarm(t);
        EXPECT_EQ(wheel.next_deadline(), gyre::io::wait_forever);
        wheel.arm(t);
        counting::advance(wheel, deadline - 1);
        EXPECT_EQ(counting::fired, 0) << "2^" << bit << offset;
        counting::advance(wheel, deadline);
        EXPECT_EQ(counting::fired, 1) << "2^" << bit << offset;
      }
    }
  }
}

TEST(timer_wheel, keeps_deadlines_up_to_the_end_of_time) {
  gyre::timer_wheel wheel(0);
  counting timers[4];
  constexpr monotonic_time end = std::numeric_limits<monotonic_time>::max();
  const monotonic_time deadlines[] = {(monotonic_time{1} << 62) + 1'000'000, end - 1, end - 1'000'000'000, end / 3 * 2};
  for (int i = 0; i < 4; ++i) {
    timers[i].deadline = deadlines[i];
    wheel.arm(timers[i]);
  }
  counting::reset();
  for (int turns = 0; turns < 1000 && !wheel.empty(); ++turns) counting::advance(wheel, wheel.next_deadline());
  EXPECT_EQ(counting::fired, 4);
  EXPECT_EQ(counting::early + counting::unordered, 0);
}

TEST(timer_wheel, follows_next_deadline_to_a_far_timer_in_a_few_steps) {
  gyre::timer_wheel wheel(0);
  std::vector<counting> timers(200);
  std::mt19937_64 random(3);
  for (counting& each : timers) {
    each.deadline = static_cast<monotonic_time>(random() >> (2 + random() % 40));
    wheel.arm(each);
  }
  counting::reset();
  int steps = 0;
  while (!wheel.empty() && steps < 10'000) {
    counting::advance(wheel, wheel.next_deadline());
    ++steps;
  }
  EXPECT_EQ(counting::fired, 200);
  EXPECT_EQ(counting::early + counting::unordered, 0);
  EXPECT_LT(steps, 200 * 9);  // at most one step per level for each timer
}

TEST(timer_wheel, a_timer_that_is_armed_while_others_fire_waits_for_the_next_look) {
  struct again : gyre::timer {
    gyre::timer_wheel* wheel = nullptr;
    int fired = 0;
  };
  gyre::timer_wheel wheel(0);
  again t;
  t.wheel = &wheel;
  t.deadline = 5;
  t.fire = [](gyre::timer& base) noexcept {
    auto& self = static_cast<again&>(base);
    ++self.fired;
    self.wheel->arm(self);  // the same deadline, which has passed
  };
  wheel.arm(t);
  for (int look = 1; look <= 5; ++look) {
    EXPECT_LE(wheel.next_deadline(), 100);
    wheel.advance(100);
    EXPECT_EQ(t.fired, look);
  }
  wheel.disarm(t);
  wheel.disarm(t);
  EXPECT_TRUE(wheel.empty());
}

TEST(timer_wheel, a_look_at_an_earlier_time_than_the_last_fires_nothing_early) {
  gyre::timer_wheel wheel(1'000'000'000);
  counting t;
  t.deadline = 2'000'000'000;
  counting::reset();
  wheel.arm(t);
  counting::advance(wheel, 1'500'000'000);
  counting::advance(wheel, 1'400'000'000);
  EXPECT_EQ(counting::fired, 0);
  counting::advance(wheel, 2'000'000'000);
  EXPECT_EQ(counting::fired, 1);
}

TEST(timer_wheel, a_million_random_timers_of_which_half_are_cancelled_fire_once_in_order_and_never_early) {
  constexpr std::size_t count = 1'000'000;
  gyre::timer_wheel wheel(0);
  std::vector<counting> timers(count);
  std::mt19937_64 random(11);
  counting::reset();
  counting::now = 0;
  long armed = 0;
  for (std::size_t i = 0; i < count; ++i) {
    counting& t = timers[i];
    t.deadline = counting::now + static_cast<monotonic_time>(random() % (1ULL << (10 + random() % 34)));
    wheel.arm(t);
    ++armed;
    counting& other = timers[random() % (i + 1)];
    if (other.armed() && random() % 2 == 0) {
      wheel.disarm(other);
      --armed;
    }
    if (i % 1000 == 0) {
      counting::last = 0;  // the order holds within one advance
      counting::advance(wheel, counting::now + static_cast<monotonic_time>(random() % 1'000'000'000));
    }
  }
  while (!wheel.empty()) {
    counting::last = 0;
    counting::advance(wheel, counting::now + 50'000'000'000);
  }
  EXPECT_EQ(counting::fired, armed);
  EXPECT_EQ(counting::early, 0);
  EXPECT_EQ(counting::unordered, 0);
}
