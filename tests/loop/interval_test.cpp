// tests/loop/interval_test.cpp: ticks at a fixed period, and ticks that were not awaited in time.
#include <gyre/loop/interval.hpp>

#include "tests/support/virtual_run.hpp"

#include <optional>
#include <vector>

using namespace gyre_test;

namespace {

using milliseconds = std::vector<int>;

/// The times of ticks, in milliseconds since the beginning, for an interval of 10 ms that is awaited late once, because
/// the work after the second tick takes 35 ms.
milliseconds ticks_around_a_long_piece_of_work(gyre::missed_ticks missed) {
  milliseconds came;
  run_virtual([&]() -> gyre::task<> {
    const auto begin = gyre::now();
    gyre::interval ticks(10ms, missed);
    for (int i = 0; i < 8; ++i) {
      co_await ticks.tick();
      came.push_back(static_cast<int>(since(begin).count()));
      if (i == 1) co_await gyre::sleep(35ms);
    }
  });
  return came;
}

}  // namespace

TEST(interval, ticks_at_its_period_whatever_the_work_between_takes) {
  run_virtual([]() -> gyre::task<> {
    const auto begin = gyre::now();
    gyre::interval ticks(10ms);
    for (int i = 1; i <= 5; ++i) {
      const gyre::time_point due = co_await ticks.tick();
      EXPECT_EQ(since(begin), i * 10ms);
      EXPECT_EQ(due, begin + i * 10ms);
      co_await gyre::sleep(i * 1ms);
    }
  });
}

TEST(interval, leaves_out_missed_ticks_by_default) {
  EXPECT_EQ(ticks_around_a_long_piece_of_work(gyre::missed_ticks::skip),
            (milliseconds{10, 20, 55, 60, 70, 80, 90, 100}));
}

TEST(interval, makes_up_for_missed_ticks_in_a_burst) {
  EXPECT_EQ(ticks_around_a_long_piece_of_work(gyre::missed_ticks::burst),
            (milliseconds{10, 20, 55, 55, 55, 60, 70, 80}));
}

TEST(interval, moves_its_schedule_behind_a_missed_tick) {
  EXPECT_EQ(ticks_around_a_long_piece_of_work(gyre::missed_ticks::delay),
            (milliseconds{10, 20, 55, 65, 75, 85, 95, 105}));
}

TEST(interval, keeps_the_tick_whose_await_was_cancelled) {
  run_virtual([]() -> gyre::task<> {
    const auto begin = gyre::now();
    gyre::interval ticks(10ms);
    for (int i = 0; i < 3; ++i) {
      bool timed_out = false;
      try {
        co_await gyre::timeout(2ms, [&]() -> gyre::task<> { co_await ticks.tick(); });
      } catch (const gyre::timed_out&) {
        timed_out = true;
      }
      EXPECT_TRUE(timed_out);
    }
    EXPECT_EQ(co_await ticks.tick(), begin + 10ms);
  });
}

TEST(interval, begins_anew_when_it_is_reset) {
  run_virtual([]() -> gyre::task<> {
    const auto begin = gyre::now();
    gyre::interval ticks(10ms);
    co_await gyre::sleep(7ms);
    ticks.reset();
    co_await ticks.tick();
    EXPECT_EQ(since(begin), 17ms);
  });
}

TEST(interval, that_is_reset_moves_the_tick_that_a_task_waits_for) {
  run_virtual([]() -> gyre::task<> {
    const auto begin = gyre::now();
    gyre::interval ticks(10ms);
    auto ticking = gyre::spawn([&]() -> gyre::task<> {
      EXPECT_EQ(co_await ticks.tick(), begin + 19ms);
      EXPECT_EQ(since(begin), 19ms);
    });
    co_await gyre::sleep(9ms);
    ticks.reset();
    co_await ticking;
    co_await ticks.tick();
    EXPECT_EQ(since(begin), 29ms);
  });
}

TEST(interval, that_is_reset_between_a_tick_and_its_task_gives_that_tick) {
  run_virtual([]() -> gyre::task<> {
    const auto begin = gyre::now();
    gyre::interval ticks(10ms);
    auto resetting = gyre::spawn([&]() -> gyre::task<> {
      co_await gyre::sleep(10ms);
      ticks.reset();
    });
    co_await gyre::yield();  // its timer comes first
    EXPECT_EQ(co_await ticks.tick(), begin + 10ms);
    co_await ticks.tick();
    EXPECT_EQ(since(begin), 20ms);
    co_await resetting;
  });
}

TEST(interval, with_a_burst_of_missed_ticks_lets_others_run_between_them) {
  run_virtual([]() -> gyre::task<> {
    gyre::interval ticks(1ms, gyre::missed_ticks::burst);
    co_await gyre::sleep(100ms);
    int others = 0;
    auto other = gyre::spawn([&]() -> gyre::task<> {
      for (;;) {
        ++others;
        co_await gyre::yield();
      }
    });
    for (int i = 0; i < 50; ++i) co_await ticks.tick();
    EXPECT_GE(others, 50);
    other.cancel();
    co_await other.wait();
  });
}

TEST(interval_death, an_interval_of_no_length_stops_the_program) {
  EXPECT_DEATH(run_virtual([]() -> gyre::task<> {
                 const gyre::interval ticks(0ms);
                 co_return;
               }),
               "a period of more than zero");
}

TEST(interval_death, that_two_tasks_await_at_once_stops_the_program) {
  EXPECT_DEATH(run_virtual([]() -> gyre::task<> {
                 gyre::interval ticks(10ms);
                 auto tick = [&]() -> gyre::task<> { co_await ticks.tick(); };
                 (void)co_await gyre::gather(tick(), tick());
               }),
               "two tasks wait for the tick of one interval at the same time");
}

TEST(interval_death, that_is_destroyed_while_a_task_waits_stops_the_program) {
  EXPECT_DEATH(run_virtual([]() -> gyre::task<> {
                 std::optional<gyre::interval> ticks(10ms);
                 auto ticking = gyre::spawn([&]() -> gyre::task<> { co_await ticks->tick(); });
                 co_await gyre::yield();
                 ticks.reset();
                 co_await ticking;
               }),
               "an interval was destroyed while a task waits for its tick");
}
