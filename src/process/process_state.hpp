// src/process/process_state.hpp: a child process behind the movable process.
#pragma once

#include <gyre/coro/cancel_scope.hpp>
#include <gyre/io/owned_fd.hpp>
#include <gyre/io/request.hpp>
#include <gyre/process/process.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace gyre {

/// What was started: its number, a descriptor that stands for it, and our ends of its pipes (or none).
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
  process_state(const process_state&) = delete;
  process_state& operator=(const process_state&) = delete;

  /// Errors: io_error. Afterwards there may be a child all the same, for abandon.
  void start(const std::vector<std::string>& arguments, const process_options& options);
  /// Takes over the exit status, if the child has ended. Errors: io_error.
  void look();
  /// To the child, or to its group if it leads one. Errors: io_error.
  void send_signal(int number) const;
  /// The same with SIGKILL. Gives an errno, that of the child if it runs; ESRCH: nobody is left.
  [[nodiscard]] int kill() const noexcept;
  /// The process object is gone: kills the child if it runs, and what is left of its group, and frees this when the child has
  /// been reaped.
  void abandon() noexcept;
  /// The same without killing it. The loop does not wait for the child at its end.
  void detach() noexcept;

  /// Reaps children that outlived their loop and have ended since. Thread: any.
  static void reap_orphans() noexcept;

  [[nodiscard]] int handle() const noexcept { return handle_.get(); }
  /// False after abandon() and detach(), which close the streams.
  [[nodiscard]] bool has_object() const noexcept { return !without_object_; }

  /// A task that waits, for which this stays when the process object has let go of it.
  class waiter {
   public:
    explicit waiter(process_state& awaited) noexcept : state_(&awaited) { ++state_->waiters_; }
    waiter(waiter&& other) noexcept : state_(std::exchange(other.state_, nullptr)) {}
    waiter& operator=(waiter&&) = delete;
    ~waiter() {
      if (state_ != nullptr) state_->waiter_left();
    }
    [[nodiscard]] process_state& operator*() const noexcept { return *state_; }

   private:
    process_state* state_;
  };

  /// A task that feeds the child and listens to it. Until it has ended the streams stay open.
  class listener {
   public:
    /// Stops the program when there is another one.
    explicit listener(process_state& state) noexcept;
    listener(const listener&) = delete;
    listener& operator=(const listener&) = delete;
    ~listener();

   private:
    process_state& state_;
  };

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
  void waiter_left() noexcept;
  /// Gives 0 when the child has ended, EAGAIN when it runs, ECHILD when it is no child of this process.
  int reap(int how) noexcept;
  /// Gives an errno.
  [[nodiscard]] int signal(int number) const noexcept;
  [[nodiscard]] int signal_leader(int number) const noexcept;
  /// Who gets signals.
  enum class target : std::uint8_t { child, group, group_of_unreaped };
  [[nodiscard]] bool may_kill_group() const noexcept;
  void let_go() noexcept;
  void close_streams() noexcept;
  void watch() noexcept;
  void reap_later() noexcept;
  void become_orphan() noexcept;
  static void ended(io::completion& c) noexcept;

  owned_fd handle_;
  target target_ = target::child;
  int started_in_ = -1;        // the process that started the child; not its own children by fork
  bool keeps_leader_ = false;  // a zombie, so that its number stays that of its group
  // Waits for a child that nobody else waits for; the end of the loop makes a detached one an orphan.
  io::descriptor watched_;
  owned_fd duplicate_;  // to be watched while tasks of this loop watch the handle
  task_context context_;
  cancel_scope scope_;
  process_state* next_orphan_ = nullptr;
  std::size_t waiters_ = 0;
  bool let_go_ = false;  // by everybody but the waiters
  bool listened_to_ = false;
  bool without_object_ = false;  // it is gone, or was detached
};

}  // namespace gyre
