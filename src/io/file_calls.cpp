// src/io/file_calls.cpp: each operation on a file as one blocking system call.
#include <gyre/io/file_request.hpp>
#include <gyre/io/raw_request.hpp>

#include <fcntl.h>
#include <signal.h>
#include <sys/inotify.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <ctime>

namespace gyre::io {
namespace {

static_assert(sizeof(mutable_buffer) == sizeof(iovec) && alignof(mutable_buffer) == alignof(iovec));
static_assert(offsetof(mutable_buffer, data) == offsetof(iovec, iov_base));
static_assert(offsetof(mutable_buffer, size) == offsetof(iovec, iov_len));

const char* path_of(const void* address) noexcept { return static_cast<const char*>(address); }

// preadv2 and pwritev2 know the current position as the ring does: an offset of -1.
long transfer(const file_request& r) noexcept {
  const bool vectored = r.code == opcode::read_vector || r.code == opcode::write_vector;
  const iovec whole{.iov_base = r.address, .iov_len = r.length};
  const auto* const buffers = vectored ? static_cast<const iovec*>(r.address) : &whole;
  const int count = vectored ? static_cast<int>(r.length) : 1;
  const auto offset = static_cast<off_t>(r.offset);
  const bool reads_file = r.code == opcode::read || r.code == opcode::read_vector;
  return reads_file ? ::preadv2(r.target->fd, buffers, count, offset, 0)
                    : ::pwritev2(r.target->fd, buffers, count, offset, 0);
}

long call(const file_request& r) noexcept {
  const int fd = r.target->fd;
  switch (r.code) {
    case opcode::read:
    case opcode::write:
    case opcode::read_vector:
    case opcode::write_vector:
      return transfer(r);
    case opcode::open:
      return ::openat(fd, path_of(r.address), static_cast<int>(r.flags) | O_CLOEXEC, r.mode);
    case opcode::close:
      return ::close(fd);
    case opcode::sync:
      return r.flags == 0 ? ::fsync(fd) : ::fdatasync(fd);
    case opcode::stat:
      return ::statx(fd, path_of(r.address), static_cast<int>(r.flags), STATX_BASIC_STATS | STATX_BTIME,
                     static_cast<struct statx*>(r.second));
    case opcode::resize:
      return ::ftruncate(fd, static_cast<off_t>(r.offset));
    case opcode::rename:
      return ::renameat2(fd, path_of(r.address), fd, path_of(r.second), r.flags);
    case opcode::remove:
      return ::unlinkat(fd, path_of(r.address), static_cast<int>(r.flags));
    case opcode::make_directory:
      return ::mkdirat(fd, path_of(r.address), r.mode);
    case opcode::make_symlink:
      return ::symlinkat(path_of(r.address), fd, path_of(r.second));
    case opcode::watch:
      return ::inotify_add_watch(fd, path_of(r.address), r.flags);
    case opcode::read_directory:
      return ::syscall(SYS_getdents64, fd, r.address, r.length);
    case opcode::send_file: {
      auto from = static_cast<off_t>(r.offset);
      return ::sendfile(fd, static_cast<int>(r.flags), &from, r.length);
    }
    default:
      errno = EOPNOTSUPP;
      return -1;
  }
}

}  // namespace

int perform(const file_request& r) noexcept {
  long result = 0;
  do result = call(r);
  while (result < 0 && errno == EINTR && r.code != opcode::close);
  // What close has interrupted is closed all the same.
  if (result < 0 && errno == EINTR) return 0;
  return result < 0 ? -errno : static_cast<int>(result);
}

namespace {

sigset_t pipe_signal() noexcept {
  sigset_t set;
  ::sigemptyset(&set);
  ::sigaddset(&set, SIGPIPE);
  return set;
}

bool block_pipe_signal() noexcept {
  const sigset_t set = pipe_signal();
  return ::pthread_sigmask(SIG_BLOCK, &set, nullptr) == 0;
}

}  // namespace

// The signal is for the thread that makes the call. It stays blocked there from the first such call on, which spares each
// call three others; what a call has brought is taken away. sendfile(2) may bring it and give the count of what went before
// the peer was found to be gone: so whatever is not everything is looked at.
int perform_without_signal(const file_request& r) noexcept {
  [[maybe_unused]] static thread_local const bool blocked = block_pipe_signal();
  const int result = perform(r);
  if (result >= static_cast<int>(r.length)) return result;
  const sigset_t set = pipe_signal();
  const timespec at_once{};
  while (::sigtimedwait(&set, nullptr, &at_once) < 0 && errno == EINTR) {
  }
  return result;
}

descriptor& unnamed_descriptor() noexcept {
  static thread_local descriptor unnamed;
  return unnamed;
}

descriptor& working_directory() noexcept {
  static thread_local descriptor here{.fd = AT_FDCWD};
  return here;
}

}  // namespace gyre::io
