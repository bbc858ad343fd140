// src/runtime/signals.hpp: SIGINT and SIGTERM become a cancel of the main task.
#pragma once

#include <gyre/io/completion.hpp>

#include "signal_table.hpp"

#include <atomic>

namespace gyre {

class event_loop;
struct task_state;

/// Directs SIGINT and SIGTERM to the main task of a loop. One at a time in a process.
///
/// Lifetime: the loop outlives it. Thread: the loop's.
class termination_watch : private signal_owner {
 public:
  /// Errors: std::logic_error when another loop of the process handles them; std::system_error.
  explicit termination_watch(event_loop& loop);
  termination_watch(const termination_watch&) = delete;
  termination_watch& operator=(const termination_watch&) = delete;
  ~termination_watch();

  /// The task to cancel. Null means none yet, or no longer.
  void set_main(task_state* main) noexcept { main_ = main; }
  /// The first signal that came, or 0.
  [[nodiscard]] int received() const noexcept { return first_; }

 private:
  void stop() noexcept;

  // Posted by the handler, at most once.
  struct request_to_cancel : io::completion {
    termination_watch* watch = nullptr;
  };

  event_loop& loop_;
  std::atomic<int> first_{0};
  task_state* main_ = nullptr;
  request_to_cancel cancel_main_;
};

}  // namespace gyre
