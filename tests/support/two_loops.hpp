// tests/support/two_loops.hpp: uses an object on the loops of two threads.
#pragma once

#include <gyre/gyre.hpp>

#include <gtest/gtest.h>

#include "tests/support/body_ref.hpp"

#include <functional>
#include <string>
#include <thread>

namespace gyre_test {

/// The sentence that stops the program, as a regular expression.
inline std::string elsewhere(const std::string& operation, const std::string& object) {
  return operation + " on " + object +
         " that belongs to the loop of another thread: use it in a task of its own loop, by ";
}

/// Runs `body`, a callable that returns a task<>, on the loop of another thread. This loop has no turn meanwhile.
inline void run_elsewhere(body_ref<> body) {
  std::thread([&] { gyre::run([&]() -> gyre::task<> { co_await body(); }); }).join();
}

/// Calls `first()` in a task, then awaits `then()`, which returns a task<>, on the loop of another thread. The first
/// loop exists meanwhile.
inline void on_two_loops(const std::function<void()>& first, body_ref<> then) {
  gyre::run([&]() -> gyre::task<> {
    first();
    run_elsewhere(then);
    co_return;
  });
}

/// The base of tests of checks that only debug builds make.
class debug_build_death : public testing::Test {
 protected:
  void SetUp() override {
    if (!gyre::checks_everything) GTEST_SKIP() << "a check of debug builds";
  }
};

/// Expects that the program stops with `sentence` when a task calls `first()`, and the task of another loop `use()`.
inline void expect_stop(const std::function<void()>& first, const std::function<void()>& use,
                        const std::string& sentence) {
  const auto then = [&]() -> gyre::task<> {
    use();
    co_return;
  };
  EXPECT_DEATH(on_two_loops(first, then), sentence);
}

/// The same when it awaits the operation that `make()` returns.
template <class Make>
void expect_stop_in_await(const std::function<void()>& first, const Make& make, const std::string& sentence) {
  const auto then = [&]() -> gyre::task<> { (void)co_await make(); };
  EXPECT_DEATH(on_two_loops(first, then), sentence);
}

}  // namespace gyre_test
