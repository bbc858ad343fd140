// tests/tasks/spawn_then_test.cpp: callback code is notified exactly once of the end of a task.
#include <gyre/tasks/spawn_then.hpp>

#include "tests/support/virtual_run.hpp"

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

using namespace gyre_test;

TEST(spawn_then, tells_callback_code_how_a_task_ended) {
  std::vector<std::string> told;
  run_virtual([&]() -> gyre::task<> {
    gyre::spawn_then(value_after(1ms, 3), [&](auto outcome) { told.push_back(std::to_string(outcome.value())); });
    gyre::spawn_then(fail_after(2ms, "no"), [&](auto outcome) { told.push_back(outcome ? "?" : "failed"); });
    gyre::spawn_then(value_after(1h, 1), [&](auto outcome) { told.push_back(outcome ? "?" : "cancelled"); });
    co_await gyre::sleep(5ms);
  });
  EXPECT_EQ(told, (std::vector<std::string>{"3", "failed", "cancelled"}));
}

TEST(spawn_then, a_task_that_the_end_of_the_loop_keeps_from_beginning_is_told_as_well) {
  std::vector<std::string> told;
  run_virtual([&]() -> gyre::task<> {
    auto tell = [&told](auto outcome) { told.push_back(outcome ? "?" : "cancelled"); };
    gyre::spawn_then(value_after(1h, 1), [tell](auto outcome) { tell(std::move(outcome)); });
    co_return;  // before it has begun
  });
  EXPECT_EQ(told, std::vector<std::string>{"cancelled"});
}

TEST(spawn_then, may_own_what_cannot_be_copied) {
  int told = 0;
  run_virtual([&]() -> gyre::task<> {
    auto tell = [&told, owned = std::make_unique<int>(3)](auto outcome) { told += *owned + outcome.value(); };
    gyre::spawn_then(value_after(1ms, 4), std::move(tell));
    co_await gyre::sleep(2ms);
  });
  EXPECT_EQ(told, 7);
}

TEST(spawn_then, what_the_callback_throws_is_reported) {
  run_virtual([]() -> gyre::task<> {
    std::string reported;
    gyre::event_loop::current().set_exception_handler(
        [](const gyre::background_failure& failure, void* text) noexcept {
          *static_cast<std::string*>(text) = failure.task_name;
        },
        &reported);
    gyre::spawn_then(value_after(1ms, 4), [](const auto&) { throw std::runtime_error("no"); });
    co_await gyre::sleep(2ms);
    EXPECT_EQ(reported, "spawn_then");
  });
}
