// gyre/process/process.hpp: a running child process.
#pragma once

#include <gyre/coro/task.hpp>
#include <gyre/fs/file.hpp>
#include <gyre/process/process_options.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gyre {

/// How a process has ended.
struct GYRE_API exit_status {
  int code = 0;    ///< what it returned; 0 when a signal ended it
  int signal = 0;  ///< the signal that ended it; 0: none
  /// It has ended, and other code took its status: this program ignores SIGCHLD, or calls wait for children that it
  /// does not know, and the kernel keeps no copy (before Linux 6.15).
  bool unknown = false;

  [[nodiscard]] bool success() const noexcept { return code == 0 && signal == 0 && !unknown; }
  /// "exit code 3", "signal 9 (Killed)", "status unknown".
  [[nodiscard]] std::string string() const;
  friend bool operator==(const exit_status&, const exit_status&) = default;
};

/// What a process had to say.
struct process_result {
  exit_status status;
  std::string output;
  std::string error;
};

class process_state;

/// A child process. It does not outlive this: a child that has not ended when this is destroyed is killed (SIGKILL),
/// and reaped in the background; the loop waits for that at its end. A child that may not be killed, because it runs as
/// another user by then, runs on as after detach.
///
/// Signals and waits go to this very child, whatever happens to its number: see pidfd_open(2). Descriptors other than
/// the three standard streams are not handed down. Needs Linux 5.4. asyncio: Process.
/// Thread: belongs to the loop it was started on.
class GYRE_API process {
 public:
  /// Starts the program `arguments[0]`, which is looked for in PATH when it holds no slash, with these arguments.
  /// Blocks for the moment until the program is loaded. asyncio: create_subprocess_exec.
  /// Errors: io_error "start /bin/nothing: No such file or directory"; std::errc::invalid_argument for no argument, or
  /// one that holds a zero byte.
  [[nodiscard]] static process start(const std::vector<std::string>& arguments, const process_options& options = {});
  /// Lets /bin/sh run a command line. asyncio: create_subprocess_shell.
  [[nodiscard]] static process start_shell(std::string_view command, const process_options& options = {});

  process(process&& other) noexcept : state_(std::exchange(other.state_, nullptr)) {}
  process& operator=(process&& other) noexcept {
    process moved(std::move(other));
    std::swap(state_, moved.state_);
    return *this;
  }
  ~process();

  /// Its number. See getpid(2).
  [[nodiscard]] int id() const noexcept;

  /// Our ends of its streams, for those that were redirected to pipes; else not open. Closing the input is how it
  /// learns that nothing more will come.
  [[nodiscard]] fs::file& input() const noexcept;
  [[nodiscard]] fs::file& output() const noexcept;
  [[nodiscard]] fs::file& error() const noexcept;

  /// Waits for its end. Any number of tasks may wait, also after the end. Read its pipes meanwhile: a child whose pipe
  /// is full does not end.
  ///
  /// Lifetime: this outlives the await. Cancel: stops waiting; the child runs on.
  /// Errors: io_error; std::errc::no_child_process in a child of fork, which has no part in the children of its parent.
  [[nodiscard]] task<exit_status> wait();

  /// Writes `text` to its input and closes that, reads its output and error streams to their ends, and waits for its
  /// end. A stream that is not a pipe is left alone. A child that does not read its input to the end is no error.
  ///
  /// Lifetime: this outlives the await. Units: `limit` of output and error, each, in bytes.
  /// Cancel: the child runs on, and has read a part; what it has said is lost.
  /// Errors: io_error; std::errc::file_too_large when it says more than `limit`.
  [[nodiscard]] task<process_result> communicate(std::string text = {}, std::size_t limit = std::size_t{64} << 20U);

  /// Sends a signal. Errors: io_error "send_signal 4711: No such process" when it has ended and was waited for;
  /// operation_not_permitted when it runs as another user, or a seccomp profile refuses pidfd_send_signal.
  void send_signal(int number);
  /// Asks it to end: SIGTERM.
  void terminate();
  /// Ends it: SIGKILL.
  void kill();

  /// Lets it run on by itself, also when this program ends. Its status is lost, except for tasks that wait already. It is
  /// reaped when it ends; when its loop has ended before that, at the next start of a process. Until then a descriptor
  /// stays open for it.
  void detach() noexcept;

 private:
  explicit process(process_state& state) noexcept : state_(&state) {}

  process_state* state_;
};

}  // namespace gyre
