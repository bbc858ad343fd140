// tests/runtime/run_function_test.cpp: functions and lambdas as the main task.
#include <gyre/runtime/run.hpp>

#include "tests/support/virtual_run.hpp"

namespace {

gyre::task<int> code() { co_return 3; }
gyre::task<> nothing() { co_return; }

}  // namespace

TEST(run_main, takes_a_function_or_a_lambda_with_captures) {
  EXPECT_EQ(gyre::run_main(code), 3);
  EXPECT_EQ(gyre::run_main(nothing), 0);
  EXPECT_EQ(gyre::run_main([text = std::string("four")]() -> gyre::task<int> {
              co_await gyre::yield();
              co_return static_cast<int>(text.size());
            }),
            4);
}

TEST(run, takes_a_function) { EXPECT_EQ(gyre::run(code), 3); }
