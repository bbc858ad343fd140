// src/runtime/termination_watch.hpp: SIGINT and SIGTERM request a stop, and the second signal forces it.
#pragma once

#include <gyre/loop/stop_observer.hpp>
#include <gyre/loop/timer_wheel.hpp>

#include "signal_table.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>

namespace gyre {

class event_loop;
struct task_state;

/// Directs SIGINT and SIGTERM to a loop, and decides what a stop request does to its
/// main task. At most one per process.
///
/// Lifetime: the loop must outlive it. Thread: the loop's.
class termination_watch : private signal_owner, private stop_authority, private timer {
 public:
  /// `after_drain` and `after_cancel`: see run_options.
  /// Errors: std::logic_error when another loop of the process handles them; std::system_error.
  termination_watch(event_loop& loop, std::chrono::nanoseconds after_drain, std::chrono::nanoseconds after_cancel);
  termination_watch& operator=(termination_watch&&) = delete;
  ~termination_watch();

  /// The task to cancel. Null means none yet, or no longer.
  void set_main(task_state* main) noexcept { main_ = main; }
  /// After the end of `main`: 128 plus the number of the signal that ended it, or 0.
  [[nodiscard]] int code_after(const task_state& main) const noexcept;

 private:
  enum class cause : std::uint8_t { none, nobody_observes, force };

  stop_level on_level(stop_level level, bool observed, int servers) noexcept;
  void on_signal(int number) noexcept;
  void on_time() noexcept;
  void cancel_all() noexcept;
  void limit_to(std::chrono::nanoseconds from_now) noexcept;
  [[noreturn]] void end_process() const noexcept;
  [[nodiscard]] int code() const noexcept;
  void release_signals() noexcept;

  event_loop& loop_;
  std::chrono::nanoseconds after_drain_;
  std::chrono::nanoseconds after_cancel_;
  task_state* main_ = nullptr;
  std::atomic<int> signals_{0};
  std::atomic<int> last_signal_{0};
  bool decided_ = false;        // whether the request was handled
  bool all_cancelled_ = false;  // the timer now ends the process
  cause cancelled_by_ = cause::none;
};

}  // namespace gyre
