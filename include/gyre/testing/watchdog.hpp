// gyre/testing/watchdog.hpp: ends a test that hangs, and reports where it waits.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/tasks/task_state.hpp>

#include <chrono>

namespace gyre::testing {

/// Watches one task from a thread of its own. When `limit` of wall time has passed, it prints the task's call stack to
/// standard error and cancels the task. If the watchdog still exists after the same time again, because the cancel was
/// ignored or the loop is blocked, it aborts the process.
///
/// Thread: that of the task's loop. Lifetime: destroyed before the loop.
class GYRE_API watchdog {
 public:
  /// Errors: std::system_error when no thread can be started; std::invalid_argument for a limit that is not positive.
  watchdog(task_state& task, std::chrono::milliseconds limit);
  ~watchdog();
  watchdog& operator=(watchdog&&) = delete;

  /// True when the limit has passed and the task has been cancelled.
  [[nodiscard]] bool has_barked() const noexcept;

 private:
  struct state;
  state* state_;
};

}  // namespace gyre::testing
