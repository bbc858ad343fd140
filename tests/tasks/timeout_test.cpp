// tests/tasks/timeout_test.cpp: limits on the time that code may take.
#include <gyre/tasks/timeout.hpp>

#include "tests/support/virtual_run.hpp"

#include <cstdint>
#include <source_location>
#include <string>

using namespace gyre_test;

namespace {

template <class Awaitable>
gyre::task<bool> expires(Awaitable awaitable) {
  try {
    (void)co_await std::move(awaitable);
    co_return false;
  } catch (const gyre::timed_out&) {
    co_return true;
  }
}

}  // namespace

TEST(timeout, gives_a_result_that_comes_in_time) {
  run_virtual([]() -> gyre::task<> { EXPECT_EQ(co_await gyre::timeout(10ms, value_after(9ms, 4)), 4); });
}

TEST(timeout, cancels_what_takes_longer_and_throws_when_it_has_stopped) {
  run_virtual([]() -> gyre::task<> {
    const auto begin = gyre::now();
    bool stopped = false;
    auto body = [&]() -> gyre::task<> {
      try {
        co_await gyre::sleep(1h);
      } catch (const gyre::cancelled&) {
        stopped = true;
        throw;
      }
    };
    EXPECT_TRUE(co_await expires(gyre::timeout(10ms, body)));
    EXPECT_TRUE(stopped);
    EXPECT_EQ(since(begin), 10ms);
  });
}

TEST(timeout, a_result_that_came_in_spite_of_it_wins) {
  run_virtual([]() -> gyre::task<> {
    auto stubborn = []() -> gyre::task<int> {
      try {
        co_await gyre::sleep(1h);
      } catch (const gyre::cancelled&) {
      }
      co_return 5;
    };
    EXPECT_EQ(co_await gyre::timeout(10ms, stubborn), 5);
  });
}

TEST(timeout, a_cancel_from_outside_is_not_a_time_out) {
  run_virtual([]() -> gyre::task<> {
    bool seen_timed_out = false;
    auto handle = gyre::spawn([&]() -> gyre::task<> {
      try {
        (void)co_await gyre::timeout(1h, value_after(2h, 1));
      } catch (const gyre::timed_out&) {
        seen_timed_out = true;
      }
    });
    co_await gyre::sleep(1ms);
    handle.cancel();
    co_await handle.wait();
    EXPECT_FALSE(seen_timed_out);
    EXPECT_TRUE(handle.state().was_cancelled());
  });
}

TEST(timeout, the_inner_of_two_expires_alone) {
  run_virtual([]() -> gyre::task<> {
    bool inner_expired = false;
    auto body = [&]() -> gyre::task<> {
      inner_expired = co_await expires(gyre::timeout(10ms, value_after(1h, 1)));
      co_await gyre::sleep(10ms);
    };
    co_await gyre::timeout(1s, body);
    EXPECT_TRUE(inner_expired);
  });
}

TEST(timeout, the_outer_of_two_is_not_mistaken_for_the_inner) {
  run_virtual([]() -> gyre::task<> {
    bool inner_expired = false;
    auto body = [&]() -> gyre::task<> { inner_expired = co_await expires(gyre::timeout(1h, value_after(2h, 1))); };
    EXPECT_TRUE(co_await expires(gyre::timeout(10ms, body)));
    EXPECT_FALSE(inner_expired);
  });
}

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
    EXPECT_TRUE(co_await expires(gyre::timeout(10ms, body)));
    EXPECT_EQ(since(begin), 46ms);
  });
}

TEST(timeout, timeout_at_and_wait_for_are_the_same_with_other_arguments) {
  run_virtual([]() -> gyre::task<> {
    const auto begin = gyre::now();
    EXPECT_TRUE(co_await expires(gyre::timeout_at(begin + 7ms, value_after(1h, 1))));
    EXPECT_EQ(since(begin), 7ms);
    EXPECT_TRUE(co_await expires(gyre::wait_for(value_after(1h, 1), 3ms)));
    EXPECT_TRUE(co_await expires(gyre::timeout(value_after(1h, 1), 3ms)));
    EXPECT_EQ(since(begin), 13ms);
  });
}

TEST(timeout, of_zero_still_starts_the_code) {
  run_virtual([]() -> gyre::task<> {
    bool started = false;
    auto body = [&]() -> gyre::task<> {
      started = true;
      co_await gyre::sleep(1ms);
    };
    EXPECT_TRUE(co_await expires(gyre::timeout(0ms, body)));
    EXPECT_TRUE(started);
  });
}

TEST(timeout, is_an_io_error_with_the_code_timed_out) {
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

TEST(timeout, its_error_says_after_how_long_and_where_the_code_waited) {
  run_virtual([]() -> gyre::task<> {
    auto body = []() -> gyre::task<> { co_await wait_for_long(); };
    const std::string error = co_await error_of(gyre::timeout(1500ms, body));
    EXPECT_EQ(error, "timeout: timed out after 1.5 s" + waiting_at(line_of_wait));
  });
}

TEST(timeout, its_error_names_the_line_of_the_program_and_not_one_of_the_library) {
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

TEST(timeout, the_time_of_its_error_counts_from_the_await_when_it_was_rescheduled) {
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

TEST(timeout, the_text_of_a_duration_is_in_its_largest_unit) {
  EXPECT_STREQ(gyre::timed_out(2min, "fetch").what(), "fetch: timed out after 120 s");
  EXPECT_STREQ(gyre::timed_out(1'050us, "fetch").what(), "fetch: timed out after 1.05 ms");
  EXPECT_STREQ(gyre::timed_out(999us, "fetch").what(), "fetch: timed out after 999 us");
  EXPECT_STREQ(gyre::timed_out(1ns, "fetch").what(), "fetch: timed out after 1 ns");
  EXPECT_STREQ(gyre::timed_out(0ns, "fetch").what(), "fetch: timed out after 0 s");
  EXPECT_STREQ(gyre::timed_out("fetch", "a").what(), "fetch a: timed out");
}
