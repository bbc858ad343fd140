// gyre/fs/status.hpp: the status of a file, without opening it.
#pragma once

#include <gyre/fs/file_operation.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace gyre::fs {

enum class file_kind : std::uint8_t {
  unknown,
  regular,
  directory,
  symlink,
  pipe,
  socket,
  character_device,
  block_device,
};

using file_time = std::chrono::sys_time<std::chrono::nanoseconds>;

/// See statx(2).
struct status {
  file_kind kind = file_kind::unknown;
  std::uint32_t permissions = 0;  ///< the lower twelve bits of the mode
  std::uint64_t size = 0;         ///< in bytes
  std::uint64_t links = 0;
  std::uint64_t inode = 0;
  std::uint64_t device = 0;
  std::uint32_t owner = 0;
  std::uint32_t group = 0;
  file_time accessed;
  file_time modified;
  file_time changed;  ///< any of these fields, or the contents
};

/// The part of a status that shows whether a file has changed. Seconds and nanoseconds count from 1970.
struct file_facts {
  file_kind kind = file_kind::unknown;
  std::uint64_t size = 0;  ///< in bytes
  std::int64_t modified = 0;
  std::int64_t modified_ns = 0;
  std::uint64_t inode = 0;
  std::uint64_t links = 0;  ///< 0 after the file was removed
  std::uint64_t device = 0;
};

/// The facts of an open file, without a loop: one fstat(2), which does not wait for a local disk. Thread: any.
[[nodiscard]] GYRE_API std::expected<file_facts, std::error_code> facts_of(int descriptor) noexcept;

/// stat(), for a path or an open file.
class GYRE_API [[nodiscard("co_await it")]] status_op : public path_operation<status_op> {
 public:
  status_op(std::string_view path, bool follows_symlink);
  explicit status_op(file_state& file);

  void prepare() noexcept;
  std::expected<status, std::error_code> take_result();
  [[noreturn]] void fail(std::error_code reason) const;

 private:
  file_state* file_ = nullptr;
  alignas(8) std::byte raw_[256];
};

/// The status of the file at `path`. Follows a symbolic link.
///
/// Lifetime: the path is copied. Cancel: no effects. Errors: io_error "stat /tmp/x: No such file or directory".
[[nodiscard]] inline status_op stat(std::string_view path) { return {path, true}; }

/// The same without following a symbolic link.
///
/// Lifetime, Cancel, Errors: same as stat.
[[nodiscard]] inline status_op stat_link(std::string_view path) { return {path, false}; }

}  // namespace gyre::fs
