// src/process/process_state.hpp: the state of a child process behind the movable class process.
#pragma once

#include <gyre/coro/cancel_scope.hpp>
#include <gyre/coro/owned.hpp>
#include <gyre/io/owned_fd.hpp>
#include <gyre/io/request.hpp>
#include <gyre/loop/owner_loop.hpp>
#include <gyre/process/process.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace gyre {

/// A started process: its number, a pidfd for it, and the parent's ends of its pipes (or none).
struct started_process {
  int id = -1;
  owned_fd handle;
  owned_fd input;
  owned_fd output;
  owned_fd error;
};

/// Starts a program. Errors: io_error.
started_process start_program(const std::vector<std::string>& arguments, const process_options& options);

/// Lifetime: freed when the process object is gone and the child has been reaped.
class process_state : private io::request, private cancellable {
 public:
  process_state() noexcept;
  process_state& operator=(process_state&&) = delete;

  /// Errors: io_error. There may be a child even after an error; abandon() handles that.
  void start(const std::vector<std::string>& arguments, const process_options& options);
  /// Fetches the exit status if the child has ended. Errors: io_error.
  void look();
  /// Signals the child, or its group if it leads one. Errors: io_error.
  void send_signal(int number) const;
  /// Same with SIGKILL. Returns an errno: the child's if it is running; ESRCH when no process is left.
  [[nodiscard]] int kill() const noexcept;
  /// Called when the process object is destroyed. Kills the child if it is running, and the rest of its group. Frees
  /// this object once the child has been reaped.
  void abandon() noexcept;
  /// Same, but does not kill. The loop does not wait for the child at its end.
  void detach() noexcept;

  /// Reaps children that have outlived their loop and ended since. Thread: any.
  static void reap_orphans() noexcept;

  [[nodiscard]] int handle() const noexcept { return handle_.get(); }
  /// False after abandon() and detach(), which close the streams.
  [[nodiscard]] bool has_object() const noexcept { return !without_object_; }

  void waiter_left() noexcept;
  /// Held by a waiting task. Keeps the state alive after the process object is destroyed.
  using waiter = owned<process_state*, &process_state::waiter_left>;
  [[nodiscard]] waiter add_waiter() noexcept {
    ++waiters_;
    return waiter(*this);
  }

  /// Held by a task that feeds the child and reads its output. The streams stay open until it ends.
  class listener {
   public:
    /// Stops the program if there is another listener.
    explicit listener(process_state& state) noexcept;
    listener& operator=(listener&&) = delete;
    ~listener();

   private:
    process_state& state_;
  };

  owner_loop_of<"a process"> owner;
  int id = -1;
  std::string program;
  std::chrono::nanoseconds time_limit{};
  std::chrono::nanoseconds pipe_limit{};
  std::optional<exit_status> status;
  fs::file input;
  fs::file output;
  fs::file error;

 private:
  ~process_state() = default;
  void forget() noexcept;
  /// Returns 0 when the child has ended, EAGAIN while it is running, ECHILD when it is not a child of this process.
  int reap(int how) noexcept;
  /// Returns an errno.
  [[nodiscard]] int signal(int number) const noexcept;
  [[nodiscard]] int signal_leader(int number) const noexcept;
  /// The receiver of signals.
  enum class target : std::uint8_t { child, group, group_of_unreaped };
  [[nodiscard]] bool may_kill_group() const noexcept;
  void let_go() noexcept;
  void close_streams() noexcept;
  void watch() noexcept;
  void reap_later() noexcept;
  void become_orphan() noexcept;
  void on_cancel() noexcept;
  void on_complete() noexcept;

  owned_fd handle_;
  target target_ = target::child;
  int started_in_ = -1;        // the process that started the child, as opposed to its own forks
  bool keeps_leader_ = false;  // as a zombie, so that the group's number stays reserved
  // Waits for a child that nobody else waits for. The end of the loop turns a detached one into an orphan.
  io::descriptor watched_;
  owned_fd duplicate_;  // watched instead of the handle while tasks of this loop watch that
  task_context context_;
  cancel_scope scope_;
  process_state* next_orphan_ = nullptr;
  std::size_t waiters_ = 0;
  bool let_go_ = false;  // released by all but the waiters
  bool listened_to_ = false;
  bool without_object_ = false;  // the object is destroyed, or the child was detached
};

}  // namespace gyre
