// tests/loop/deadline_test.cpp: durations of every kind, as the loop counts them.
#include <gyre/loop/deadline.hpp>

#include "tests/support/virtual_run.hpp"

#include <limits>
#include <ratio>

using namespace gyre_test;
using gyre::whole_nanoseconds;

TEST(whole_nanoseconds, keeps_every_whole_number_of_nanoseconds) {
  for (const std::int64_t count : {std::int64_t{1}, std::int64_t{999'999'999}, std::int64_t{1'000'000'000'000'000'001}})
    EXPECT_EQ(whole_nanoseconds(std::chrono::nanoseconds(count)).count(), count);
  EXPECT_EQ(whole_nanoseconds(7ms), 7ms);
  EXPECT_EQ(whole_nanoseconds(24h * 365), 24h * 365);
}

TEST(whole_nanoseconds, rounds_fractions_up) {
  using picoseconds = std::chrono::duration<std::int64_t, std::pico>;
  EXPECT_EQ(whole_nanoseconds(picoseconds(1)), 1ns);
  EXPECT_EQ(whole_nanoseconds(picoseconds(1001)), 2ns);
  EXPECT_EQ(whole_nanoseconds(std::chrono::duration<double>(1e-12)), 1ns);
  EXPECT_EQ(whole_nanoseconds(std::chrono::duration<float>(0.5F)), 500ms);
}

TEST(whole_nanoseconds, are_zero_for_no_a_negative_or_an_undefined_duration) {
  EXPECT_EQ(whole_nanoseconds(0s), 0ns);
  EXPECT_EQ(whole_nanoseconds(-1s), 0ns);
  EXPECT_EQ(whole_nanoseconds(std::chrono::hours::min()), 0ns);
  EXPECT_EQ(whole_nanoseconds(std::chrono::duration<double>(std::numeric_limits<double>::quiet_NaN())), 0ns);
  EXPECT_EQ(whole_nanoseconds(std::chrono::duration<double>(-std::numeric_limits<double>::infinity())), 0ns);
}

TEST(whole_nanoseconds, are_the_most_there_are_for_a_duration_too_long_to_count) {
  EXPECT_EQ(whole_nanoseconds(std::chrono::hours::max()), std::chrono::nanoseconds::max());
  EXPECT_EQ(whole_nanoseconds(std::chrono::years(500)), std::chrono::nanoseconds::max());
  EXPECT_EQ(whole_nanoseconds(std::chrono::nanoseconds::max()), std::chrono::nanoseconds::max());
  EXPECT_EQ(whole_nanoseconds(std::chrono::duration<double>(std::numeric_limits<double>::infinity())),
            std::chrono::nanoseconds::max());
}

TEST(deadline_after, a_duration_too_long_to_count_is_never) {
  run_virtual([]() -> gyre::task<> {
    EXPECT_EQ(gyre::deadline_after(std::chrono::nanoseconds::max()), gyre::io::wait_forever);
    EXPECT_EQ(gyre::deadline_after(std::chrono::hours::max()), gyre::io::wait_forever);
    EXPECT_EQ(gyre::deadline_after(-1h), gyre::event_loop::current().now());
    EXPECT_EQ(gyre::deadline_after(1ns), gyre::event_loop::current().now() + 1);
    co_return;
  });
}

TEST(sleep, for_ever_can_be_cancelled) {
  run_virtual([]() -> gyre::task<> {
    auto handle = gyre::spawn([]() -> gyre::task<> { co_await gyre::sleep(std::chrono::hours::max()); });
    co_await gyre::sleep(std::chrono::years(10));
    EXPECT_FALSE(handle.done());
    handle.cancel();
    co_await handle.wait();
    EXPECT_TRUE(handle.state().was_cancelled());
  });
}

TEST(sleep, takes_centuries_exactly_and_in_order) {
  run_virtual([]() -> gyre::task<> {
    const auto begin = gyre::now();
    auto longer = gyre::spawn([]() -> gyre::task<> { co_await gyre::sleep(std::chrono::years(220)); });
    co_await gyre::sleep(std::chrono::years(150));
    EXPECT_EQ(gyre::now() - begin, std::chrono::years(150));
    EXPECT_FALSE(longer.done());
    co_await longer;
    EXPECT_EQ(gyre::now() - begin, std::chrono::years(220));
  });
}

TEST(sleep_until, a_time_that_has_passed_yields_once) {
  run_virtual([]() -> gyre::task<> {
    bool other_ran = false;
    auto other = gyre::spawn([&]() -> gyre::task<> {
      other_ran = true;
      co_return;
    });
    const auto begin = gyre::now();
    co_await gyre::sleep_until(begin - 1h);
    EXPECT_TRUE(other_ran);
    EXPECT_EQ(gyre::now(), begin);
    co_await other;
  });
}
