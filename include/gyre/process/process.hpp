// gyre/process/process.hpp: a running child process.
#pragma once

#include <gyre/coro/owned.hpp>
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

/// A child process, which does not outlive this object: the destructor kills a running child (SIGKILL). The child is
/// reaped in the background, and the loop waits for that at its end. With process_options::process_group the destructor
/// kills every process of the group, also when the child itself has ended. A child that this program may not kill,
/// because it runs as another user by now, continues to run as after detach.
///
/// Signals and waits reach this child or its group, even when its process ID has been reused: see pidfd_open(2). Before
/// Linux 6.9, and where a seccomp profile refuses signals to groups, the leader of a group is reaped when this object
/// is destroyed or detached, so that its process ID stays taken until then.
///
/// Descriptors other than the three standard streams are not inherited. Needs Linux 5.4. asyncio: Process.
///
/// Using any member but `detach` stops the program with a message when the object was moved from or detached.
/// Thread: belongs to the loop it was started on.
class GYRE_API process {
 public:
  /// Starts the program `arguments[0]` with these arguments. Searches PATH for a program name without a slash. Blocks
  /// briefly until the program is loaded. asyncio: create_subprocess_exec.
  /// Errors: io_error "start /bin/nothing: No such file or directory"; std::errc::invalid_argument for no argument, or
  /// one that contains a zero byte.
  [[nodiscard]] static process start(const std::vector<std::string>& arguments, const process_options& options = {});
  /// Runs a command line with /bin/sh. asyncio: create_subprocess_shell.
  [[nodiscard]] static process start_shell(std::string_view command, const process_options& options = {});

  /// The process ID. See getpid(2).
  [[nodiscard]] int id() const noexcept;

  /// This program's ends of the child's streams. A stream that was not redirected to a pipe is not open. Close the
  /// input to tell the child that nothing more will come.
  [[nodiscard]] fs::file& input() const noexcept;
  [[nodiscard]] fs::file& output() const noexcept;
  [[nodiscard]] fs::file& error() const noexcept;

  /// Waits for the child to end. Any number of tasks may wait, also after the end. Read its pipes meanwhile: a child
  /// whose pipe is full does not end.
  ///
  /// Lifetime: this object may be moved, detached or destroyed meanwhile. Its destructor kills the child, and the wait
  /// returns.
  /// Cancel: stops waiting; the child continues to run.
  /// Errors: io_error; std::errc::no_child_process in a child of fork, which has no part in the children of its parent.
  [[nodiscard]] GYRE_CORO_WRAPPER task<exit_status> wait();

  /// Writes `text` to the input of the child and closes it, reads its output and error streams to their ends, and waits
  /// for the child to end. A stream that is not a pipe is not touched. A child that does not read its input to the end
  /// is not an error.
  ///
  /// The limits of process_options count from this call. One task may communicate at a time; a later call returns the
  /// output since the previous one.
  ///
  /// Lifetime: same as wait(). Units: `limit` of output and error, each, in bytes.
  /// Cancel: the child continues to run, and may have read a part of `text`; its output so far is lost.
  /// Errors: process_timed_out after process_options::time_limit; io_error with std::errc::file_too_large when the
  /// child writes more than `limit`, with std::errc::bad_file_descriptor when there is text and its input is closed or
  /// no pipe.
  [[nodiscard]] GYRE_CORO_WRAPPER task<process_result> communicate(std::string text = {},
                                                                   std::size_t limit = std::size_t{64} << 20U);

  /// Sends a signal to the child, or to every process of its group with process_options::process_group.
  /// Errors: io_error "send_signal 4711: No such process" when the child, or every process of its group, has ended and
  /// was waited for; operation_not_permitted when it runs as another user, or a seccomp profile refuses
  /// pidfd_send_signal.
  void send_signal(int number);
  /// Asks the child to end: SIGTERM. Errors: same as send_signal.
  void terminate();
  /// Kills the child: SIGKILL. Errors: same as send_signal.
  void kill();

  /// Lets the child and its group continue to run, even when this program ends. Only tasks that already wait get its
  /// status. The child is reaped when it ends, or, if its loop has ended before, at the next start of a process. Until
  /// then a descriptor stays open for it. No-op when this object was moved from or detached.
  void detach() noexcept;

 private:
  explicit process(process_state& state) noexcept : state_(&state) {}
  /// Stops the program when there is no child.
  [[nodiscard]] process_state& child(const char* operation) const noexcept;

  static void abandon(process_state* state) noexcept;
  owned<process_state*, &abandon> state_;
};

}  // namespace gyre
