// tests/process/children.hpp: starting children of this process, and finding those that are left.
#pragma once

#include <gyre/process.hpp>

#include <gyre/testing/cancel_at_every_await.hpp>

#include "tests/fs/scratch.hpp"
#include "tests/support/denied_call.hpp"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <string>
#include <utility>
#include <vector>

namespace gyre_test {

using strings = std::vector<std::string>;

/// True while a child runs or waits to be reaped. Reaps none.
inline bool has_children() {
  siginfo_t info{};
  return ::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 || errno != ECHILD;
}

/// Waits until the loop has reaped all remaining children.
inline gyre::task<> expect_all_reaped() {
  for (int i = 0; i < 5000 && has_children(); ++i) co_await gyre::sleep(1ms);
  EXPECT_FALSE(has_children()) << "a child runs, or is a zombie";
}

/// Sets another action for a signal for the duration of a test.
class with_action {
 public:
  using handler = void (*)(int);
  with_action(int number, handler wanted) : number_(number), before_(std::signal(number, wanted)) {}
  with_action(const with_action&) = delete;
  with_action& operator=(const with_action&) = delete;
  ~with_action() { std::signal(number_, before_); }

 private:
  int number_;
  handler before_;
};

/// The standard streams that a test uses through pipes.
inline gyre::process_options with_pipes() {
  return {.standard_input = gyre::redirect::pipe(),
          .standard_output = gyre::redirect::pipe(),
          .standard_error = gyre::redirect::pipe()};
}

inline std::string start_error(const strings& arguments, const gyre::process_options& options = {}) {
  try {
    (void)gyre::process::start(arguments, options);
    return "";
  } catch (const gyre::io_error& error) {
    return error.what();
  }
}

inline gyre::process start_sleeping() { return gyre::process::start({"sleep", "1000"}); }

/// A child that has ended and was reaped by other code.
inline gyre::process start_stolen(const std::string& command) {
  gyre::process child = gyre::process::start_shell(command);
  EXPECT_EQ(::waitpid(child.id(), nullptr, 0), child.id());
  return child;
}

/// Kills a child and returns the error, or "".
inline std::string kill_error(gyre::process& child) {
  try {
    child.kill();
    return "";
  } catch (const gyre::io_error& error) {
    return error.what();
  }
}

/// Runs a command line until it ends.
inline gyre::task<gyre::process_result> shell(std::string command, gyre::process_options options,
                                              std::string input = "") {
  const strings arguments{"/bin/sh", "-c", std::move(command)};
  co_return co_await gyre::run_process(arguments, std::move(options), std::move(input));
}
// An overload, because g++ 12 destroys a default argument of this kind twice in a co_await.
inline gyre::task<gyre::process_result> shell(std::string command) {
  gyre::process_options options;
  co_return co_await shell(std::move(command), std::move(options));
}

/// Runs a body in a forked child, and expects that its expectations hold there.
template <class Body>
void expect_in_child_process(Body body) {
  constexpr unsigned minute = 60;
  const auto outcome = in_child_process(
      [&] {
        body();
        return ::testing::Test::HasFailure() ? "failed" : "passed";
      },
      minute);
  EXPECT_EQ(outcome.text, "passed") << "signal " << outcome.signal;
}

/// Cancels a body at each of its awaits, and expects that no child is left.
template <class Body>
void expect_no_child_after_any_cancel(Body body) {
  const auto report = gyre::testing::cancel_at_every_await(body, [](bool) { EXPECT_FALSE(has_children()); });
  EXPECT_GT(report.cancelled, 0U);
  EXPECT_GT(report.completed, 0U);
}

}  // namespace gyre_test
