// src/fs/path_operations.cpp: renaming, removing, and creating directories and links.
#include <gyre/fs/path_operations.hpp>

#include <fcntl.h>

#include <cerrno>

namespace gyre::fs {

bool path_op::try_now() noexcept {
  if (path_operation::try_now()) return true;
  if (other_.find('\0') == std::string::npos) return false;
  result = -EINVAL;
  return true;
}

void path_op::prepare() noexcept {
  path_operation::prepare();
  second = other_.data();
}

void path_op::fail(std::error_code reason) const {
  if (code == io::opcode::rename) throw io_error(reason, name_, path_ + " to " + other_);
  if (code == io::opcode::make_symlink) throw io_error(reason, name_, other_ + " to " + path_);
  throw io_error(reason, name_, path_);
}

path_op remove_directory(std::string_view path) {
  return {io::opcode::remove, "remove_directory", path, AT_REMOVEDIR, 0};
}

path_op create_symlink(std::string_view target, std::string_view path) {
  return {io::opcode::make_symlink, "create_symlink", target, path};
}

}  // namespace gyre::fs
