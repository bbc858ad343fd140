// src/fs/quiet_write.cpp: writing without the signal that kills.
#include "quiet_write.hpp"

#include <signal.h>

#include <cerrno>
#include <ctime>

namespace gyre::fs {

// The signal is for this thread alone: blocked during the call and, if the call brought it, taken away.
ssize_t write_without_signal(int fd, const iovec* buffers, int count, off_t offset) noexcept {
  sigset_t pipe_signal;
  sigset_t before;
  sigset_t pending;
  ::sigemptyset(&pipe_signal);
  ::sigaddset(&pipe_signal, SIGPIPE);
  ::pthread_sigmask(SIG_BLOCK, &pipe_signal, &before);
  ::sigpending(&pending);
  const ssize_t written = ::pwritev2(fd, buffers, count, offset, 0);
  const int error = errno;
  if (written < 0 && error == EPIPE && ::sigismember(&pending, SIGPIPE) == 0) {
    const timespec at_once{};
    while (::sigtimedwait(&pipe_signal, nullptr, &at_once) < 0 && errno == EINTR) {
    }
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = error;
  return written;
}

}  // namespace gyre::fs
