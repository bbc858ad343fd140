// tests/tasks/timeout_rules_test.cpp: time-outs within time-outs, around groups, races and shields, and simultaneous
// ones.
#include <gyre/tasks/timeout.hpp>

#include "tests/support/virtual_run.hpp"

#include <memory>

using namespace gyre_test;

namespace {

enum class outcome { value, timed_out, cancelled, failed };

/// Describes how awaiting `limited` ends.
template <class Awaitable>
gyre::task<outcome> outcome_of(Awaitable limited) {
  outcome how = outcome::value;
  try {
    (void)co_await std::move(limited);
  } catch (const gyre::timed_out&) {
    how = outcome::timed_out;
  } catch (const std::exception&) {
    how = outcome::failed;
  }
  co_return how;
}

}  // namespace

TEST(timeout, expires_at_its_limit_to_the_nanosecond) {
  run_virtual([]() -> gyre::task<> {
    for (int i = 1; i < 5000; ++i) {
      const auto begin = gyre::now();
      EXPECT_EQ(co_await outcome_of(gyre::timeout(std::chrono::microseconds(i), gyre::sleep(1h))), outcome::timed_out);
      EXPECT_EQ(gyre::now() - begin, std::chrono::microseconds(i)) << i;
    }
  });
}

TEST(timeout, is_counted_from_the_await_and_not_from_the_call) {
  run_virtual([]() -> gyre::task<> {
    auto limited = gyre::timeout(10ms, gyre::as_task(gyre::yield()));
    co_await gyre::sleep(1h);
    EXPECT_EQ(co_await outcome_of(std::move(limited)), outcome::value);
  });
}

TEST(timeout, a_failure_in_time_and_one_after_the_limit_are_thrown_as_they_are) {
  run_virtual([]() -> gyre::task<> {
    EXPECT_EQ(co_await error_of(gyre::timeout(10ms, fail_after(1ms, "in time"))), "in time");
    auto late = []() -> gyre::task<> {
      try {
        co_await gyre::sleep(1h);
      } catch (const gyre::cancelled&) {
      }
      throw std::runtime_error("late");
    };
    EXPECT_EQ(co_await error_of(gyre::timeout(10ms, late)), "late");
  });
}

TEST(timeout, every_await_after_it_expired_fails_until_the_code_has_ended) {
  run_virtual([]() -> gyre::task<> {
    int failures = 0;
    auto stubborn = [&]() -> gyre::task<> {
      for (int i = 0; i < 4; ++i) {
        try {
          co_await gyre::sleep(1h);
        } catch (const gyre::cancelled&) {
          ++failures;
        }
      }
      co_await gyre::yield();
    };
    EXPECT_EQ(co_await outcome_of(gyre::timeout(10ms, stubborn)), outcome::timed_out);
    EXPECT_EQ(failures, 4);
    co_await gyre::sleep(1ms);  // nothing outside is cancelled
  });
}

TEST(timeout, nested_ones_that_expire_in_the_same_moment_give_the_time_out_of_the_outer_one) {
  run_virtual([]() -> gyre::task<> {
    bool inner_seen = false;
    auto body = [&]() -> gyre::task<> {
      inner_seen = co_await outcome_of(gyre::timeout(10ms, gyre::sleep(1h))) == outcome::timed_out;
      co_await gyre::yield();
    };
    EXPECT_EQ(co_await outcome_of(gyre::timeout(10ms, body)), outcome::timed_out);
    EXPECT_FALSE(inner_seen);
  });
}

TEST(timeout, an_outer_limit_that_passes_while_the_inner_one_cleans_up_wins) {
  run_virtual([]() -> gyre::task<> {
    bool inner_seen = false;
    auto slow_clean_up = []() -> gyre::task<> {
      bool cancelled = false;
      try {
        co_await gyre::sleep(1h);
      } catch (const gyre::cancelled&) {
        cancelled = true;
      }
      if (cancelled) co_await gyre::shield(gyre::sleep(50ms));
      co_await gyre::yield();
    };
    auto body = [&]() -> gyre::task<> {
      inner_seen = co_await outcome_of(gyre::timeout(10ms, slow_clean_up)) == outcome::timed_out;
    };
    EXPECT_EQ(co_await outcome_of(gyre::timeout(20ms, body)), outcome::timed_out);
    EXPECT_FALSE(inner_seen);
  });
}

TEST(timeout, that_has_expired_is_overruled_by_a_cancel_that_comes_before_its_code_has_run_on) {
  run_virtual([]() -> gyre::task<> {
    outcome seen = outcome::value;
    gyre::cancel_scope* victim = nullptr;
    auto canceller = gyre::spawn([&]() -> gyre::task<> {
      co_await gyre::sleep(5ms);
      victim->cancel();
    });
    auto handle =
        gyre::spawn([&]() -> gyre::task<> { seen = co_await outcome_of(gyre::timeout(5ms, gyre::sleep(1h))); });
    victim = &handle.state().root;
    co_await handle.wait();
    EXPECT_TRUE(handle.state().was_cancelled());
    EXPECT_EQ(seen, outcome::value);
    co_await canceller;
  });
}

