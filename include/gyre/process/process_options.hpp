// gyre/process/process_options.hpp: how to start a child process.
#pragma once

#include <gyre/attributes.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gyre {

/// Where one of the three standard streams of a child goes.
class redirect {
 public:
  enum class kind : std::uint8_t { inherit, null, pipe, output, descriptor };

  /// To where ours goes.
  [[nodiscard]] static redirect inherit() noexcept { return redirect(kind::inherit, -1); }
  /// /dev/null: nothing to read; what is written is lost.
  [[nodiscard]] static redirect null() noexcept { return redirect(kind::null, -1); }
  /// To us, through a pipe: see process::input, output and error.
  [[nodiscard]] static redirect pipe() noexcept { return redirect(kind::pipe, -1); }
  /// Of the error stream: to where the output goes. Of another stream it is refused with std::invalid_argument.
  [[nodiscard]] static redirect to_output() noexcept { return redirect(kind::output, -1); }
  /// To a duplicate of an open descriptor, which is still the caller's: a file, a socket, an end of gyre::open_pipe.
  [[nodiscard]] static redirect descriptor(int fd) noexcept { return redirect(kind::descriptor, fd); }

  [[nodiscard]] kind what() const noexcept { return kind_; }
  [[nodiscard]] int fd() const noexcept { return fd_; }

 private:
  redirect(kind what, int fd) noexcept : kind_(what), fd_(fd) {}
  kind kind_;
  int fd_;
};

/// How to start a child process, and how long process::communicate and run_process wait for it.
///
/// std::chrono::nanoseconds::max() means no limit. A limit of zero or less has passed at once.
struct process_options {
  redirect standard_input = redirect::inherit();
  redirect standard_output = redirect::inherit();
  redirect standard_error = redirect::inherit();
  /// The directory it starts in; empty: ours.
  std::string directory = {};
  /// Each "NAME=value", all that there are; nothing: those of this process. See environment_with.
  std::optional<std::vector<std::string>> environment = {};
  /// In a session of its own, away from our terminal and its signals. See setsid(2).
  bool new_session = false;
  /// The child leads a process group of its own, in which the processes that it starts are, too. Signals, the kill of a destroyed
  /// process object, and with it a cancel of run_process reach every process of the group, also after the child itself has ended.
  /// Ctrl-C at a terminal does not reach the group. A process that moves to a group or session of its own leaves it. See setpgid(2).
  bool process_group = false;
  /// How long communicate and run_process let the child run and its pipes be open, from the call on. At the limit the child, or
  /// its group, is killed and awaited, and process_timed_out is thrown, with what the child has said.
  std::chrono::nanoseconds time_limit = std::chrono::nanoseconds::max();
  /// How long communicate and run_process wait, after the end of the child, for other processes that hold its pipes open. Then
  /// the result is returned with `pipes_left_open`. Go: Cmd.WaitDelay.
  std::chrono::nanoseconds pipe_limit = std::chrono::nanoseconds::max();
};

/// The environment of this process with these added, each "NAME=value", or replaced.
[[nodiscard]] GYRE_API std::vector<std::string> environment_with(const std::vector<std::string>& additions);

}  // namespace gyre
