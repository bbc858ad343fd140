// tests/tasks/spawn_then_test.cpp: callback code is notified exactly once of the end of a task.
#include <gyre/tasks/spawn_then.hpp>

#include "tests/support/co_assert.hpp"
#include "tests/support/failure_log.hpp"
#include "tests/support/virtual_run.hpp"

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

using namespace gyre_test;

TEST(spawn_then, calls_back_with_the_outcome_of_the_task) {
  std::vector<std::string> told;
  run_virtual([&]() -> gyre::task<> {
    gyre::spawn_then(value_after(1ms, 3), [&](auto outcome) { told.push_back(std::to_string(outcome.value())); });
    gyre::spawn_then(fail_after(2ms, "no"), [&](auto outcome) { told.push_back(outcome ? "?" : "failed"); });
    gyre::spawn_then(value_after(1h, 1), [&](auto outcome) { told.push_back(outcome ? "?" : "cancelled"); });
    co_await gyre::sleep(5ms);
  });
  EXPECT_EQ(told, (std::vector<std::string>{"3", "failed", "cancelled"}));
}

TEST(spawn_then, calls_back_for_a_task_that_the_end_of_the_loop_keeps_from_beginning) {
  std::vector<std::string> told;
  run_virtual([&]() -> gyre::task<> {
    auto tell = [&told](auto outcome) { told.push_back(outcome ? "?" : "cancelled"); };
    gyre::spawn_then(value_after(1h, 1), [tell](auto outcome) { tell(std::move(outcome)); });
    co_return;  // before it has begun
  });
  EXPECT_EQ(told, std::vector<std::string>{"cancelled"});
}

TEST(spawn_then, takes_a_callback_that_cannot_be_copied) {
  int told = 0;
  run_virtual([&]() -> gyre::task<> {
    auto tell = [&told, owned = std::make_unique<int>(3)](auto outcome) { told += *owned + outcome.value(); };
    gyre::spawn_then(value_after(1ms, 4), std::move(tell));
    co_await gyre::sleep(2ms);
  });
  EXPECT_EQ(told, 7);
}

TEST(spawn_then, reports_an_exception_of_the_callback) {
  run_virtual([]() -> gyre::task<> {
    const failure_log log;
    gyre::spawn_then(value_after(1ms, 4), [](const auto&) { throw std::runtime_error("no"); });
    co_await gyre::sleep(2ms);
    CO_ASSERT_EQ(log.entries.size(), 1U);
    EXPECT_EQ(log.entries[0].name, "spawn_then");
  });
}
