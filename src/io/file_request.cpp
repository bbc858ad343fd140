// src/io/file_request.cpp: performs each file operation as one blocking system call.
#include <gyre/io/file_request.hpp>
#include <gyre/io/kernel.hpp>
#include <gyre/io/raw_request.hpp>

#include "pipe_signal.hpp"

#include <fcntl.h>
#include <sys/inotify.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <ctime>

namespace gyre::io {

long transfer_at(bool reads, int fd, const iovec* buffers, int count, std::int64_t offset, int flags) noexcept {
  const long n =
      reads ? files().preadv2(fd, buffers, count, offset, flags) : files().pwritev2(fd, buffers, count, offset, flags);
  if (n >= 0 || (errno != EPERM && errno != ENOSYS)) return n;
  // A filter denies these calls, or the file refuses; in the latter case the other calls fail as well.
  if (flags != 0) {
    errno = EOPNOTSUPP;
    return -1;
  }
  if (offset < 0) return reads ? files().readv(fd, buffers, count) : files().writev(fd, buffers, count);
  return reads ? files().preadv(fd, buffers, count, offset) : files().pwritev(fd, buffers, count, offset);
}

namespace {

static_assert(sizeof(mutable_buffer) == sizeof(iovec) && alignof(mutable_buffer) == alignof(iovec));
static_assert(offsetof(mutable_buffer, data) == offsetof(iovec, iov_base));
static_assert(offsetof(mutable_buffer, size) == offsetof(iovec, iov_len));

const char* path_of(const void* address) noexcept { return static_cast<const char*>(address); }

// preadv2 and pwritev2 denote the current position as the ring does: by an offset of -1.
long transfer(const file_request& r) noexcept {
  const bool vectored = r.code == opcode::read_vector || r.code == opcode::write_vector;
  const iovec whole{.iov_base = r.address, .iov_len = r.length};
  const auto* const buffers = vectored ? static_cast<const iovec*>(r.address) : &whole;
  const int count = vectored ? static_cast<int>(r.length) : 1;
  const auto offset = static_cast<off_t>(r.offset);
  const bool reads_file = r.code == opcode::read || r.code == opcode::read_vector;
  return transfer_at(reads_file, r.target->fd, buffers, count, offset, 0);
}

void fill(statx_timestamp& to, const timespec& from) noexcept {
  to.tv_sec = from.tv_sec;
  to.tv_nsec = static_cast<std::uint32_t>(from.tv_nsec);
}

// For filters that deny statx(2). The creation time is unknown then.
int stat_without_statx(int fd, const char* path, int flags, struct statx& to) noexcept {
  struct stat found{};
  if (files().fstatat(fd, path, &found, flags & (AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW)) < 0) return -1;
  to = {};
  to.stx_mask = STATX_BASIC_STATS;
  to.stx_blksize = static_cast<std::uint32_t>(found.st_blksize);
  to.stx_nlink = static_cast<std::uint32_t>(found.st_nlink);
  to.stx_uid = found.st_uid;
  to.stx_gid = found.st_gid;
  to.stx_mode = static_cast<std::uint16_t>(found.st_mode);
  to.stx_ino = found.st_ino;
  to.stx_size = static_cast<std::uint64_t>(found.st_size);
  to.stx_blocks = static_cast<std::uint64_t>(found.st_blocks);
  fill(to.stx_atime, found.st_atim);
  fill(to.stx_mtime, found.st_mtim);
  fill(to.stx_ctime, found.st_ctim);
  to.stx_rdev_major = ::gnu_dev_major(found.st_rdev);
  to.stx_rdev_minor = ::gnu_dev_minor(found.st_rdev);
  to.stx_dev_major = ::gnu_dev_major(found.st_dev);
  to.stx_dev_minor = ::gnu_dev_minor(found.st_dev);
  return 0;
}

int stat_file(int fd, const char* path, int flags, struct statx& to) noexcept {
  const int result = files().statx(fd, path, flags, STATX_BASIC_STATS | STATX_BTIME, &to);
  if (result == 0 || (errno != EPERM && errno != ENOSYS)) return result;
  return stat_without_statx(fd, path, flags, to);
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
      return files().openat(fd, path_of(r.address), static_cast<int>(r.flags) | O_CLOEXEC, r.mode);
    case opcode::close:
      return files().close(fd);
    case opcode::sync:
      return r.flags == 0 ? files().fsync(fd) : files().fdatasync(fd);
    case opcode::stat:
      return stat_file(fd, path_of(r.address), static_cast<int>(r.flags), *static_cast<struct statx*>(r.second));
    case opcode::resize:
      return files().ftruncate(fd, static_cast<off_t>(r.offset));
    case opcode::rename:
      return files().renameat2(fd, path_of(r.address), fd, path_of(r.second), r.flags);
    case opcode::remove:
      return files().unlinkat(fd, path_of(r.address), static_cast<int>(r.flags));
    case opcode::make_directory:
      return files().mkdirat(fd, path_of(r.address), r.mode);
    case opcode::make_symlink:
      return files().symlinkat(path_of(r.address), fd, path_of(r.second));
    case opcode::watch:
      return files().inotify_add_watch(fd, path_of(r.address), r.flags);
    case opcode::read_directory:
      return files().getdents64(fd, r.address, r.length);
    case opcode::send_file: {
      auto from = static_cast<off_t>(r.offset);
      return files().sendfile(fd, static_cast<int>(r.flags), &from, r.length);
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
  // An interrupted close has closed the descriptor all the same.
  if (result < 0 && errno == EINTR) return 0;
  return result < 0 ? -errno : static_cast<int>(result);
}

int perform_without_signal(const file_request& r) noexcept {
  block_pipe_signal();
  const int result = perform(r);
  if (result < static_cast<int>(r.length)) consume_pipe_signal();
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
