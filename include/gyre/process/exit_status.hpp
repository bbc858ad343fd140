// gyre/process/exit_status.hpp: how a process has ended.
#pragma once

#include <gyre/attributes.hpp>

#include <string>

namespace gyre {

/// How a process has ended.
struct GYRE_API exit_status {
  int code = 0;    ///< what it returned; 0 when a signal ended it
  int signal = 0;  ///< the signal that ended it; 0: none
  /// The process has ended, and other code took its status: this program ignores SIGCHLD, or waits for any child. Linux
  /// keeps a copy since 6.15.
  bool unknown = false;

  [[nodiscard]] bool success() const noexcept { return code == 0 && signal == 0 && !unknown; }
  /// "exit code 3", "signal 9 (Killed)", "status unknown".
  [[nodiscard]] std::string string() const;
  friend bool operator==(const exit_status&, const exit_status&) = default;
};

}  // namespace gyre
