// gyre/process/process.hpp: a running child process.
#pragma once

#include <gyre/coro/task.hpp>
#include <gyre/fs/file.hpp>
#include <gyre/process/exit_status.hpp>
#include <gyre/process/process_options.hpp>
#include <gyre/process/process_result.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gyre {

class process_state;

/// A child process. It does not outlive this: a child that has not ended when this is destroyed is killed (SIGKILL),
/// and reaped in the background; the loop waits for that at its end. With process_options::process_group every process of the
/// group is killed, also when the child itself has ended. A child that may not be killed, because it runs as another user by
/// then, runs on as after detach.
///
/// Signals and waits go to this very child, whatever happens to its number: see pidfd_open(2). Those to a group go to this very
/// group. Before Linux 6.9, and where a seccomp profile refuses that signal, the leader of a group is reaped when this is
/// destroyed or detached, and no sooner, so that nobody gets its number meanwhile.
///
/// Descriptors other than the three standard streams are not handed down. Needs Linux 5.4. asyncio: Process.
///
/// Every member but `detach` stops the program with a sentence when the object was moved from or detached.
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
  /// Lifetime: this may be moved, detached or destroyed meanwhile; destroyed, it kills the child, whose end the wait then gives.
  /// Cancel: stops waiting; the child runs on.
  /// Errors: io_error; std::errc::no_child_process in a child of fork, which has no part in the children of its parent.
  [[nodiscard]] GYRE_CORO_WRAPPER task<exit_status> wait();

  /// Writes `text` to its input and closes that, reads its output and error streams to their ends, and waits for its
  /// end. A stream that is not a pipe is left alone. A child that does not read its input to the end is no error.
  ///
  /// The limits of process_options hold from here on. One task communicates at a time; a later call gives what has come since.
  ///
  /// Lifetime: same as wait(). Units: `limit` of output and error, each, in bytes.
  /// Cancel: the child runs on, and has read a part; what it has said is lost.
  /// Errors: process_timed_out after process_options::time_limit; io_error: std::errc::file_too_large when the child says more
  /// than `limit`, std::errc::bad_file_descriptor when there is text and its input is no pipe or closed.
  [[nodiscard]] GYRE_CORO_WRAPPER task<process_result> communicate(std::string text = {},
                                                                   std::size_t limit = std::size_t{64} << 20U);

  /// Sends a signal, with process_options::process_group to every process of the group.
  /// Errors: io_error "send_signal 4711: No such process" when it has ended and was waited for (of a group: all have);
  /// operation_not_permitted when it runs as another user, or a seccomp profile refuses pidfd_send_signal.
  void send_signal(int number);
  /// Asks it to end: SIGTERM. Errors: same as send_signal.
  void terminate();
  /// Ends it: SIGKILL. Errors: same as send_signal.
  void kill();

  /// Lets it run on by itself, also when this program ends, with all of its group. Its status is lost, except for tasks that wait
  /// already. It is reaped when it ends; when its loop has ended before that, at the next start of a process. Until then a
  /// descriptor stays open for it. Does nothing when this was moved from or detached.
  void detach() noexcept;

 private:
  explicit process(process_state& state) noexcept : state_(&state) {}
  /// Stops the program when there is no child.
  [[nodiscard]] process_state& child(const char* operation) const noexcept;

  process_state* state_;
};

}  // namespace gyre