TEST(timeout, around_a_race_and_a_gather_reaches_all_of_them) {
  run_virtual([]() -> gyre::task<> {
    EXPECT_EQ(co_await outcome_of(gyre::timeout(5ms, gyre::race(value_after(1h, 1), value_after(2h, 2)))),
              outcome::timed_out);
    EXPECT_EQ(co_await outcome_of(gyre::timeout(5ms, gyre::gather(value_after(1ms, 1), value_after(2h, 2)))),
              outcome::timed_out);
    EXPECT_EQ(co_await outcome_of(gyre::timeout(5ms, gyre::gather(value_after(1ms, 1), value_after(2ms, 2)))),
              outcome::value);
    EXPECT_TRUE(gyre::event_loop::current().timers().empty());
  });
}

TEST(timeout, around_a_handle_stops_waiting_and_leaves_the_task) {
  run_virtual([]() -> gyre::task<> {
    auto handle = gyre::spawn(value_after(20ms, 3));
    auto wait = [&]() -> gyre::task<int> { co_return co_await handle; };
    EXPECT_EQ(co_await outcome_of(gyre::timeout(5ms, wait)), outcome::timed_out);
    EXPECT_FALSE(handle.done());
    EXPECT_EQ(co_await handle, 3);
  });
}

TEST(timeout, inside_a_shield_bounds_the_clean_up) {
  run_virtual([]() -> gyre::task<> {
    const auto begin = gyre::now();
    outcome clean_up = outcome::value;
    auto handle = gyre::spawn([&]() -> gyre::task<> {
      bool cancelled = false;
      try {
        co_await gyre::sleep(1h);
      } catch (const gyre::cancelled&) {
        cancelled = true;
      }
      if (cancelled) clean_up = co_await gyre::shield(outcome_of(gyre::timeout(30ms, gyre::sleep(1h))));
    });
    co_await gyre::sleep(1ms);
    handle.cancel();
    co_await handle.wait();
    EXPECT_EQ(clean_up, outcome::timed_out);
    EXPECT_EQ(since(begin), 31ms);
  });
}

TEST(timeout, gives_references_move_only_values_and_nothing) {
  run_virtual([]() -> gyre::task<> {
    int target = 0;
    auto reference = [&]() -> gyre::task<int&> { co_return target; };
    (co_await gyre::timeout(1s, reference)) = 4;
    EXPECT_EQ(target, 4);
    auto pointer = []() -> gyre::task<std::unique_ptr<int>> { co_return std::make_unique<int>(5); };
    EXPECT_EQ(*co_await gyre::timeout(pointer, 1s), 5);
    co_await gyre::wait_for(gyre::yield(), 1s);
    co_await gyre::timeout_at(gyre::now() + 1s, pointer);
  });
}

TEST(timeout, of_a_length_that_cannot_be_counted_never_expires) {
  run_virtual([]() -> gyre::task<> {
    EXPECT_EQ(co_await outcome_of(gyre::timeout(std::chrono::hours::max(), gyre::sleep(24h * 365))), outcome::value);
    EXPECT_EQ(co_await outcome_of(gyre::timeout(-1s, gyre::sleep(1ms))), outcome::timed_out);
  });
}

TEST(timeout, moved_to_the_past_expires_at_the_next_turn_and_then_cannot_be_moved_any_more) {
  run_virtual([]() -> gyre::task<> {
    const auto begin = gyre::now();
    bool expired = false;
    auto body = [&](gyre::timeout_scope& limit) -> gyre::task<> {
      limit.reschedule_at(begin - 1h);
      try {
        co_await gyre::sleep(1h);
      } catch (const gyre::cancelled&) {
        expired = limit.expired();
        limit.reschedule(1h);
        throw;
      }
    };
    EXPECT_EQ(co_await outcome_of(gyre::timeout(1h, body)), outcome::timed_out);
    EXPECT_TRUE(expired);
    EXPECT_EQ(gyre::now(), begin);
    EXPECT_TRUE(gyre::event_loop::current().timers().empty());
  });
}

// ---- wait_for, and tasks that run already

TEST(wait_for, without_any_time_does_not_begin_what_is_awaited) {
  run_virtual([]() -> gyre::task<> {
    for (const auto limit : {0s, -1s}) {
      bool began = false;
      auto function = [&]() -> gyre::task<> {
        began = true;
        co_return;
      };
      EXPECT_EQ(co_await outcome_of(gyre::wait_for(function, limit)), outcome::timed_out);
      EXPECT_EQ(co_await outcome_of(gyre::wait_for(function(), limit)), outcome::timed_out);
      EXPECT_EQ(co_await outcome_of(gyre::wait_for(gyre::sleep(0s), limit)), outcome::timed_out);
      EXPECT_FALSE(began);
    }
  });
}

