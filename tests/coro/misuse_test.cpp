// tests/coro/misuse_test.cpp: a program that breaks a rule of the library ends.
#include <gyre/coro/misuse.hpp>

#include "tests/support/denied_call.hpp"
#include "tests/support/full_standard_error.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <string>

TEST(misuse, ends_the_program_although_standard_error_takes_nothing) {
  for (const bool gone : {false, true}) {
    const auto said = gyre_test::in_child_process([gone]() -> std::string {
      const gyre_test::full_standard_error full;
      if (gone) full.leave();
      gyre::misuse("a test of misuse");
    });
    EXPECT_EQ(said.signal, SIGABRT) << gone;
  }
}
