// gyre/runtime/run.hpp: runs a program: a main task on the loop of this thread, and further loops if requested.
#pragma once

#include <gyre/loop/event_loop.hpp>
#include <gyre/runtime/runtime.hpp>
#include <gyre/tasks/spawn.hpp>

#include <chrono>
#include <optional>
#include <source_location>
#include <type_traits>
#include <utility>

namespace gyre {

struct run_options {
  /// Number of loops, at least 1. The calling thread has the loop with index 0, which runs the main task. Each further
  /// loop has a thread of its own; see runtime. gyre::usable_cores() is a good value for a server.
  std::size_t threads = 1;

  loop_options loop = {};  ///< applies to each loop

  /// Binds the thread of each loop to one of the processors that this thread may use. See runtime_options::pin.
  bool pin = false;

  /// Makes this run the program's main run: SIGINT, SIGTERM and request_stop() apply to it.
  ///
  /// * The first signal, or request_stop(), is a stop request. Servers of the process drain and return normally,
  ///   stop_requested() returns, and everything else continues: the main task ends when it has finished its work.
  /// * If no server runs in the process and no task has awaited stop_requested(), the request is unobserved and cancels
  ///   the main task. The loop decides that once, when it handles the request in its next turn.
  /// * The second signal, or the end of after_drain, cancels everything: tasks of this loop, and the drains of all
  /// loops.
  /// * A signal after a cancel by one of these ends the process at once, with 128 + its number. So does the end of
  ///   after_cancel.
  ///
  /// A process can have only one such run at a time. A signal_set that contains one of the two signals receives it
  /// instead, regardless of its loop and of when it was made: that signal then requests nothing. At the end of the run
  /// the previous behaviour of both signals is restored, and the request is over.
  ///
  /// Defaults to true for run_main and false for run.
  std::optional<bool> handle_signals = {};

  /// How long the program may continue after a stop request once its servers have drained, each within its own limit.
  /// Then everything is cancelled. Defaults to 15 s, which with a drain of 10 s stays below the 30 s that Kubernetes
  /// grants. std::chrono::nanoseconds::max() means no limit. A negative time is rejected with std::invalid_argument.
  std::chrono::nanoseconds after_drain = std::chrono::seconds(15);

  /// How long the program may continue once a stop has cancelled everything. Then the process ends with 128 + the
  /// number of the signal, and prints the tasks that have not ended: a function on a thread (to_thread) that does not
  /// return, or clean-up that takes too long. A main task that a request has cancelled because nothing observes it has
  /// after_drain for its clean-up, and then this time. Defaults to 4 s, so that a drain of 10 s and after_drain leave
  /// time below the 30 s that Kubernetes grants. std::chrono::nanoseconds::max() means no limit. A negative time is
  /// rejected with std::invalid_argument.
  std::chrono::nanoseconds after_cancel = std::chrono::seconds(4);
};

class termination_watch;

/// A loop on this thread for the duration of a `run`, with the other loops of its runtime, and with handling of signals
/// if requested.
class GYRE_API run_scope {
 public:
  /// Errors: same as event_loop() and runtime().
  explicit run_scope(const run_options& options);
  ~run_scope();
  run_scope& operator=(run_scope&&) = delete;

  /// Runs the loop until `task` has ended.
  void run_to_end(task_state& task);
  /// Cancels and awaits the tasks that `task` left running. If its value has been taken, its frame must be destroyed
  /// first: its arguments may own objects of the loop.
  void shutdown() noexcept;
  /// After shutdown: 128 + the number of the signal that cancelled `main`, or 0.
  [[nodiscard]] int code_after(const task_state& main) const noexcept;

 private:
  event_loop loop_;
  runtime cores_;
  termination_watch* signals_ = nullptr;  // null: handles no signals
};

/// Runs `main` on a new loop on this thread. Returns its value, or throws its exception.
///
/// When it ends, tasks that it left running, on any loop of the runtime, are cancelled and awaited. Thread: any without
/// a loop.
/// Errors: std::system_error when the requested backend is not available, or a thread cannot be started.
template <class T>
T run(task<T> main, const run_options& options = {}, std::source_location where = std::source_location::current()) {
  run_scope here(options);
  task_handle<T> handle = spawn(std::move(main), {.name = "main"}, where);
  here.run_to_end(handle.state());
  if constexpr (std::is_void_v<T> || std::is_reference_v<T>) {
    here.shutdown();
    return handle.result();
  } else {
    std::optional<T> value;
    if (!handle.state().failure()) value.emplace(handle.result());
    handle.state().destroy_frame();
    here.shutdown();
    if (!value) (void)handle.result();  // throws
    return *std::move(value);
  }
}
template <class F>
  requires task_function<F>
decltype(auto) run(F main, const run_options& options = {},
                   std::source_location where = std::source_location::current()) {
  return run(call_in_frame(std::move(main)), options, where);
}
/// Rejects everything else.
template <class F>
  requires(!task_function<std::remove_cvref_t<F>> && !requires { typename std::remove_cvref_t<F>::promise_type; })
void run(F&& /*main*/, const run_options& /*options*/ = {}) {
  static_assert(misused<F>, "run takes a task, moved, or a function without parameters that returns one");
}

/// Runs `main` as the body of a program, with signal handling, and returns the exit code.
///
/// The code is the value that a task<int> returned, 0 for a task<> that returned, and 1 after an exception, whose
/// message goes to standard error. It is 130 after SIGINT and 143 after SIGTERM or request_stop() when nothing observed
/// the request and the main task ended by the cancel. A task that finishes its work despite the cancel counts as
/// returned. After the second signal, and after run_options::after_drain, it is 130 or 143 in any case.
GYRE_API int run_main(task<int> main, const run_options& options = {},
                      std::source_location where = std::source_location::current());
GYRE_API int run_main(task<void> main, const run_options& options = {},
                      std::source_location where = std::source_location::current());
/// The same for a function without parameters, or a lambda: `int main() { return gyre::run_main(serve); }`.
template <class F>
int run_main(F main, const run_options& options = {}, std::source_location where = std::source_location::current()) {
  static_assert(task_function<F>,
                "run_main takes a task<int> or task<>, or a function without parameters that returns one");
  if constexpr (task_function<F>) return run_main(call_in_frame(std::move(main)), options, where);
}

}  // namespace gyre
