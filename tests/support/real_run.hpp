// tests/support/real_run.hpp: runs a test body that needs the kernel on real time, with a time limit.
#pragma once

#include <gyre/gyre.hpp>
#include <gyre/testing/run_test.hpp>

#include <gtest/gtest.h>

#include "tests/support/body_ref.hpp"

namespace gyre_test {

/// Runs `body`, a callable that returns a task<>, on a loop with real time. Fails the test when it throws, or when it
/// has not ended after a minute.
inline void run_real(body_ref<> body) {
  gyre::testing::test_options real;
  real.loop.virtual_time = false;
  EXPECT_NO_THROW(gyre::testing::run_test(body(), real));
}

}  // namespace gyre_test
