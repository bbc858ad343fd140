// gyre/testing/cancel_at_every_await.hpp: cancels a scenario at its first, second, … last step, and looks for damage.
#pragma once

#include <gyre/loop/event_loop.hpp>
#include <gyre/tasks/spawn.hpp>

#include <dirent.h>

#include <cstddef>
#include <stdexcept>
#include <string>

namespace gyre::testing {

/// What the runs of a scenario came to.
struct cancel_report {
  std::size_t runs = 0;       ///< with a cancel at step 1, 2, … until the scenario ended before its step
  std::size_t cancelled = 0;  ///< runs that ended by the cancel
  std::size_t completed = 0;  ///< runs whose result won over the cancel
};

/// Open descriptors of this process.
inline std::size_t open_descriptors() {
  std::size_t count = 0;
  DIR* const directory = ::opendir("/proc/self/fd");
  if (directory == nullptr) throw std::runtime_error("cannot read /proc/self/fd");
  while (::readdir(directory) != nullptr) ++count;
  ::closedir(directory);
  return count;
}

/// Runs `make()`, which gives a task<>, again and again, each time on a new loop, and cancels it before the first,
/// second, … n-th turn of the loop, in which each resumption is a turn of its own; so the cancel comes before, during
/// and after every single await. After each run `check(was_cancelled)` looks at what the scenario left behind.
///
/// Errors: std::logic_error, naming the step, when a run leaks a task, a timer, an operation in flight or a descriptor;
/// std::runtime_error when it does not end; what the scenario throws besides `cancelled`.
template <class Make, class Check>
cancel_report cancel_at_every_await(Make make, Check check, loop_options options = {}) {
  constexpr std::size_t most_steps = 100'000;
  options.ready_per_turn = 1;
  cancel_report report;
  for (std::size_t step = 1;; ++step) {
    const std::size_t descriptors = open_descriptors();
    bool cancelled_in_time = false;
    bool was_cancelled = false;
    {
      event_loop loop(options);
      task_handle<void> handle = spawn(make());
      for (std::size_t turn = 1; !handle.done(); ++turn) {
        if (turn == step) {
          cancelled_in_time = true;
          handle.cancel();
        }
        loop.turn(true);
        if (turn > most_steps) throw std::runtime_error("step " + std::to_string(step) + ": the scenario does not end");
      }
      was_cancelled = handle.state().was_cancelled();
      if (!was_cancelled) handle.result();
      handle.detach();
      const bool tasks_left = loop.tasks() > 0;
      loop.shutdown();
      const auto fail = [step](const char* what) {
        throw std::logic_error("cancelled at step " + std::to_string(step) + ": " + what);
      };
      if (tasks_left) fail("a task outlived the scenario");
      if (!loop.timers().empty()) fail("a timer is still armed");
      if (loop.backend().in_flight() > 0) fail("an operation is still in flight");
    }
    if (open_descriptors() != descriptors)
      throw std::logic_error("cancelled at step " + std::to_string(step) + ": a descriptor is still open");
    check(was_cancelled);
    ++report.runs;
    ++(was_cancelled ? report.cancelled : report.completed);
    if (!cancelled_in_time) return report;
  }
}

}  // namespace gyre::testing
