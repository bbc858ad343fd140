// tests/compiler/deep_exceptions.cpp: an exception crosses 100,000 coroutines, synchronous or suspended, without stack.
#include <gyre/coro/cancelled.hpp>
#include <gyre/loop/sleep.hpp>
#include <gyre/loop/yield.hpp>
#include <gyre/runtime/run.hpp>

#include "tests/support/sanitized.hpp"

#include <chrono>
#include <stdexcept>

namespace {

// For each coroutine that an exception crosses, the address sanitizer visits its whole list of stack frames.
constexpr int depth_of_all = gyre_test::has_address_sanitizer ? 20'000 : 100'000;

gyre::task<long> throws(int depth, bool suspend) {
  if (depth == 0) {
    if (suspend) co_await gyre::yield();
    throw std::runtime_error("bottom");
  }
  co_return 1 + co_await throws(depth - 1, suspend);
}
gyre::task<long> sleeps(int depth) {
  if (depth > 0) co_return 1 + co_await sleeps(depth - 1);
  co_await gyre::sleep(std::chrono::hours(1));
  co_return 0;
}
gyre::task<int> check() {
  for (const bool suspend : {false, true}) {
    bool caught = false;
    try {
      (void)co_await throws(depth_of_all, suspend);
    } catch (const std::runtime_error&) {
      caught = true;
    }
    if (!caught) co_return 1;
  }
  auto handle = gyre::spawn(sleeps(depth_of_all));
  co_await gyre::yield();
  handle.cancel();
  co_await handle.wait();
  co_return handle.state().was_cancelled() ? 0 : 2;
}

}  // namespace

int main() { return gyre::run(check()); }
