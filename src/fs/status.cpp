// src/fs/status.cpp: converts the kernel's struct statx.
#include <gyre/fs/status.hpp>
#include <gyre/io/kernel.hpp>

#include "kind_of_mode.hpp"

#include <fcntl.h>
#include <sys/sysmacros.h>

#include <cerrno>
#include <cstring>

namespace gyre::fs {
namespace {

file_time time_of(const statx_timestamp& t) noexcept {
  return file_time(std::chrono::seconds(t.tv_sec) + std::chrono::nanoseconds(t.tv_nsec));
}

}  // namespace

status_op::status_op(std::string_view path, bool follows_symlink) : path_operation(io::opcode::stat, path) {
  flags = follows_symlink ? 0 : AT_SYMLINK_NOFOLLOW;
}

status_op::status_op(file_state& file) : path_operation(io::opcode::stat, {}), file_(&file) {
  target = &file.descriptor();
  flags = AT_EMPTY_PATH;
}

void status_op::prepare() noexcept {
  if (file_ != nullptr) {
    file_->expect_open("stat");
    file_->expect_own_loop("stat");
  }
  path_operation::prepare();
  second = raw_;
}

std::expected<status, std::error_code> status_op::take_result() {
  static_assert(sizeof(struct statx) == sizeof(raw_) && alignof(struct statx) <= 8);
  if (result < 0) return std::unexpected(error());
  struct statx found{};
  std::memcpy(&found, raw_, sizeof(found));
  return status{.kind = kind_of_mode(found.stx_mode),
                .permissions = found.stx_mode & 07777U,
                .size = found.stx_size,
                .links = found.stx_nlink,
                .inode = found.stx_ino,
                .device = makedev(found.stx_dev_major, found.stx_dev_minor),
                .owner = found.stx_uid,
                .group = found.stx_gid,
                .accessed = time_of(found.stx_atime),
                .modified = time_of(found.stx_mtime),
                .changed = time_of(found.stx_ctime)};
}

void status_op::fail(std::error_code reason) const {
  throw io_error(reason, "stat", file_ == nullptr ? path_ : file_->path);
}

std::expected<file_facts, std::error_code> facts_of(int descriptor) noexcept {
  struct stat found{};
  if (io::files().fstat(descriptor, &found) < 0)
    return std::unexpected(std::error_code(errno, std::generic_category()));
  return facts_of_status(found);
}

}  // namespace gyre::fs
