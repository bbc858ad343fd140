// src/process/process_state.hpp: a child process behind the movable process.
#pragma once

#include <gyre/io/owned_fd.hpp>
#include <gyre/io/request.hpp>
#include <gyre/process/process.hpp>

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
class process_state : private io::request {
 public:
  explicit process_state(started_process&& started);

  /// Takes over the exit status, if the child has ended. Errors: io_error.
  void look();
  /// The process object is gone: kills what runs, and frees this when it has been reaped.
  void abandon() noexcept;
  void forget() noexcept { delete this; }
  void send_signal(int number) const;

  [[nodiscard]] int handle() const noexcept { return descriptor_.fd; }

  int id;
  std::optional<exit_status> status;
  fs::file input;
  fs::file output;
  fs::file error;

 private:
  ~process_state();
  static void ended(io::completion& c) noexcept;
  /// Gives an errno.
  int reap(int how) noexcept;

  io::descriptor descriptor_;
};

}  // namespace gyre
