// tests/tasks/timeout_test.cpp: limits on the time that code may take, and their errors.
#include <gyre/tasks/timeout.hpp>

#include "tests/support/virtual_run.hpp"

#include <cstdint>
#include <memory>
#include <source_location>
#include <string>

using namespace gyre_test;

TEST(timeout, gives_a_result_that_comes_in_time) {
  run_virtual([]() -> gyre::task<> { EXPECT_EQ(co_await gyre::timeout(10ms, value_after(9ms, 4)), 4); });
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

TEST(timeout, cancels_what_takes_longer_and_throws_when_it_has_stopped) {
  run_virtual([]() -> gyre::task<> {
    const auto begin = gyre::now();
    int stopped = 0;
    EXPECT_TRUE(co_await throws<gyre::timed_out>(gyre::timeout(10ms, count_cancel(stopped))));
    EXPECT_EQ(stopped, 1);
    EXPECT_EQ(since(begin), 10ms);
  });
}

TEST(timeout, expires_at_its_limit_to_the_nanosecond) {
  run_virtual([]() -> gyre::task<> {
    for (int i = 1; i < 5000; ++i) {
      const auto begin = gyre::now();
      EXPECT_TRUE(co_await throws<gyre::timed_out>(gyre::timeout(std::chrono::microseconds(i), gyre::sleep(1h))));
      EXPECT_EQ(gyre::now() - begin, std::chrono::microseconds(i)) << i;
    }
  });
}

TEST(timeout, counts_from_the_await_and_not_from_the_call) {
  run_virtual([]() -> gyre::task<> {
    auto limited = gyre::timeout(10ms, gyre::as_task(gyre::yield()));
    co_await gyre::sleep(1h);
    co_await std::move(limited);
  });
}

TEST(timeout, is_the_same_as_timeout_at_and_wait_for_with_other_arguments) {
  run_virtual([]() -> gyre::task<> {
    const auto begin = gyre::now();
    EXPECT_TRUE(co_await throws<gyre::timed_out>(gyre::timeout_at(begin + 7ms, value_after(1h, 1))));
    EXPECT_EQ(since(begin), 7ms);
    EXPECT_TRUE(co_await throws<gyre::timed_out>(gyre::wait_for(value_after(1h, 1), 3ms)));
    EXPECT_TRUE(co_await throws<gyre::timed_out>(gyre::timeout(value_after(1h, 1), 3ms)));
    EXPECT_EQ(since(begin), 13ms);
  });
}

TEST(timeout, starts_the_code_even_when_it_allows_no_time) {
  run_virtual([]() -> gyre::task<> {
    bool started = false;
    auto body = [&]() -> gyre::task<> {
      started = true;
      co_await gyre::sleep(1ms);
    };
    EXPECT_TRUE(co_await throws<gyre::timed_out>(gyre::timeout(0ms, body)));
    EXPECT_TRUE(started);
  });
}

TEST(timeout, never_expires_when_its_length_cannot_be_counted) {
  run_virtual([]() -> gyre::task<> {
    co_await gyre::timeout(std::chrono::hours::max(), gyre::sleep(24h * 365));
    EXPECT_TRUE(co_await throws<gyre::timed_out>(gyre::timeout(-1s, gyre::sleep(1ms))));
  });
}

TEST(wait_for, does_not_begin_what_is_awaited_when_it_allows_no_time) {
  run_virtual([]() -> gyre::task<> {
    for (const auto limit : {0s, -1s}) {
      bool began = false;
      auto function = [&]() -> gyre::task<> {
        began = true;
        co_return;
      };
      EXPECT_TRUE(co_await throws<gyre::timed_out>(gyre::wait_for(function, limit)));
      EXPECT_TRUE(co_await throws<gyre::timed_out>(gyre::wait_for(function(), limit)));
      EXPECT_TRUE(co_await throws<gyre::timed_out>(gyre::wait_for(gyre::sleep(0s), limit)));
      EXPECT_FALSE(began);
    }
  });
}

TEST(wait_for, gives_the_result_of_an_ended_task_even_when_it_allows_no_time) {
  run_virtual([]() -> gyre::task<> {
    auto handle = gyre::spawn(value_after(0ms, 3));
    co_await handle.wait();
    EXPECT_EQ(co_await gyre::wait_for(handle, 0s), 3);
  });
}

// ---- limits that move

TEST(timeout, can_be_rescheduled_while_it_runs) {
  run_virtual([]() -> gyre::task<> {
    const auto begin = gyre::now();
    auto body = [](gyre::timeout_scope& limit) -> gyre::task<> {
      co_await gyre::sleep(5ms);
      limit.reschedule(50ms);
      co_await gyre::sleep(40ms);
      limit.reschedule(1ms);
      co_await gyre::sleep(1h);
    };
    EXPECT_TRUE(co_await throws<gyre::timed_out>(gyre::timeout(10ms, body)));
    EXPECT_EQ(since(begin), 46ms);
  });
}

TEST(timeout, that_is_moved_to_the_past_expires_at_the_next_turn_and_then_cannot_be_moved_any_more) {
  run_virtual([]() -> gyre::task<> {
    const auto begin = gyre::now();
    bool expired = false;
    auto body = [&](gyre::timeout_scope& limit) -> gyre::task<> {
      limit.reschedule_at(begin - 1h);
      co_await outlast_cancel();
      expired = limit.expired();
      limit.reschedule(1h);
      gyre::throw_cancelled();
    };
    EXPECT_TRUE(co_await throws<gyre::timed_out>(gyre::timeout(1h, body)));
    EXPECT_TRUE(expired);
    EXPECT_EQ(gyre::now(), begin);
    EXPECT_TRUE(gyre::event_loop::current().timers().empty());
  });
}

TEST(timeout_scope, returns_its_deadline) {
  run_virtual([]() -> gyre::task<> {
    const auto begin = gyre::now();
    auto asks = [&](gyre::timeout_scope& scope) -> gyre::task<> {
      EXPECT_EQ(scope.deadline(), begin + 1s);
      co_await gyre::sleep(500ms);
      EXPECT_EQ(scope.deadline(), begin + 1s);
      scope.reschedule(2s);
      EXPECT_EQ(scope.deadline(), begin + 2500ms);
      scope.reschedule_at(begin + 3s);
      EXPECT_EQ(scope.deadline(), begin + 3s);
      scope.reschedule(std::chrono::nanoseconds::max());
      EXPECT_EQ(scope.deadline(), gyre::time_point::max());
    };
    co_await gyre::timeout(1s, asks);
  });
}

// ---- errors

namespace {

std::uint_least32_t line_of_wait = 0;

gyre::task<> wait_for_long() {
  line_of_wait = std::source_location::current().line() + 1;
  co_await gyre::sleep(1h);
}

std::string waiting_at(std::uint_least32_t line) {
  return std::string(", waiting at ") + std::source_location::current().file_name() + ":" + std::to_string(line);
}

}  // namespace

TEST(timeout, throws_an_io_error_with_the_code_timed_out) {
  run_virtual([]() -> gyre::task<> {
    std::error_code code;
    try {
      (void)co_await gyre::timeout(1ms, value_after(1h, 1));
    } catch (const gyre::io_error& error) {
      code = error.code();
    }
    EXPECT_EQ(code, std::errc::timed_out);
  });
}

TEST(timeout, says_after_how_long_it_expired_and_where_the_code_waited) {
  run_virtual([]() -> gyre::task<> {
    auto body = []() -> gyre::task<> { co_await wait_for_long(); };
    const std::string error = co_await error_of(gyre::timeout(1500ms, body));
    EXPECT_EQ(error, "timeout: timed out after 1.5 s" + waiting_at(line_of_wait));
  });
}

TEST(timeout, names_the_line_of_the_program_and_not_one_of_the_library) {
  run_virtual([]() -> gyre::task<> {
    gyre::event never;
    std::string error;
    const std::uint_least32_t line = std::source_location::current().line() + 2;
    try {
      co_await gyre::timeout_at(gyre::now() + 20ms, never.wait());
    } catch (const gyre::timed_out& late) {
      error = late.what();
    }
    EXPECT_EQ(error, "timeout: timed out after 20 ms" + waiting_at(line));
  });
}

TEST(timeout, reports_the_time_since_the_await_when_it_was_rescheduled) {
  run_virtual([]() -> gyre::task<> {
    auto body = [](gyre::timeout_scope& limit) -> gyre::task<> {
      co_await gyre::sleep(5ms);
      limit.reschedule(50ms);
      co_await wait_for_long();
    };
    std::chrono::nanoseconds limit{0};
    try {
      co_await gyre::timeout(std::chrono::nanoseconds::max(), body);
    } catch (const gyre::timed_out& error) {
      limit = error.limit();
    }
    EXPECT_EQ(limit, 55ms);
  });
}

TEST(timed_out, shows_a_duration_in_its_largest_unit) {
  EXPECT_STREQ(gyre::timed_out(2min, "fetch").what(), "fetch: timed out after 120 s");
  EXPECT_STREQ(gyre::timed_out(1'050us, "fetch").what(), "fetch: timed out after 1.05 ms");
  EXPECT_STREQ(gyre::timed_out(999us, "fetch").what(), "fetch: timed out after 999 us");
  EXPECT_STREQ(gyre::timed_out(1ns, "fetch").what(), "fetch: timed out after 1 ns");
  EXPECT_STREQ(gyre::timed_out(0ns, "fetch").what(), "fetch: timed out after 0 s");
  EXPECT_STREQ(gyre::timed_out("fetch", "a").what(), "fetch a: timed out");
}
