// tests/support/broken_file.hpp: a file on a disk that cannot be read everywhere. The loop of this thread and its jobs
// on threads of a pool get EIO as from the kernel.
#pragma once

#include <gyre/io/kernel.hpp>

#include <sys/stat.h>
#include <sys/uio.h>

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

 private:
  static gyre::io::kernel make() noexcept {
    gyre::io::kernel k = gyre::io::kernel::real();
    k.files.sendfile = [](int to, int from, std::int64_t* offset, std::size_t count) -> std::ptrdiff_t {
      return allows(from, *offset, count) ? real().sendfile(to, from, offset, count) : -1;
    };
    k.files.pread = [](int fd, void* buffer, std::size_t count, std::int64_t offset) -> std::ptrdiff_t {
      return allows(fd, offset, count) ? real().pread(fd, buffer, count, offset) : -1;
    };
    k.files.preadv2 = [](int fd, const iovec* buffers, int count, std::int64_t offset, int flags) -> std::ptrdiff_t {
      iovec first = *buffers;
      if (count != 1 || offset < 0) return real().preadv2(fd, buffers, count, offset, flags);
      return allows(fd, offset, first.iov_len) ? real().preadv2(fd, &first, 1, offset, flags) : -1;
    };
    return k;
  }
  static const gyre::io::file_calls& real() noexcept { return gyre::io::kernel::real().files; }

  /// Limits `count` to the bytes that can be read. Returns false and sets errno when there are none.
  static bool allows(int fd, std::int64_t offset, std::size_t& count) noexcept {
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

  static inline std::atomic<ino_t> inode_ = 0;  // 0 when no file is broken
  static inline std::atomic<std::uint64_t> from_ = 0;
  static inline std::atomic<std::uint64_t> to_ = 0;
  static inline std::atomic<int> failures_ = 0;
  static inline const gyre::io::kernel calls_ = make();

  gyre::io::kernel_scope used_{calls_};
};

}  // namespace gyre_test
