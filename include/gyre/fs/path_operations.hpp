// gyre/fs/path_operations.hpp: renames and removes files, makes directories and links.
//
// Paths are copied in the call. Cancel, for all: done or not done, never half. An operation that was done does not
// fail.
#pragma once

#include <gyre/fs/file_operation.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace gyre::fs {

/// A call that takes one or two paths and returns no value.
class GYRE_API [[nodiscard("co_await it")]] path_op : public path_operation<path_op> {
 public:
  path_op(io::opcode call, const char* name, std::string_view path, std::string_view other_path = {})
      : path_operation(call, path), other_(other_path), name_(name) {
    flags = 0;
  }
  path_op(io::opcode call, const char* name, std::string_view path, std::uint32_t call_flags, std::uint32_t call_mode)
      : path_op(call, name, path) {
    flags = call_flags;
    mode = call_mode;
  }

  bool try_now() noexcept;
  void prepare() noexcept;
  std::expected<void, std::error_code> take_result() { return done_or_error(); }
  [[noreturn]] void fail(std::error_code reason) const;

 private:
  std::string other_;
  const char* name_;
};

/// Renames a file or directory, and replaces a file that has the new name. A program that opens the name finds the old
/// file or the new one. See rename(2).
///
/// Cancel: done or not done. Errors: io_error "rename a to b: Invalid cross-device link".
[[nodiscard]] inline path_op rename(std::string_view from, std::string_view to) {
  return {io::opcode::rename, "rename", from, to};
}

/// Removes a file or a symbolic link. See unlink(2).
///
/// Cancel: done or not done. Errors: io_error "remove a: Is a directory".
[[nodiscard]] inline path_op remove(std::string_view path) { return {io::opcode::remove, "remove", path}; }

/// Removes an empty directory. See rmdir(2).
///
/// Cancel: done or not done. Errors: io_error "remove_directory a: Directory not empty".
[[nodiscard]] GYRE_API path_op remove_directory(std::string_view path);

/// Makes a directory. Its parent must exist. See mkdir(2).
///
/// Cancel: done or not done. Errors: io_error "create_directory a: File exists".
[[nodiscard]] inline path_op create_directory(std::string_view path, std::uint32_t permissions = 0777) {
  return {io::opcode::make_directory, "create_directory", path, 0, permissions};
}

/// Makes a symbolic link at `path` that points to `target`. See symlink(2).
///
/// Cancel: done or not done. Errors: io_error "create_symlink b to a: File exists".
[[nodiscard]] GYRE_API path_op create_symlink(std::string_view target, std::string_view path);

}  // namespace gyre::fs
