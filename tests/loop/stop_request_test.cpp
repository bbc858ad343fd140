// tests/loop/stop_request_test.cpp: a stop request, and the tasks that observe it.
#include <gyre/loop/stop_request.hpp>

#include <gyre/gyre.hpp>
#include <gyre/testing/cancel_at_every_await.hpp>

#include "tests/support/co_assert.hpp"
#include "tests/support/virtual_run.hpp"

using namespace gyre_test;

namespace {

gyre::task<> count_when_stopped(int& stopped) {
  co_await gyre::stop_requested();
  ++stopped;
}

}  // namespace

TEST(stop_request, lets_every_waiting_task_go_on) {
  run_virtual([]() -> gyre::task<> {
    int stopped = 0;
    std::vector<gyre::task_handle<void>> waiting;
    for (int i = 0; i < 100; ++i) waiting.push_back(gyre::spawn(count_when_stopped(stopped)));
    co_await gyre::sleep(1s);
    EXPECT_EQ(stopped, 0);
    gyre::request_stop();
    gyre::request_stop();  // no effect
    for (auto& each : waiting) co_await each;
    EXPECT_EQ(stopped, 100);
  });
}

TEST(stop_request, is_remembered_for_tasks_that_look_later) {
  run_virtual([]() -> gyre::task<> {
    gyre::request_stop();
    co_await gyre::stop_requested();
    co_await gyre::sleep(1h);
    co_await gyre::stop_requested();
  });
}

TEST(stop_request, made_before_there_is_a_loop_reaches_the_next_one) {
  gyre::request_stop();
  run_virtual([]() -> gyre::task<> { co_await gyre::stop_requested(); });
}

TEST(stop_request, is_over_when_the_last_loop_has_ended) {
  run_virtual([]() -> gyre::task<> {
    gyre::request_stop();
    co_return;
  });
  run_virtual([]() -> gyre::task<> {
    const auto outcome = co_await gyre::as_expected(gyre::timeout(1s, gyre::stop_requested()));
    EXPECT_FALSE(outcome);
  });
}

TEST(stop_request, a_wait_ends_by_its_time_limit_with_an_error) {
  run_virtual([]() -> gyre::task<> {
    const auto outcome = co_await gyre::as_expected(gyre::timeout(1s, gyre::stop_requested()));
    CO_ASSERT_FALSE(outcome.has_value());
    EXPECT_EQ(outcome.error(), std::errc::timed_out);
    gyre::request_stop();
    const auto stopped = co_await gyre::as_expected(gyre::timeout(1s, gyre::stop_requested()));
    EXPECT_TRUE(stopped.has_value());
  });
}

TEST(stop_request, a_cancelled_wait_throws_and_the_others_wait_on) {
  run_virtual([]() -> gyre::task<> {
    int stopped = 0;
    auto first = gyre::spawn(count_when_stopped(stopped));
    auto second = gyre::spawn(count_when_stopped(stopped));
    auto third = gyre::spawn(count_when_stopped(stopped));
    co_await gyre::yield();
    second.cancel();
    co_await second.wait();
    EXPECT_TRUE(second.state().was_cancelled());
    gyre::request_stop();
    co_await first;
    co_await third;
    EXPECT_EQ(stopped, 2);
  });
}

TEST(stop_request, a_cancel_comes_too_late_for_a_wait_that_has_ended_and_was_not_resumed_yet) {
  run_virtual([]() -> gyre::task<> {
    int stopped = 0;
    gyre::task_handle<void> second;
    auto first = gyre::spawn([&]() -> gyre::task<> {
      co_await gyre::stop_requested();
      second.cancel();
    });
    second = gyre::spawn(count_when_stopped(stopped));
    co_await gyre::yield();
    gyre::request_stop();
    co_await first;
    co_await second.wait();
    EXPECT_EQ(stopped, 1);
  });
}

TEST(stop_request, a_wait_can_be_cancelled_anywhere) {
  const auto report = gyre::testing::cancel_at_every_await(
      []() -> gyre::task<> {
        auto asks = []() -> gyre::task<> {
          co_await gyre::yield();
          gyre::request_stop();
        };
        auto waits = []() -> gyre::task<> { co_await gyre::stop_requested(); };
        co_await gyre::gather(waits(), asks(), waits());
      },
      [](bool) {});
  EXPECT_GT(report.cancelled, 0U);
  EXPECT_GT(report.completed, 0U);
}

// Only a sanitizer reports an observer that is used after its end.
TEST(stop_request, a_task_that_stops_in_the_middle_of_a_round_may_end_others_that_wait) {
  run_virtual([]() -> gyre::task<> {
    auto body = [](gyre::task_group& group) -> gyre::task<> {
      for (int i = 0; i < 5; ++i) {
        group.spawn([&group]() -> gyre::task<> {
          co_await gyre::stop_requested();
          group.cancel();
        });
      }
      co_await gyre::yield();
      gyre::request_stop();
    };
    co_await gyre::task_group::scope(body);
  });
}
