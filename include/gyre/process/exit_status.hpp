// gyre/process/exit_status.hpp: the exit status of a process.
#pragma once

#include <gyre/attributes.hpp>

#include <string>

namespace gyre {

/// The exit status of a process.
struct GYRE_API exit_status {
  int code = 0;    ///< exit code; 0 when a signal ended the process
  int signal = 0;  ///< the signal that ended the process; 0 means none
  /// The process has ended, but other code took its status: this program ignores SIGCHLD, or waits for any child. Linux
  /// keeps a copy since 6.15.
  bool unknown = false;

  [[nodiscard]] bool success() const noexcept { return code == 0 && signal == 0 && !unknown; }
  /// "exit code 3", "signal 9 (Killed)", "status unknown".
  [[nodiscard]] std::string string() const;
  friend bool operator==(const exit_status&, const exit_status&) = default;
};

}  // namespace gyre
