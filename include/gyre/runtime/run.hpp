// gyre/runtime/run.hpp: runs a program: one loop, one main task.
#pragma once

#include <gyre/loop/event_loop.hpp>
#include <gyre/tasks/spawn.hpp>

#include <source_location>
#include <utility>

namespace gyre {

struct run_options {
  loop_options loop = {};

  /// SIGINT and SIGTERM cancel the main task; the second one ends the process at once with 128 + its number.
  /// One running loop of the process at a time can ask for it. A signal_set that has one of the two gets it instead, on
  /// whatever loop and whenever it was made. At the end of the run both do what they did before.
  bool handle_signals = false;
};

class termination_watch;

/// A loop on this thread for the duration of a `run`, with the signals that it was asked to handle.
class GYRE_API program {
 public:
  /// Errors: as event_loop.
  explicit program(const run_options& options);
  ~program();
  program(const program&) = delete;
  program& operator=(const program&) = delete;

  /// Turns until `task` has ended, then cancels and awaits what it left behind.
  void run_to_end(task_state& task);
  /// The signal that cancelled the main task, or 0.
  [[nodiscard]] int signal() const noexcept;

 private:
  event_loop loop_;
  termination_watch* signals_ = nullptr;  // null: it handles none
};

/// Runs `main` on a new loop on this thread and gives its value, or throws its exception.
///
/// When it ends, tasks that it left behind are cancelled and awaited. Thread: any that has no loop.
/// Errors: std::system_error when the wanted backend cannot be had.
template <class T>
T run(task<T> main, const run_options& options = {}, std::source_location where = std::source_location::current()) {
  program here(options);
  task_handle<T> handle = spawn(std::move(main), {.name = "main"}, where);
  here.run_to_end(handle.state());
  return handle.result();
}
template <class F>
  requires task_function<F>
auto run(F main, const run_options& options = {}, std::source_location where = std::source_location::current()) {
  return run(call_in_frame(std::move(main)), options, where);
}

/// Runs `main` as the body of a program, with signals handled, and gives the exit code: what a task<int> returned, 0
/// for a task<> that returned, 1 after an exception, whose message goes to standard error, 130 after SIGINT and 143
/// after SIGTERM if the task ended by the cancel. A task that finishes its work in spite of it counts as returned.
GYRE_API int run_main(task<int> main, const run_options& options = {.loop = {}, .handle_signals = true});
GYRE_API int run_main(task<void> main, const run_options& options = {.loop = {}, .handle_signals = true});
/// The same for a function without parameters, or a lambda: `int main() { return gyre::run_main(serve); }`.
template <class F>
  requires task_function<F>
int run_main(F main, const run_options& options = {.loop = {}, .handle_signals = true}) {
  return run_main(call_in_frame(std::move(main)), options);
}

}  // namespace gyre
