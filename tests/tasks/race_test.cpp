// tests/tasks/race_test.cpp: the first of several tasks to end, while the others are cancelled and awaited.
#include <gyre/tasks/race.hpp>

#include "tests/support/co_assert.hpp"
#include "tests/support/failure_log.hpp"
#include "tests/support/virtual_run.hpp"

#include <memory>
#include <source_location>
#include <string>
#include <variant>
#include <vector>

using namespace gyre_test;

TEST(race, gives_the_first_result_when_the_others_have_stopped) {
  run_virtual([]() -> gyre::task<> {
    int stopped = 0;
    auto loser = [&]() -> gyre::task<int> {
      co_await count_cancel(stopped);
      co_return 0;
    };
    auto both = gyre::race(loser(), value_after(5ms, 2));
    const auto first = co_await std::move(both);
    EXPECT_EQ(first.index, 1U);
    EXPECT_EQ(first.value, 2);
    EXPECT_EQ(stopped, 1);
  });
}

TEST(race, gives_a_variant_when_the_types_differ) {
  run_virtual([]() -> gyre::task<> {
    auto text = []() -> gyre::task<std::string> { co_return "now"; };
    auto both = gyre::race(value_after(5ms, 2), text());
    const auto first = co_await std::move(both);
    EXPECT_EQ(first.index, 1U);
    EXPECT_EQ(std::get<1>(first.value), "now");
  });
}

TEST(race, gives_a_variant_with_nothing_when_an_operation_without_a_value_wins) {
  run_virtual([]() -> gyre::task<> {
    auto race = gyre::race(gyre::sleep(1ms), value_after(5ms, 2));
    const auto first = co_await std::move(race);
    EXPECT_EQ(first.index, 0U);
    EXPECT_TRUE(std::holds_alternative<gyre::void_result>(first.value));
  });
}

TEST(race, gives_move_only_values) {
  run_virtual([]() -> gyre::task<> {
    auto make = [](std::chrono::milliseconds time, int value) -> gyre::task<std::unique_ptr<int>> {
      co_await gyre::sleep(time);
      co_return std::make_unique<int>(value);
    };
    auto race = gyre::race(make(5ms, 1), make(1ms, 2));
    EXPECT_EQ(*(co_await std::move(race)).value, 2);
  });
}

TEST(race, names_the_winner_of_a_range) {
  run_virtual([]() -> gyre::task<> {
    std::vector<gyre::task<int>> values;
    std::vector<gyre::task<>> nothing;
    for (int i = 0; i < 10; ++i) {
      const std::chrono::milliseconds time(i == 4 ? 1 : 100);
      values.push_back(value_after(time, i));
      nothing.push_back(gyre::as_task(gyre::sleep(time)));
    }
    const auto first = co_await gyre::race(std::move(values));
    EXPECT_EQ(first.index, 4U);
    EXPECT_EQ(first.value, 4);
    EXPECT_EQ((co_await gyre::race(std::move(nothing))).index, 4U);
  });
}

TEST(race, is_won_by_the_first_argument_when_several_end_in_the_same_moment) {
  run_virtual([]() -> gyre::task<> {
    auto race = gyre::race(value_after(5ms, 1), value_after(5ms, 2), value_after(5ms, 3));
    const auto first = co_await std::move(race);
    EXPECT_EQ(first.index, 0U);
    EXPECT_EQ(first.value, 1);
  });
}

TEST(race, throws_when_the_first_to_end_fails) {
  run_virtual([]() -> gyre::task<> {
    EXPECT_EQ(co_await error_of(gyre::race(gyre::as_task(gyre::sleep(1h)), fail_after(1ms, "lost"))), "lost");
  });
}

TEST(race, throws_a_cancel_from_outside_when_all_have_stopped) {
  run_virtual([]() -> gyre::task<> {
    int stopped = 0;
    auto body = [&]() -> gyre::task<> {
      (void)co_await gyre::race(count_cancel(stopped), count_cancel(stopped), count_cancel(stopped));
    };
    EXPECT_TRUE(co_await is_cancelled_after(1ms, body));
    EXPECT_EQ(stopped, 3);
  });
}

TEST(race, that_was_won_before_a_cancel_gives_its_winner) {
  run_virtual([]() -> gyre::task<> {
    int won = 0;
    auto slow_to_stop = []() -> gyre::task<int> {
      co_await outlast_cancel();
      co_await gyre::shield(gyre::sleep(10ms));
      co_return 1;
    };
    auto body = [&]() -> gyre::task<> {
      auto race = gyre::race(slow_to_stop(), value_after(0ms, 2));
      won = (co_await std::move(race)).value;
    };
    (void)co_await is_cancelled_after(1ms, body);
    EXPECT_EQ(won, 2);
  });
}

TEST(race, reports_a_loser_that_fails_while_it_stops) {
  run_virtual([]() -> gyre::task<> {
    const failure_log log;
    auto race = gyre::race(gyre::as_task(gyre::sleep(1ms)), fail_despite_cancel("loser"));
    const unsigned line = std::source_location::current().line() + 1;
    EXPECT_EQ((co_await std::move(race)).index, 0U);
    CO_ASSERT_EQ(log.entries.size(), 1U);
    EXPECT_EQ(log.entries[0].what, "loser");
    EXPECT_EQ(log.entries[0].line, line) << "where the program awaits the race";
  });
}

TEST(race, that_was_spawned_reports_the_place_of_the_spawn) {
  run_virtual([]() -> gyre::task<> {
    const failure_log log;
    std::vector<gyre::task<>> tasks;
    tasks.push_back(gyre::as_task(gyre::sleep(1ms)));
    tasks.push_back(fail_despite_cancel("loser"));
    const unsigned line = std::source_location::current().line() + 1;
    auto running = gyre::spawn(gyre::race(std::move(tasks)));
    EXPECT_EQ((co_await running).index, 0U);
    CO_ASSERT_EQ(log.entries.size(), 1U);
    EXPECT_EQ(log.entries[0].line, line);
  });
}

TEST(race, stops_a_race_inside_it_at_once) {
  run_virtual([]() -> gyre::task<> {
    const auto begin = gyre::now();
    auto inner = []() -> gyre::task<int> {
      auto race = gyre::race(value_after(1h, 1), value_after(2h, 2));
      co_return (co_await std::move(race)).value;
    };
    auto race = gyre::race(inner(), value_after(3ms, 3));
    EXPECT_EQ((co_await std::move(race)).value, 3);
    EXPECT_EQ(since(begin), 3ms);
    EXPECT_TRUE(gyre::event_loop::current().timers().empty());
  });
}

TEST(race, cancels_the_task_of_a_handle_that_it_was_given_when_another_wins) {
  run_virtual([]() -> gyre::task<> {
    int stopped = 0;
    auto handle = gyre::spawn(count_cancel(stopped));
    auto both = gyre::race(std::move(handle), value_after(1ms, 2));
    EXPECT_EQ(std::get<1>((co_await std::move(both)).value), 2);
    EXPECT_EQ(stopped, 1);
  });
}

TEST(race, refuses_a_range_without_tasks) {
  run_virtual([]() -> gyre::task<> {
    const std::string error = co_await error_of(gyre::race(std::vector<gyre::task<int>>()));
    EXPECT_NE(error.find("race: there is no task"), std::string::npos) << error;
    const auto outcome = co_await gyre::as_expected(gyre::race(std::vector<gyre::task<int>>()));
    EXPECT_EQ(outcome.error(), std::errc::invalid_argument);
  });
}
