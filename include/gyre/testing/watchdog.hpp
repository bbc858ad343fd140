// gyre/testing/watchdog.hpp: ends a test that hangs, and says where it does.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/tasks/task_state.hpp>

#include <chrono>

namespace gyre::testing {

/// Watches one task from a thread of its own. When `limit` of wall time has passed, the task's call stack goes to
/// standard error and the task is cancelled; when the watchdog is still there after as long again, because the
/// cancel was ignored or the loop is blocked, the process is aborted.
///
/// Thread: that of the task's loop. Lifetime: ends before the loop does.
class GYRE_API watchdog {
 public:
  /// Errors: std::system_error when there is no thread to be had.
  watchdog(task_state& task, std::chrono::milliseconds limit);
  ~watchdog();
  watchdog(const watchdog&) = delete;
  watchdog& operator=(const watchdog&) = delete;

  /// The time was up and the task has been cancelled.
  [[nodiscard]] bool has_barked() const noexcept;

 private:
  struct state;
  state* state_;
};

}  // namespace gyre::testing
