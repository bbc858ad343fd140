// src/io/pipe_signal.hpp: calls that write to a socket and cannot be told not to raise SIGPIPE.
#pragma once

#include <signal.h>

#include <cerrno>
#include <ctime>

namespace gyre::io {

[[nodiscard]] inline sigset_t pipe_signal() noexcept {
  sigset_t set;
  ::sigemptyset(&set);
  ::sigaddset(&set, SIGPIPE);
  return set;
}

/// SIGPIPE is sent to the thread that makes the call. It is blocked in that thread from the first such call on, which
/// saves three system calls per call.
inline void block_pipe_signal() noexcept {
  [[maybe_unused]] static thread_local const bool blocked = [] {
    const sigset_t set = pipe_signal();
    return ::pthread_sigmask(SIG_BLOCK, &set, nullptr) == 0;
  }();
}

/// Consumes a SIGPIPE that the call raised. It may have raised one and still return the count sent before the peer was
/// found to be gone, so this follows every incomplete transfer. Leaves errno unchanged.
inline void consume_pipe_signal() noexcept {
  const int error = errno;
  const sigset_t set = pipe_signal();
  const timespec at_once{};
  while (::sigtimedwait(&set, nullptr, &at_once) < 0 && errno == EINTR) {
  }
  errno = error;
}

}  // namespace gyre::io
