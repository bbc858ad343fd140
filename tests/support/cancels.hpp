// tests/support/cancels.hpp: tasks that are cancelled, and what they do then.
#pragma once

#include <gyre/gyre.hpp>

#include <chrono>
#include <stdexcept>
#include <string>
#include <utility>

namespace gyre_test {

/// Waits until it is cancelled, and returns normally. In a scope that is cancelled already, its await throws.
inline gyre::task<> outlast_cancel() {
  try {
    co_await gyre::sleep(std::chrono::hours(1));
  } catch (const gyre::cancelled&) {  // ignored
  }
}
inline gyre::task<int> value_despite_cancel(int value) {
  co_await outlast_cancel();
  co_return value;
}
inline gyre::task<> fail_despite_cancel(std::string what) {
  co_await outlast_cancel();
  throw std::runtime_error(what);
}

/// Waits until it is cancelled, counts that, and ends as cancelled.
template <class Awaitable>
gyre::task<> count_cancel(int& count, Awaitable awaitable) {
  try {
    co_await std::move(awaitable);
  } catch (const gyre::cancelled&) {
    ++count;
    throw;
  }
}
inline gyre::task<> count_cancel(int& count) { co_await count_cancel(count, gyre::sleep(std::chrono::hours(1))); }

/// Cancels a task and waits for its end. Returns whether the cancel ended it.
template <class T>
gyre::task<bool> cancel_and_wait(gyre::task_handle<T>& task) {
  task.cancel();
  co_await task.wait();
  co_return task.state().was_cancelled();
}

/// Runs `body` as a task and cancels it after `time`. Returns whether the cancel ended it.
template <class Body>
gyre::task<bool> is_cancelled_after(std::chrono::milliseconds time, Body body) {
  auto task = gyre::spawn(std::move(body));
  co_await gyre::sleep(time);
  co_return co_await cancel_and_wait(task);
}

}  // namespace gyre_test
