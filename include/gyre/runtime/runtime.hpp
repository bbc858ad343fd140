// gyre/runtime/runtime.hpp: several loops, each on its own thread.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/loop/event_loop.hpp>
#include <gyre/loop/loop_group.hpp>

#include <cstddef>

namespace gyre {

struct runtime_options {
  /// Number of loops, from 1 to loop_group::max_loops.
  std::size_t threads = 1;

  loop_options loop = {};  ///< applies to each loop

  /// Binds the thread of each loop to one of the processors that the starting thread may use, in turn. Suits a machine
  /// that runs nothing else: on a shared one, a bound thread waits while other processors are idle. Child processes
  /// inherit the binding of the loop that starts them; the library's threads for blocking calls do not.
  bool pin = false;
};

/// Several loops, each on its own thread, that start and end together. `run` and `run_main` make one around the main
/// task. Programs that own their `main`, such as one with the loop of a graphical interface, make one themselves:
///
///   gyre::runtime cores({.threads = 4});
///   auto answer = gyre::blocking_run(cores.loop(0), [] { return ask("how many"); });
///
/// Tasks never move to another loop. A task reaches the other loops by on(), spawn_on() and for_each_loop(); a thread
/// without a loop by run_coroutine_threadsafe() and event_loop::post(). The thread of loop 1 has the name "gyre-1", and
/// so on; a thread that the program made keeps its name.
/// Thread: any, for const functions. The others belong to the thread that made the runtime.
class GYRE_API runtime {
 public:
  /// Starts the threads. Returns when every loop runs.
  /// Errors: std::invalid_argument for 0 threads or too many; std::system_error when a thread or a backend cannot be
  /// made. The loops that had started have ended then.
  explicit runtime(const runtime_options& options = {});
  /// The same, with `first`, the loop of this thread, as the loop with index 0. It must be shut down before this is
  /// destroyed. For authors of ways to run a program.
  runtime(event_loop& first, const runtime_options& options);
  runtime& operator=(runtime&&) = delete;
  /// Calls stop().
  ~runtime();

  [[nodiscard]] std::size_t size() const noexcept { return loops_.size(); }
  /// Stops the program when there is no loop with this index, and after stop().
  /// Lifetime: the loop ends in stop(). No other thread may use it then: let plain threads that call it end first.
  [[nodiscard]] event_loop& loop(std::size_t index) const noexcept;

  /// Cancels all tasks of all loops, and waits until they have ended and the threads are gone. A server among them
  /// drains, for serve_options::drain at most (10 s by default). Stops the program when it is called on the thread of a
  /// loop that this runtime started or in a task of the first loop, which would wait for itself. Idempotent.
  void stop() noexcept;

 private:
  struct state;
  struct beginning;
  void start(const runtime_options& options);
  void grow(std::size_t size);
  void run_loop(beginning& start) noexcept;

  loop_group loops_;
  event_loop* first_ = nullptr;  // of the thread that made this; null when each loop has a thread of this runtime
  state* state_;
};

}  // namespace gyre
