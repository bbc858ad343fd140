// tests/tasks/cancel_every_step_test.cpp: every combinator, cancelled at every step, with a count of the parts that
// began and ended.
#include <gyre/testing/cancel_at_every_await.hpp>

#include "tests/support/virtual_run.hpp"

#include <stdexcept>
#include <string>

using namespace gyre_test;

namespace {

/// Counts the parts of a scenario. Each part that began must have ended, normally or by a cancel.
struct ledger {
  int began = 0;
  int ended = 0;
  int cut_off = 0;
  int returned_after_cut = 0;
};

struct part_guard {
  ledger& book;
  bool finished = false;
  explicit part_guard(ledger& b) : book(b) { ++book.began; }
  part_guard(const part_guard&) = delete;
  part_guard& operator=(const part_guard&) = delete;
  ~part_guard() { ++(finished ? book.ended : book.cut_off); }
};

gyre::task<int> part(ledger& book, int steps, int value) {
  part_guard guard(book);
  for (int i = 0; i < steps; ++i) {
    if (i % 2 == 0)
      co_await gyre::yield();
    else
      co_await gyre::sleep(std::chrono::milliseconds(i));
  }
  guard.finished = true;
  co_return value;
}

/// Runs `scenario(book)` with a cancel at each step. `expect(book)` checks runs that were not cancelled.
template <class Scenario, class Expect>
void at_every_step(Scenario scenario, Expect expect, std::size_t min_cancelled) {
  ledger book;
  const auto make = [&]() -> gyre::task<> {
    book = {};
    co_await scenario(book);
  };
  const auto check = [&](bool was_cancelled) {
    EXPECT_EQ(book.began, book.ended + book.cut_off);
    EXPECT_EQ(book.returned_after_cut, 0);
    if (!was_cancelled) expect(book);
  };
  gyre::testing::cancel_report report;
  EXPECT_NO_THROW(report = gyre::testing::cancel_at_every_await(make, check, {.virtual_time = true}));
  EXPECT_GE(report.cancelled, min_cancelled);
  EXPECT_GE(report.completed, 1U);
  EXPECT_EQ(report.runs, report.cancelled + report.completed);
}

}  // namespace

TEST(cancelled_at_every_step, a_race_stops_all_or_gives_its_winner) {
  const auto scenario = [](ledger& book) -> gyre::task<> {
    auto race = gyre::race(part(book, 3, 1), part(book, 6, 2), part(book, 9, 3));
    const auto first = co_await std::move(race);
    EXPECT_EQ(first.index, 0U);
    EXPECT_EQ(first.value, 1);
  };
  at_every_step(scenario, [](const ledger& book) { EXPECT_EQ(book.ended, 1); }, 5);
}

TEST(cancelled_at_every_step, a_gather_gives_everything_or_nothing) {
  const auto scenario = [](ledger& book) -> gyre::task<> {
    auto all = gyre::gather(part(book, 3, 1), part(book, 6, 2), part(book, 1, 4));
    const auto results = co_await std::move(all);
    EXPECT_EQ(results.get<0>() + results.get<1>() + results.get<2>(), 7);
    if (book.ended != 3) ++book.returned_after_cut;
  };
  at_every_step(scenario, [](const ledger& book) { EXPECT_EQ(book.ended, 3); }, 10);
}

TEST(cancelled_at_every_step, a_group_returns_only_when_no_child_was_cut_off) {
  const auto scenario = [](ledger& book) -> gyre::task<> {
    auto body = [&book](gyre::task_group& group) -> gyre::task<> {
      for (int i = 0; i < 3; ++i) group.spawn(part(book, 2 * i, i));
      co_await gyre::yield();
      group.spawn(part(book, 5, 9));
    };
    co_await gyre::task_group::scope(body);
    if (book.cut_off > 0) ++book.returned_after_cut;
  };
  at_every_step(scenario, [](const ledger& book) { EXPECT_EQ(book.ended, 4); }, 10);
}

TEST(cancelled_at_every_step, nested_groups_return_only_when_no_grandchild_was_cut_off) {
  const auto scenario = [](ledger& book) -> gyre::task<> {
    auto inner = [&book](gyre::task_group& group) -> gyre::task<> {
      group.spawn(part(book, 4, 1));
      group.spawn(part(book, 2, 2));
      co_return;
    };
    auto child = [&]() -> gyre::task<> {
      co_await gyre::task_group::scope(inner);
      if (book.cut_off > 0) ++book.returned_after_cut;
    };
    auto outer = [&](gyre::task_group& group) -> gyre::task<> {
      group.spawn(child());
      group.spawn(child());
      co_await group.wait();
      if (book.cut_off == 0) group.spawn(part(book, 1, 3));
    };
    co_await gyre::task_group::scope(outer);
    if (book.cut_off > 0) ++book.returned_after_cut;
  };
  at_every_step(scenario, [](const ledger& book) { EXPECT_EQ(book.ended, 5); }, 10);
}