TEST(wait_for, without_any_time_gives_the_result_of_a_task_that_has_ended) {
  run_virtual([]() -> gyre::task<> {
    auto handle = gyre::spawn(value_after(0ms, 3));
    co_await handle.wait();
    EXPECT_EQ(co_await gyre::wait_for(handle, 0s), 3);
  });
}

TEST(timeout, of_a_handle_cancels_its_task_and_waits_for_its_end) {
  run_virtual([]() -> gyre::task<> {
    const auto begin = gyre::now();
    bool ended = false;
    auto slow_to_end = [&]() -> gyre::task<int> {
      try {
        co_await gyre::sleep(1h);
      } catch (const gyre::cancelled&) {
      }
      auto clean_up = gyre::shield(gyre::sleep(5ms));
      co_await std::move(clean_up);
      ended = true;
      throw gyre::cancelled();
    };
    auto handle = gyre::spawn(slow_to_end);
    EXPECT_EQ(co_await outcome_of(gyre::timeout(10ms, handle)), outcome::timed_out);
    EXPECT_TRUE(ended);
    EXPECT_TRUE(handle.done());
    EXPECT_EQ(since(begin), 15ms);

    ended = false;
    EXPECT_EQ(co_await outcome_of(gyre::timeout(10ms, gyre::spawn(slow_to_end))), outcome::timed_out);
    EXPECT_TRUE(ended);
    ended = false;
    EXPECT_EQ(co_await outcome_of(gyre::wait_for(gyre::spawn(slow_to_end), 10ms)), outcome::timed_out);
    EXPECT_TRUE(ended);
  });
}

TEST(timeout, of_a_handle_gives_a_result_that_came_in_spite_of_it) {
  run_virtual([]() -> gyre::task<> {
    auto handle = gyre::spawn([]() -> gyre::task<int> {
      try {
        co_await gyre::sleep(1h);
      } catch (const gyre::cancelled&) {
      }
      co_return 4;
    });
    EXPECT_EQ(co_await gyre::timeout(10ms, handle), 4);
    auto failing = gyre::spawn([]() -> gyre::task<int> {
      try {
        co_await gyre::sleep(1h);
      } catch (const gyre::cancelled&) {
      }
      throw std::runtime_error("cannot stop");
    });
    EXPECT_EQ(co_await error_of(gyre::timeout(10ms, std::move(failing))), "cannot stop");
  });
}

TEST(timeout, of_the_waiting_for_a_handle_leaves_its_task_running) {
  run_virtual([]() -> gyre::task<> {
    auto handle = gyre::spawn(value_after(20ms, 4));
    EXPECT_EQ(co_await outcome_of(gyre::timeout(10ms, handle.wait())), outcome::timed_out);
    EXPECT_FALSE(handle.done());
    EXPECT_EQ(co_await handle, 4);
  });
}

TEST(timeout, of_a_handle_whose_caller_is_cancelled_cancels_its_task) {
  run_virtual([]() -> gyre::task<> {
    auto handle = gyre::spawn(value_after(1h, 4));
    auto waiter = gyre::spawn([&]() -> gyre::task<int> { co_return co_await gyre::timeout(1h, handle); });
    co_await gyre::sleep(1ms);
    waiter.cancel();
    co_await waiter.wait();
    EXPECT_TRUE(waiter.state().was_cancelled());
    EXPECT_TRUE(handle.done());
    EXPECT_TRUE(handle.state().was_cancelled());
  });
}

TEST(race, of_a_handle_that_was_given_away_cancels_its_task_when_another_wins) {
  run_virtual([]() -> gyre::task<> {
    bool ended = false;
    auto handle = gyre::spawn([&]() -> gyre::task<int> {
      try {
        co_await gyre::sleep(1h);
      } catch (const gyre::cancelled&) {
        ended = true;
        throw;
      }
      co_return 1;
    });
    auto both = gyre::race(std::move(handle), value_after(1ms, 2));
    const auto won = co_await std::move(both);
    EXPECT_EQ(won.value, 2);
    EXPECT_TRUE(ended);
  });
}

TEST(timeout, that_never_begins_cancels_the_task_of_a_handle_that_was_given_away) {
  run_virtual([]() -> gyre::task<> {
    auto handle = gyre::spawn(value_after(1h, 4));
    gyre::task_state& task = handle.state();
    task.add_reference();
    const gyre::task_reference kept(task);
    {
      [[maybe_unused]] auto never = gyre::timeout(1s, std::move(handle));
    }
    co_await gyre::yield();
    co_await gyre::yield();
    EXPECT_TRUE(task.done());
  });
}
