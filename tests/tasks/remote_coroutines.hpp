// tests/tasks/remote_coroutines.hpp: coroutines that tests run on the loop of another thread.
#pragma once

#include <gyre/coro/task.hpp>
#include <gyre/loop/sleep.hpp>
#include <gyre/loop/yield.hpp>

#include <chrono>
#include <string>

namespace gyre_test {

inline gyre::task<std::string> word(int number) {
  co_await gyre::yield();
  co_return "word " + std::to_string(number);
}

inline gyre::task<> sleep_long() { co_await gyre::sleep(std::chrono::hours(1)); }

}  // namespace gyre_test
