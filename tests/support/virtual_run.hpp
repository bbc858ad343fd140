// tests/support/virtual_run.hpp: runs a test body on virtual time, where time-outs take no time and nothing hangs.
#pragma once

#include <gyre/gyre.hpp>
#include <gyre/testing/run_test.hpp>

#include "tests/support/body_ref.hpp"
#include "tests/support/cancels.hpp"
#include "tests/support/error_of.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <utility>

namespace gyre_test {

using namespace std::chrono_literals;

/// Runs `body`, a callable that returns a task<>, on a loop with virtual time. Fails the test when it throws or hangs.
inline void run_virtual(body_ref<> body) { EXPECT_NO_THROW(gyre::testing::run_test(body())); }

inline gyre::task<int> value_after(std::chrono::milliseconds time, int value) {
  co_await gyre::sleep(time);
  co_return value;
}

inline gyre::task<> fail_after(std::chrono::milliseconds time, std::string what) {
  co_await gyre::sleep(time);
  throw std::runtime_error(what);
}

/// The virtual time that has passed since `begin`.
inline std::chrono::milliseconds since(gyre::time_point begin) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(gyre::now() - begin);
}

}  // namespace gyre_test
