// tests/loop/operation_test.cpp: the rules that every awaited operation keeps.
#include <gyre/loop/operation.hpp>
#include <gyre/loop/sleep.hpp>

#include "tests/support/virtual_run.hpp"

using namespace gyre_test;

#if defined(__clang__)  // g++ 12 awaits a copy of a named operation, which is a new one each time
TEST(operation_death, that_is_awaited_twice_stops_the_program) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto twice = [] {
    run_virtual([]() -> gyre::task<> {
      auto once = gyre::sleep(1ms);
      co_await once;
      co_await once;
    });
  };
  EXPECT_DEATH(twice(), "awaited for the second time");
}
#endif
