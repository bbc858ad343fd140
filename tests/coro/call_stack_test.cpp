// tests/coro/call_stack_test.cpp: who awaits whom, and where.
#include <gyre/coro/call_stack.hpp>

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
    EXPECT_NE(first.find("[0] "), std::string::npos);
    EXPECT_NE(first.find("factorial"), std::string::npos);
    EXPECT_NE(first.find("call_stack_test.cpp:" + std::to_string(factorial_line)), std::string::npos) << first;
    EXPECT_NE(text.find("[9] "), std::string::npos);
    EXPECT_NE(text.find("[10] "), std::string::npos);
  });
}

TEST(call_stack, of_a_suspended_task_shows_what_it_waits_in) {
  run_virtual([]() -> gyre::task<> {
    auto handle = gyre::spawn(outer());
    co_await gyre::sleep(1ms);
    const auto stack = gyre::call_stack_of(handle.state());
    EXPECT_EQ(stack.size(), 2U);
    if (stack.size() == 2) {
      EXPECT_NE(std::string_view(stack[0].function_name()).find("waits_for_ever"), std::string_view::npos);
      EXPECT_NE(std::string_view(stack[1].function_name()).find("outer"), std::string_view::npos);
    }
    handle.cancel();
    co_await handle.wait();
  });
}
