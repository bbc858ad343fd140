// programs/gyre/fetch/existing_file.cpp: lstat(2), and open(2) as curl calls it.
#include "programs/gyre/fetch/existing_file.hpp"

#include <gyre/io/io_error.hpp>
#include <gyre/loop/deadline.hpp>
#include <gyre/loop/sleep.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <string_view>
#include <system_error>

namespace programs {
namespace {

bool is_accessible(const std::string& path, int how) noexcept {
  return ::faccessat(AT_FDCWD, path.c_str(), how, AT_EACCESS) == 0;
}

bool is_fifo(const std::string& path) noexcept {
  struct stat found{};
  return ::stat(path.c_str(), &found) == 0 && S_ISFIFO(found.st_mode);
}

}  // namespace

existing_file look_at(const std::string& path) noexcept {
  struct stat found{};
  if (::lstat(path.c_str(), &found) != 0) return {};
  const std::string directory = path.substr(0, path.rfind('/') + 1);
  // A new file would have no access list, another group, or only one of the names.
  const bool replaceable = S_ISREG(found.st_mode) && found.st_nlink == 1 && found.st_uid == ::geteuid() &&
                           found.st_gid == ::getegid() &&
                           ::getxattr(path.c_str(), "system.posix_acl_access", nullptr, 0) < 0 &&
                           is_accessible(path, W_OK) && is_accessible(directory.empty() ? "." : directory, W_OK | X_OK);
  return {.what = replaceable ? existing_file::kind::own : existing_file::kind::other, .mode = found.st_mode & 0777U};
}

gyre::task<gyre::fs::file> open_in_place(const std::string& path) {
  constexpr auto pause = std::chrono::milliseconds(20);
  const gyre::time_point end = gyre::now() + std::chrono::seconds(10);
  // O_NONBLOCK: to open a FIFO would wait for a reader, and block the loop.
  constexpr int flags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
  for (;;) {
    const int fd = ::open(path.c_str(), flags, 0666);
    if (fd >= 0) co_return gyre::fs::file::from_fd(fd, path);
    const std::error_code why(errno, std::generic_category());
    if (why != std::errc::no_such_device_or_address || !is_fifo(path) || gyre::now() >= end)
      throw gyre::io_error(why, "open", path);
    co_await gyre::sleep(pause);
  }
}

}  // namespace programs