TEST(cancelled_at_every_step, a_time_out_that_does_not_expire_gives_the_value_or_the_cancel) {
  const auto scenario = [](ledger& book) -> gyre::task<> {
    EXPECT_EQ(co_await gyre::timeout(1h, part(book, 6, 7)), 7);
  };
  at_every_step(scenario, [](const ledger& book) { EXPECT_EQ(book.ended, 1); }, 5);
}

TEST(cancelled_at_every_step, a_time_out_that_expires_around_a_group_is_timed_out_or_cancelled_but_no_success) {
  const auto scenario = [](ledger& book) -> gyre::task<> {
    auto body = [&book](gyre::task_group& group) -> gyre::task<> {
      group.spawn(part(book, 20, 1));
      group.spawn(part(book, 20, 2));
      co_return;
    };
    const bool expired = co_await throws<gyre::timed_out>(gyre::timeout(5ms, gyre::task_group::scope(body)));
    if (!expired) ++book.returned_after_cut;
  };
  at_every_step(scenario, [](const ledger& book) { EXPECT_EQ(book.cut_off, 2); }, 5);
}

TEST(cancelled_at_every_step, shielded_work_that_has_begun_is_finished) {
  const auto scenario = [](ledger& book) -> gyre::task<> {
    co_await gyre::yield();
    EXPECT_EQ(co_await gyre::shield(part(book, 5, 3)), 3);
    if (book.cut_off > 0) ++book.returned_after_cut;
    co_await gyre::yield();
  };
  at_every_step(scenario, [](const ledger& book) { EXPECT_EQ(book.ended, 1); }, 3);
}

TEST(cancelled_at_every_step, waiting_for_a_spawned_task_and_cancelling_it_leaves_nothing) {
  const auto scenario = [](ledger& book) -> gyre::task<> {
    auto handle = gyre::spawn(part(book, 5, 3));
    bool cancelled = false;
    try {
      EXPECT_EQ(co_await handle, 3);
    } catch (const gyre::cancelled&) {
      cancelled = true;
    }
    if (cancelled) {
      handle.cancel();
      co_await gyre::shield(handle.wait());
      co_await gyre::yield();
    }
  };
  at_every_step(scenario, [](const ledger& book) { EXPECT_EQ(book.ended, 1); }, 3);
}

// ---- the helper itself

namespace {

/// The message with which cancel_at_every_await ends.
template <class Scenario>
std::string complaint_about(Scenario scenario) {
  try {
    gyre::testing::cancel_at_every_await(scenario, [](bool) {}, {.virtual_time = true});
    return "";
  } catch (const std::logic_error& error) {
    return error.what();
  }
}

}  // namespace

TEST(cancel_at_every_await, names_the_step_and_the_task_that_was_left_behind) {
  const std::string what = complaint_about([]() -> gyre::task<> {
    co_await gyre::yield();
    gyre::spawn(value_after(1h, 1), {.name = "left behind"}).detach();
    co_await gyre::yield();
  });
  EXPECT_TRUE(what.starts_with("cancelled at step ")) << what;
  EXPECT_NE(what.find("a task outlived the scenario"), std::string::npos) << what;
  EXPECT_NE(what.find("left behind, spawned at "), std::string::npos) << what;
}

TEST(cancel_at_every_await, names_what_the_scenario_threw) {
  const std::string what = complaint_about([]() -> gyre::task<> { co_await fail_after(1ms, "broken"); });
  EXPECT_TRUE(what.ends_with("the scenario threw broken")) << what;
}

TEST(run_test, cancels_a_body_that_never_ends_and_says_so) {
  gyre::testing::test_options impatient;
  impatient.limit = std::chrono::milliseconds(50);
  testing::internal::CaptureStderr();
  EXPECT_THROW(
      gyre::testing::run_test([]() -> gyre::task<> { co_await gyre::sleep(std::chrono::hours::max()); }, impatient),
      std::runtime_error);
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_NE(text.find("cancel_every_step_test.cpp"), std::string::npos) << text;
}

TEST(run_test, refuses_a_limit_that_is_not_positive) {
  for (const auto limit : {0ms, -1ms}) {
    gyre::testing::test_options none;
    none.limit = limit;
    EXPECT_THROW((void)gyre::testing::run_test(value_after(1ms, 3), none), std::invalid_argument);
  }
}

TEST(run_test, gives_the_value_of_the_body) { EXPECT_EQ(gyre::testing::run_test(value_after(1ms, 3)), 3); }

TEST(cancel_at_every_await, names_the_step_in_a_message_that_stops_the_program) {
  const auto stop = [] {
    const auto leave = []() -> gyre::task<> {
      gyre::async_scope scope;
      scope.spawn([]() -> gyre::task<> { co_await gyre::sleep(1ms); });
      co_await gyre::sleep(5ms);
      co_await scope.join();
    };
    (void)gyre::testing::cancel_at_every_await(leave, [](bool) {}, {.virtual_time = true});
  };
  EXPECT_DEATH(stop(), "^gyre: .* .cancelled at step [0-9]+.\n");
}
