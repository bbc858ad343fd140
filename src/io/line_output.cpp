// src/io/line_output.cpp: writes lines without blocking the loop; see fs/standard_streams.cpp on O_NONBLOCK.
#include <gyre/io/io_error.hpp>
#include <gyre/io/kernel.hpp>
#include <gyre/io/line_output.hpp>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdio>
#include <ctime>
#include <optional>

namespace gyre {
namespace {

// Blocks SIGPIPE for this thread. A SIGPIPE that the call raised is consumed.
class without_sigpipe {
 public:
  without_sigpipe() noexcept {
    ::sigemptyset(&pipe_);
    ::sigaddset(&pipe_, SIGPIPE);
    ::pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
    sigset_t pending;
    ::sigpending(&pending);
    was_pending_ = ::sigismember(&pending, SIGPIPE) == 1;
  }
  without_sigpipe& operator=(without_sigpipe&&) = delete;
  void take_away() noexcept {
    const timespec at_once{};
    while (!was_pending_ && ::sigtimedwait(&pipe_, nullptr, &at_once) < 0 && errno == EINTR) {
    }
  }
  ~without_sigpipe() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t pipe_;
  sigset_t before_;
  bool was_pending_ = false;
};

// A write of up to PIPE_BUF bytes to a pipe is atomic: other writers cannot interleave with it. A longer line is
// written alone, and stays whole if the pipe has room for it.
std::string_view lines_for_pipe(std::string_view bytes) noexcept {
  if (bytes.size() <= PIPE_BUF) return bytes;
  const std::size_t lines = bytes.substr(0, PIPE_BUF).rfind('\n') + 1;
  const std::size_t end_of_long_line = bytes.find('\n', PIPE_BUF - 1);
  if (lines == 0 && end_of_long_line == std::string_view::npos) return bytes;
  return bytes.substr(0, lines > 0 ? lines : end_of_long_line + 1);
}

}  // namespace

line_output::line_output(int descriptor, std::string_view name) {
  int error = open(descriptor);
  if (error == 0 && !fd_) {
    fd_ = owned_fd::duplicate_of(descriptor);
    error = fd_ ? 0 : errno;
  }
  if (error != 0) throw io_error({error, std::generic_category()}, "open", name);
}

int line_output::open(int descriptor) noexcept {
  struct stat found{};
  if (io::files().fstat(descriptor, &found) < 0) return errno;
  if (S_ISFIFO(found.st_mode) || S_ISCHR(found.st_mode)) {
    char path[32];
    std::snprintf(path, sizeof(path), "/proc/self/fd/%d", descriptor);
    fd_ = owned_fd(io::files().openat(AT_FDCWD, path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0));
    kind_ = fd_ ? kind::own : kind::shared_pipe;
  } else if (S_ISSOCK(found.st_mode)) {
    kind_ = kind::socket;
  }
  return 0;
}

std::ptrdiff_t line_output::write_some(int descriptor, kind kind, std::string_view bytes) noexcept {
  if (kind == kind::socket)
    return io::sockets().send(descriptor, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  if (kind == kind::own || kind == kind::shared_pipe) bytes = lines_for_pipe(bytes);
  if (kind == kind::shared_pipe) {
    pollfd ready{.fd = descriptor, .events = POLLOUT, .revents = 0};
    if (io::sockets().poll(&ready, 1, 0) <= 0) {
      errno = EAGAIN;
      return -1;
    }
    bytes = bytes.substr(0, PIPE_BUF);  // a pipe that is ready takes this much without blocking
  }
  return io::files().write(descriptor, bytes.data(), bytes.size());
}

std::ptrdiff_t line_output::write(int descriptor, kind kind, std::string_view bytes) noexcept {
  std::optional<without_sigpipe> guard;
  if (kind == kind::own || kind == kind::shared_pipe) guard.emplace();
  std::ptrdiff_t n = 0;
  do n = write_some(descriptor, kind, bytes);
  while (n < 0 && errno == EINTR);
  const int error = n < 0 ? errno : 0;
  if (error == EPIPE && guard) guard->take_away();
  return n < 0 ? -error : n;
}

std::ptrdiff_t line_output::write(std::string_view bytes) noexcept { return write(fd_.get(), kind_, bytes); }

std::ptrdiff_t line_output::write_once(int descriptor, std::string_view bytes) noexcept {
  line_output output;
  if (const int error = output.open(descriptor); error != 0) return -error;
  return write(output.fd_ ? output.fd_.get() : descriptor, output.kind_, bytes);
}

}  // namespace gyre
