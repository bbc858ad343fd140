// tests/tasks/as_expected_test.cpp: errors of tasks as values.
#include <gyre/tasks/as_expected.hpp>

#include "tests/support/virtual_run.hpp"

#include <system_error>

using namespace gyre_test;

namespace {

gyre::task<int> refused_after(std::chrono::milliseconds time) {
  co_await gyre::sleep(time);
  throw gyre::io_error(std::make_error_code(std::errc::connection_refused), "connect", "10.0.0.7:443");
}
gyre::task<int> five_at_once() { co_return 5; }

}  // namespace

TEST(as_expected_task, gives_the_value_or_the_code_of_an_error) {
  run_virtual([]() -> gyre::task<> {
    const auto refused = co_await gyre::as_expected(refused_after(1ms));
    EXPECT_FALSE(refused);
    EXPECT_EQ(refused.error(), std::errc::connection_refused);
    const auto value = co_await gyre::as_expected(value_after(1ms, 7));
    EXPECT_EQ(value.value(), 7);
    const auto nothing = co_await gyre::as_expected(gyre::as_task(gyre::sleep(1ms)));
    EXPECT_TRUE(nothing.has_value());
  });
}

TEST(as_expected_task, gives_the_time_out_of_anything) {
  run_virtual([]() -> gyre::task<> {
    const auto of_task = co_await gyre::as_expected(gyre::timeout(1ms, value_after(1h, 7)));
    EXPECT_EQ(of_task.error(), std::errc::timed_out);
    auto body = []() -> gyre::task<> { co_await gyre::sleep(1h); };
    const auto of_function = co_await gyre::as_expected(gyre::timeout(1ms, body));
    EXPECT_EQ(of_function.error(), std::errc::timed_out);
    gyre::event event;
    const auto of_operation = co_await gyre::as_expected(gyre::timeout(1ms, event.wait()));
    EXPECT_EQ(of_operation.error(), std::errc::timed_out);
    const auto in_time = co_await gyre::as_expected(gyre::timeout(1h, five_at_once));
    EXPECT_EQ(in_time.value(), 5);
  });
}

TEST(as_expected_task, throws_an_error_that_has_no_code) {
  run_virtual([]() -> gyre::task<> { EXPECT_EQ(co_await error_of(gyre::as_expected(fail_after(1ms, "no"))), "no"); });
}

TEST(as_expected_task, lets_a_cancel_of_the_caller_through) {
  run_virtual([]() -> gyre::task<> {
    bool went_on = false;
    auto waits = [&]() -> gyre::task<> {
      (void)co_await gyre::as_expected(value_after(1h, 7));
      went_on = true;
    };
    EXPECT_TRUE(co_await is_cancelled_after(1ms, waits));
    EXPECT_FALSE(went_on);
  });
}

TEST(as_expected_task, takes_a_handle_and_leaves_it_to_the_caller) {
  run_virtual([]() -> gyre::task<> {
    auto failing = gyre::spawn(refused_after(1ms));
    const auto refused = co_await gyre::as_expected(failing);
    EXPECT_EQ(refused.error(), std::errc::connection_refused);
    EXPECT_TRUE(failing);
    auto succeeding = gyre::spawn(value_after(1ms, 7));
    const auto value = co_await gyre::as_expected(std::move(succeeding));
    EXPECT_EQ(value.value(), 7);
  });
}
