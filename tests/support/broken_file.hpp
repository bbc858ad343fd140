// tests/support/broken_file.hpp: a file on a disk that cannot be read everywhere. Replaces the functions of libc that
// read files here, for the whole program. Every caller, the loop or a thread of the pool, gets EIO as from the kernel.
// Include it in only one file of a program.
#pragma once

#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace gyre_test {

/// While it exists, reads of that file that begin between `from` and `to` fail with EIO. Reads that begin before `from`
/// end there.
class broken_file {
 public:
  broken_file(const std::string& path, std::uint64_t from, std::uint64_t to = ~std::uint64_t{0}) {
    struct stat status{};
    if (::stat(path.c_str(), &status) != 0) throw std::runtime_error("stat " + path);
    failures_ = 0;
    from_ = from;
    to_ = to;
    inode_ = status.st_ino;
  }
  broken_file(const broken_file&) = delete;
  broken_file& operator=(const broken_file&) = delete;
  ~broken_file() { inode_ = 0; }

  /// The number of reads that have failed.
  [[nodiscard]] static int failures() noexcept { return failures_; }

  /// Limits `count` to the bytes that can be read. Returns false and sets errno when there are none.
  static bool allows(int fd, off_t offset, std::size_t& count) noexcept {
    const ino_t broken = inode_;
    struct stat status{};
    if (broken == 0 || ::fstat(fd, &status) != 0 || status.st_ino != broken) return true;
    const std::uint64_t from = from_;
    const auto at = static_cast<std::uint64_t>(offset);
    if (at < from) {
      count = static_cast<std::size_t>(std::min<std::uint64_t>(count, from - at));
      return true;
    }
    if (at >= to_) return true;
    ++failures_;
    errno = EIO;
    return false;
  }

 private:
  static inline std::atomic<ino_t> inode_ = 0;  // 0 when no file is broken
  static inline std::atomic<std::uint64_t> from_ = 0;
  static inline std::atomic<std::uint64_t> to_ = 0;
  static inline std::atomic<int> failures_ = 0;
};

}  // namespace gyre_test

extern "C" {

ssize_t sendfile(int to, int from, off_t* offset, std::size_t count) noexcept {
  if (!gyre_test::broken_file::allows(from, *offset, count)) return -1;
  return ::syscall(SYS_sendfile, to, from, offset, count);
}

ssize_t pread(int fd, void* buffer, std::size_t count, off_t offset) {
  if (!gyre_test::broken_file::allows(fd, offset, count)) return -1;
  return ::syscall(SYS_pread64, fd, buffer, count, offset);
}

ssize_t preadv2(int fd, const iovec* buffers, int count, off_t offset, int flags) {
  iovec first = *buffers;
  if (count != 1 || offset < 0) return ::syscall(SYS_preadv2, fd, buffers, count, offset, 0L, flags);
  if (!gyre_test::broken_file::allows(fd, offset, first.iov_len)) return -1;
  return ::syscall(SYS_preadv2, fd, &first, 1, offset, 0L, flags);
}

}  // extern "C"
