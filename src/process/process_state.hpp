// src/process/process_state.hpp: a child process behind the movable process.
#pragma once

#include <gyre/coro/cancel_scope.hpp>
#include <gyre/io/owned_fd.hpp>
#include <gyre/io/request.hpp>
#include <gyre/process/process.hpp>

#include <cstddef>
#include <optional>

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
  void send_signal(int number) const;
  /// The process object is gone: kills the child if it runs, and frees this when it has been reaped.
  void abandon() noexcept;
  /// The same without killing it. The loop does not wait for the child at its end.
  void detach() noexcept;

  /// Reaps children that outlived their loop and have ended since. Thread: any.
  static void reap_orphans() noexcept;

  [[nodiscard]] int handle() const noexcept { return descriptor_.fd; }

  /// A task that waits, for which this stays when the process object has let go of it.
  class waiter {
   public:
    explicit waiter(process_state& awaited) noexcept : state_(awaited) { ++state_.waiters_; }
    waiter(const waiter&) = delete;
    waiter& operator=(const waiter&) = delete;
    ~waiter() { state_.waiter_left(); }

   private:
    process_state& state_;
  };

  int id = -1;
  std::optional<exit_status> status;
  fs::file input;
  fs::file output;
  fs::file error;

 private:
  ~process_state();
  void forget() noexcept;
  void waiter_left() noexcept;
  /// Gives 0 when the child has ended, EAGAIN when it runs, ECHILD when it is no child of this process.
  int reap(int how) noexcept;
  /// Gives an errno.
  [[nodiscard]] int signal(int number) const noexcept;
  void close_streams() noexcept;
  void reap_later() noexcept;
  void become_orphan() noexcept;
  static void ended(io::completion& c) noexcept;

  io::descriptor descriptor_;
  // Waits for a detached child; the end of the loop makes that child an orphan.
  task_context context_;
  cancel_scope scope_;
  process_state* next_orphan_ = nullptr;
  std::size_t waiters_ = 0;
  bool let_go_ = false;  // by everybody but the waiters
};

}  // namespace gyre
