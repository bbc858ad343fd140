// tests/compiler/deep_exceptions.cpp: an exception crosses 100,000 coroutines, synchronous or suspended, without stack.
#include <gyre/coro/cancelled.hpp>
#include <gyre/loop/sleep.hpp>
#include <gyre/loop/yield.hpp>
#include <gyre/runtime/run.hpp>

#include <chrono>
#include <stdexcept>

namespace {

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
      (void)co_await throws(100'000, suspend);
    } catch (const std::runtime_error&) {
      caught = true;
    }
    if (!caught) co_return 1;
  }
  auto handle = gyre::spawn(sleeps(100'000));
  co_await gyre::yield();
  handle.cancel();
  co_await handle.wait();
  co_return handle.state().was_cancelled() ? 0 : 2;
}

}  // namespace

int main() { return gyre::run(check()); }
