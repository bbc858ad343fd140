// tests/support/two_loops.hpp: uses an object on the loops of two threads.
#pragma once

#include <gyre/gyre.hpp>

#include <gtest/gtest.h>

#include <string>
#include <thread>

namespace gyre_test {

/// The sentence that stops the program, as a regular expression.
inline std::string elsewhere(const std::string& operation, const std::string& object) {
  return operation + " on " + object +
         " that belongs to the loop of another thread: use it in a task of its own loop, by ";
}

/// Calls `first()` in a task, then awaits `then()`, which returns a task<>, on the loop of another thread. The first
/// loop exists meanwhile.
template <class First, class Then>
void on_two_loops(const First& first, const Then& then) {
  gyre::run([&]() -> gyre::task<> {
    first();
    std::thread([&] { gyre::run([&]() -> gyre::task<> { co_await then(); }); }).join();
    co_return;
  });
}

/// Expects that the program stops with `sentence` when a task calls `first()`, and the task of another loop `use()`.
template <class First, class Use>
void expect_stop(const First& first, const Use& use, const std::string& sentence) {
  const auto then = [&]() -> gyre::task<> {
    use();
    co_return;
  };
  EXPECT_DEATH(on_two_loops(first, then), sentence);
}

/// The same when it awaits the operation that `make()` returns.
template <class First, class Make>
void expect_stop_in_await(const First& first, const Make& make, const std::string& sentence) {
  const auto then = [&]() -> gyre::task<> { (void)co_await make(); };
  EXPECT_DEATH(on_two_loops(first, then), sentence);
}

}  // namespace gyre_test
