// tests/tasks/race_gather_test.cpp: the rules of race and gather for failures, cancels and simultaneous ends.
#include <gyre/tasks/gather.hpp>
#include <gyre/tasks/race.hpp>

#include "tests/support/co_assert.hpp"
#include "tests/support/failure_log.hpp"
#include "tests/support/virtual_run.hpp"

#include <memory>
#include <source_location>
#include <string>
#include <system_error>
#include <variant>
#include <vector>

using namespace gyre_test;

namespace {

gyre::task<> fails_when_cancelled(std::string what) {
  try {
    co_await gyre::sleep(1h);
  } catch (const gyre::cancelled&) {
  }
  throw std::runtime_error(what);
}

/// Runs `body` as a task and cancels it after a millisecond. Returns whether the cancel ended it.
template <class Body>
gyre::task<bool> is_cancelled(Body body) {
  auto handle = gyre::spawn(std::move(body));
  co_await gyre::sleep(1ms);
  handle.cancel();
  co_await handle.wait();
  co_return handle.state().was_cancelled();
}

}  // namespace

TEST(race, cancelled_from_outside_throws_when_all_have_stopped) {
  run_virtual([]() -> gyre::task<> {
    int stopped = 0;
    auto contestant = [&]() -> gyre::task<> {
      try {
        co_await gyre::sleep(1h);
      } catch (const gyre::cancelled&) {
        ++stopped;
        throw;
      }
    };
    auto body = [&]() -> gyre::task<> { (void)co_await gyre::race(contestant(), contestant(), contestant()); };
    EXPECT_TRUE(co_await is_cancelled(body));
    EXPECT_EQ(stopped, 3);
  });
}

TEST(race, that_was_won_before_a_cancel_gives_its_winner) {
  run_virtual([]() -> gyre::task<> {
    int won = 0;
    auto slow_to_stop = []() -> gyre::task<int> {
      try {
        co_await gyre::sleep(1h);
      } catch (const gyre::cancelled&) {
      }
      co_await gyre::shield(gyre::sleep(10ms));
      co_return 1;
    };
    auto body = [&]() -> gyre::task<> {
      auto race = gyre::race(slow_to_stop(), value_after(0ms, 2));
      won = (co_await std::move(race)).value;
    };
    (void)co_await is_cancelled(body);
    EXPECT_EQ(won, 2);
  });
}

TEST(race, of_contestants_that_end_in_the_same_moment_the_first_of_them_wins) {
  run_virtual([]() -> gyre::task<> {
    auto race = gyre::race(value_after(5ms, 1), value_after(5ms, 2), value_after(5ms, 3));
    const auto first = co_await std::move(race);
    EXPECT_EQ(first.index, 0U);
    EXPECT_EQ(first.value, 1);
  });
}

TEST(race, a_loser_that_fails_while_it_stops_goes_to_the_handler) {
  run_virtual([]() -> gyre::task<> {
    const failure_log log;
    auto race = gyre::race(gyre::as_task(gyre::sleep(1ms)), fails_when_cancelled("loser"));
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
    std::vector<gyre::task<int>> tasks;
    tasks.push_back(value_after(1ms, 1));
    tasks.push_back([]() -> gyre::task<int> {
      co_await fails_when_cancelled("loser");
      co_return 2;
    }());
    const unsigned line = std::source_location::current().line() + 1;
    auto running = gyre::spawn(gyre::race(std::move(tasks)));
    EXPECT_EQ((co_await running).value, 1);
    CO_ASSERT_EQ(log.entries.size(), 1U);
    EXPECT_EQ(log.entries[0].line, line);
  });
}

TEST(race, of_void_and_value_gives_a_variant_with_nothing) {
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

TEST(race, nested_in_a_race_stops_everything_at_once) {
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

TEST(race, over_a_range_of_void_tasks_gives_the_index) {
  run_virtual([]() -> gyre::task<> {
    std::vector<gyre::task<>> tasks;
    for (int i = 0; i < 5; ++i) tasks.push_back(gyre::as_task(gyre::sleep(std::chrono::milliseconds(i == 3 ? 1 : 9))));
    EXPECT_EQ((co_await gyre::race(std::move(tasks))).index, 3U);
  });
}

TEST(gather, cancelled_from_outside_throws_when_all_have_stopped) {
  run_virtual([]() -> gyre::task<> {
    int stopped = 0;
    auto part = [&]() -> gyre::task<> {
      try {
        co_await gyre::sleep(1h);
      } catch (const gyre::cancelled&) {
        ++stopped;
        throw;
      }
    };
    auto body = [&]() -> gyre::task<> { (void)co_await gyre::gather(part(), part()); };
    EXPECT_TRUE(co_await is_cancelled(body));
    EXPECT_EQ(stopped, 2);
  });
}

TEST(gather, of_parts_that_finish_in_spite_of_a_cancel_gives_their_results) {
  run_virtual([]() -> gyre::task<> {
    int sum = 0;
    auto stubborn = [](int value) -> gyre::task<int> {
      try {
        co_await gyre::sleep(1h);
      } catch (const gyre::cancelled&) {
      }
      co_return value;
    };
    auto body = [&]() -> gyre::task<> {
      auto both = gyre::gather(stubborn(1), stubborn(2));
      const auto results = co_await std::move(both);
      sum = results.get<0>() + results.get<1>();
    };
    EXPECT_FALSE(co_await is_cancelled(body));
    EXPECT_EQ(sum, 3);
  });
}

TEST(gather, a_failure_says_more_than_a_cancel_from_outside) {
  run_virtual([]() -> gyre::task<> {
    std::string what;
    auto body = [&]() -> gyre::task<> {
      auto both = gyre::gather(value_after(1h, 1), fails_when_cancelled("failed"));
      what = co_await error_of(std::move(both));
    };
    // error_of catches the failure; nothing is awaited after it, so the task returns.
    EXPECT_FALSE(co_await is_cancelled(body));
    EXPECT_EQ(what, "failed");
  });
}

TEST(gather, of_an_empty_range_gives_an_empty_vector) {
  run_virtual([]() -> gyre::task<> { EXPECT_TRUE((co_await gyre::gather(std::vector<gyre::task<int>>())).empty()); });
}

TEST(gather, gives_move_only_values_and_takes_handles) {
  run_virtual([]() -> gyre::task<> {
    auto make = []() -> gyre::task<std::unique_ptr<int>> { co_return std::make_unique<int>(2); };
    auto all = gyre::gather(make(), gyre::spawn(value_after(1ms, 3)));
    auto results = co_await std::move(all);
    EXPECT_EQ(*results.get<0>() + results.get<1>(), 5);
  });
}

TEST(gather, that_is_never_awaited_starts_nothing) {
  run_virtual([]() -> gyre::task<> {
    bool started = false;
    auto part = [&]() -> gyre::task<> {
      started = true;
      co_return;
    };
    {
      auto dropped = gyre::gather(part(), part());
      (void)dropped;
    }
    co_await gyre::sleep(1ms);
    EXPECT_FALSE(started);
  });
}

TEST(race, of_no_task_is_an_invalid_argument) {
  run_virtual([]() -> gyre::task<> {
    try {
      (void)co_await gyre::race(std::vector<gyre::task<int>>());
      ADD_FAILURE();
    } catch (const std::system_error& error) {
      EXPECT_EQ(error.code(), std::errc::invalid_argument);
      EXPECT_NE(std::string(error.what()).find("race: there is no task"), std::string::npos);
    }
  });
}
