// gyre/testing/cancel_at_every_await.hpp: cancels a scenario at every step, and checks for damage.
#pragma once

#include <gyre/coro/misuse.hpp>
#include <gyre/loop/event_loop.hpp>
#include <gyre/loop/waiting_tasks.hpp>
#include <gyre/tasks/spawn.hpp>
#include <gyre/testing/watchdog.hpp>

#include <dirent.h>

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <stdexcept>
#include <string>

namespace gyre::testing {

/// The counts of the runs of a scenario.
struct cancel_report {
  std::size_t runs = 0;       ///< with a cancel at step 1, 2, … until the scenario ended before its step
  std::size_t cancelled = 0;  ///< runs that ended because of the cancel
  std::size_t completed = 0;  ///< runs whose result won over the cancel
};

/// The number of open descriptors of this process.
inline std::size_t open_descriptors() {
  std::size_t count = 0;
  DIR* const directory = ::opendir("/proc/self/fd");
  if (directory == nullptr) throw std::runtime_error("cannot read /proc/self/fd");
  while (::readdir(directory) != nullptr) ++count;
  ::closedir(directory);
  return count;
}

/// Throws `what` with the step of the cancel.
[[noreturn]] inline void fail_at_step(std::size_t step, const std::string& what) {
  throw std::logic_error("cancelled at step " + std::to_string(step) + ": " + what);
}

/// The output of print_waiting_tasks.
inline std::string waiting_tasks(const event_loop& loop) {
  char* text = nullptr;
  std::size_t length = 0;
  std::FILE* const out = ::open_memstream(&text, &length);
  if (out == nullptr) throw std::bad_alloc();
  print_waiting_tasks(loop.root_scope(), out);
  std::fclose(out);
  std::string printed(text, length);
  std::free(text);
  return printed;
}

/// One run of `cancel_at_every_await`. Returns whether the scenario reached `step`.
template <class Make>
bool run_with_cancel_at(std::size_t step, Make& make, const loop_options& options, bool& was_cancelled) {
  constexpr std::size_t max_turns = 1'000'000;
  constexpr std::chrono::seconds limit(60);
  char remark[48] = "";
  const misuse_remark step_in_messages(remark);
  event_loop loop(options);
  task_handle<void> handle = spawn(make(), {.name = "scenario"});
  const watchdog dog(handle.state(), limit);
  bool reached = false;
  for (std::size_t turn = 1; !handle.done(); ++turn) {
    if (turn == step) {
      reached = true;
      std::snprintf(remark, sizeof(remark), "cancelled at step %zu", step);
      handle.cancel();
    }
    loop.turn(true);
    if (turn > max_turns || dog.has_barked()) fail_at_step(step, "the scenario does not end");
  }
  was_cancelled = handle.state().was_cancelled();
  if (!was_cancelled) {
    try {
      handle.result();
    } catch (const std::exception& error) {
      fail_at_step(step, std::string("the scenario threw ") + error.what());
    }
  }
  if (loop.tasks() > 0) fail_at_step(step, "a task outlived the scenario:\n" + waiting_tasks(loop));
  loop.shutdown();
  if (!loop.timers().empty()) fail_at_step(step, "a timer is still armed");
  if (loop.backend().in_flight() > 0) fail_at_step(step, "an operation is still in flight");
  return reached;
}

/// Runs `make()`, which returns a task<>, repeatedly, each time on a new loop. Cancels it before the first, second, …
/// n-th turn of the loop. Each resumption is a turn of its own, so the cancel comes before, during and after every
/// single await. After each run `check(was_cancelled)` inspects the state that the scenario left behind.
///
/// Errors: std::logic_error, naming the step, when a run leaks a task, a timer, an operation in flight or a descriptor,
/// does not end, or throws anything but `cancelled`. A message of the library that stops the program names the step,
/// too. A build with AddressSanitizer finds leaked frames.
template <class Make, class Check>
cancel_report cancel_at_every_await(Make make, Check check, loop_options options = {}) {
  options.ready_per_turn = 1;
  cancel_report report;
  bool reached = true;
  for (std::size_t step = 1; reached; ++step) {
    const std::size_t descriptors = open_descriptors();
    bool was_cancelled = false;
    reached = run_with_cancel_at(step, make, options, was_cancelled);
    if (open_descriptors() != descriptors) fail_at_step(step, "a descriptor is still open");
    check(was_cancelled);
    ++report.runs;
    ++(was_cancelled ? report.cancelled : report.completed);
  }
  return report;
}

}  // namespace gyre::testing
