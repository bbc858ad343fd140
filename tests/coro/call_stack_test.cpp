// tests/coro/call_stack_test.cpp: the chain of awaiting tasks, with locations.
#include <gyre/coro/call_stack.hpp>

#include "tests/support/co_assert.hpp"
#include "tests/support/virtual_run.hpp"

#include <cstdio>
#include <string>
#include <string_view>

using namespace gyre_test;

namespace {

std::string printed(const gyre::call_stack_trace& stack) {
  std::FILE* const file = std::tmpfile();
  gyre::print_call_stack(stack, file);
  std::string text(static_cast<std::size_t>(std::ftell(file)), '\0');
  std::rewind(file);
  const std::size_t read = std::fread(text.data(), 1, text.size(), file);
  std::fclose(file);
  text.resize(read);
  return text;
}

constexpr int factorial_line = __LINE__ + 3;
gyre::task<int> factorial(int n, std::string& out) {
  if (n <= 1) {
    out = printed(co_await gyre::call_stack());
    co_return 1;
  }
  co_return n* co_await factorial(n - 1, out);
}

gyre::task<> waits_for_ever() { co_await gyre::sleep(std::chrono::hours(1)); }
gyre::task<> outer() { co_await waits_for_ever(); }

}  // namespace

TEST(call_stack, names_function_file_and_line_of_every_awaiting_coroutine_innermost_first) {
  run_virtual([]() -> gyre::task<> {
    std::string text;
    EXPECT_EQ(co_await factorial(10, text), 3'628'800);
    const std::string first = text.substr(0, text.find('\n'));
    EXPECT_TRUE(first.starts_with("[0] factorial  ")) << first;
    EXPECT_TRUE(first.ends_with("call_stack_test.cpp:" + std::to_string(factorial_line))) << first;
    EXPECT_NE(text.find("[9] factorial  "), std::string::npos);
    EXPECT_NE(text.find("[10] "), std::string::npos);
  });
}

TEST(call_stack, shows_where_a_suspended_task_waits) {
  run_virtual([]() -> gyre::task<> {
    auto handle = gyre::spawn(outer());
    co_await gyre::sleep(1ms);
    const auto stack = gyre::call_stack_of(handle.state());
    (void)co_await cancel_and_wait(handle);
    CO_ASSERT_EQ(stack.size(), 2U);
    EXPECT_NE(std::string_view(stack[0].function_name()).find("waits_for_ever"), std::string_view::npos);
    EXPECT_NE(std::string_view(stack[1].function_name()).find("outer"), std::string_view::npos);
  });
}

TEST(call_stack, is_empty_for_a_task_that_has_ended_or_runs) {
  run_virtual([]() -> gyre::task<> {
    auto handle = gyre::spawn(outer());
    const gyre::task_context& self = co_await gyre::this_task_context{};
    co_await gyre::yield();
    EXPECT_EQ(gyre::call_stack_of(self).size(), 0U);
    handle.cancel();
    // Checked in every turn, including the one between the task's last line and its end.
    while (!handle.done()) {
      co_await gyre::yield();
      for (const std::source_location& at : gyre::call_stack_of(handle.state())) EXPECT_GT(at.line(), 0U);
    }
    EXPECT_EQ(gyre::call_stack_of(handle.state()).size(), 0U);
  });
}

TEST(call_stack, names_the_await_of_a_task_that_waits_for_children_or_for_another_task) {
  run_virtual([]() -> gyre::task<> {
    auto sleeper = gyre::spawn(waits_for_ever());
    auto joiner = gyre::spawn([&]() -> gyre::task<> { co_await sleeper; });
    auto parent = gyre::spawn([]() -> gyre::task<> { co_await gyre::gather(waits_for_ever(), waits_for_ever()); });
    co_await gyre::sleep(1ms);
    const auto joining = gyre::call_stack_of(joiner.state());
    EXPECT_GE(joining.size(), 1U);
    if (joining.size() > 0)
      EXPECT_TRUE(std::string_view(joining[0].file_name()).ends_with("call_stack_test.cpp")) << joining[0].file_name();
    EXPECT_GE(gyre::call_stack_of(parent.state()).size(), 2U);
    for (auto* each : {&joiner, &parent, &sleeper}) (void)co_await cancel_and_wait(*each);
  });
}

TEST(call_stack, shows_paths_relative_to_the_root_of_the_source) {
  run_virtual([]() -> gyre::task<> {
    const auto stack = co_await gyre::call_stack();
    EXPECT_STREQ(stack[0].file_name(), "tests/coro/call_stack_test.cpp");
  });
}

TEST(call_stack, names_a_lambda_coroutine_and_its_line) {
  run_virtual([]() -> gyre::task<> {
    std::string text;
    constexpr int await_line = __LINE__ + 2;
    auto lambda = [&](int depth) -> gyre::task<> {
      if (depth > 0) text = printed(co_await gyre::call_stack());
      co_return;
    };
    co_await lambda(1);
    const std::string first = text.substr(0, text.find('\n'));
    EXPECT_NE(first.find("::lambda::lambda  "), std::string::npos) << first;
    EXPECT_NE(first.find("call_stack_test.cpp:" + std::to_string(await_line)), std::string::npos) << first;
  });
}

TEST(call_stack, can_be_asked_for_in_a_cancelled_scope) {
  run_virtual([]() -> gyre::task<> {
    std::size_t depth = 0;
    auto asks_when_cancelled = [&]() -> gyre::task<> {
      co_await outlast_cancel();
      depth = (co_await gyre::call_stack()).size();
    };
    EXPECT_FALSE(co_await is_cancelled_after(1ms, asks_when_cancelled));
    EXPECT_GE(depth, 1U);
  });
}
