// gyre/process/process_options.hpp: options for starting a child process.
#pragma once

#include <gyre/attributes.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gyre {

/// The source or destination of one of the three standard streams of a child.
class redirect {
 public:
  enum class kind : std::uint8_t { inherit, null, pipe, output, descriptor };

  /// The same place as this program's stream.
  [[nodiscard]] static redirect inherit() noexcept { return redirect(kind::inherit, -1); }
  /// /dev/null: reads find the end, and writes are lost.
  [[nodiscard]] static redirect null() noexcept { return redirect(kind::null, -1); }
  /// A pipe to this program: see process::input, output and error.
  [[nodiscard]] static redirect pipe() noexcept { return redirect(kind::pipe, -1); }
  /// The same place as the child's output. For the error stream only: other streams refuse it with
  /// std::invalid_argument.
  [[nodiscard]] static redirect to_output() noexcept { return redirect(kind::output, -1); }
  /// A duplicate of an open descriptor: a file, a socket, an end of gyre::open_pipe. The caller keeps `fd`. The child's
  /// stream blocks, as programs expect: a pipe or terminal that does not block is opened again, and a socket becomes
  /// blocking for all who share it. This program may go on reading and writing it, but not use send_file on it.
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
  /// The directory that the child starts in. Defaults to empty: the directory of this program.
  std::string directory = {};
  /// All variables of the child, each "NAME=value". Defaults to the environment of this program. See environment_with.
  std::optional<std::vector<std::string>> environment = {};
  /// The child gets a session of its own, without the terminal of this program and its signals. See setsid(2).
  bool new_session = false;
  /// The child leads a process group of its own, and the processes that it starts belong to it. Signals, and the kill
  /// by a destroyed process object or a cancelled run_process, reach every process of the group, also after the child
  /// itself has ended. Ctrl-C at a terminal does not reach the group. A process that changes its group or session
  /// leaves it. See setpgid(2).
  bool process_group = false;
  /// How long communicate and run_process wait for the child to end and its pipes to close, from the call on. At the
  /// limit the child, or its group, is killed and awaited, and process_timed_out is thrown, with the output of the
  /// child so far.
  std::chrono::nanoseconds time_limit = std::chrono::nanoseconds::max();
  /// How long communicate and run_process wait, after the end of the child, for other processes that hold its pipes
  /// open. Then the result is returned with `pipes_left_open`. Go: Cmd.WaitDelay.
  std::chrono::nanoseconds pipe_limit = std::chrono::nanoseconds::max();
};

/// The environment of this program, with these variables, each "NAME=value", added or replaced.
[[nodiscard]] GYRE_API std::vector<std::string> environment_with(const std::vector<std::string>& additions);

}  // namespace gyre
