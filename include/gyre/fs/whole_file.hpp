// gyre/fs/whole_file.hpp: reads or writes a whole file.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/coro/task.hpp>
#include <gyre/io/io_error.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace gyre::fs {

/// Reads the file at `path` to its end. Units: `limit` in bytes.
///
/// Lifetime: the path is copied. Cancel: no effects.
/// Errors: io_error "open x: No such file or directory"; EFBIG when the file exceeds `limit`.
[[nodiscard]] GYRE_API task<std::string> read_all(std::string path, std::size_t limit = std::size_t{64} << 20U);

struct write_options {
  /// A reader finds either all of the old contents or all of the new. The new contents are written to a file next to
  /// the old one, which then gets its name. The permissions of the old file are not kept; a symbolic link is replaced.
  bool atomic = false;
  /// The contents are on the disk when the await returns.
  bool durable = false;
  std::uint32_t permissions = 0666;  ///< for a new file, less the umask of the process
};

/// Replaces the contents of the file at `path` with `bytes`.
///
/// Lifetime: the path is copied; `bytes` stay valid until the await returns, even if it is cancelled.
/// Cancel: an atomic write leaves the old contents or the new, and nothing else; otherwise the file may hold a first
/// part.
/// Errors: io_error, incomplete_transfer. The effect on the file is the same as for a cancel.
[[nodiscard]] GYRE_API GYRE_CORO_WRAPPER task<void> write_all_to(std::string_view path,
                                                                 std::span<const std::byte> bytes,
                                                                 write_options options = {});
/// Lifetime, Cancel, Errors: same as above.
[[nodiscard]] GYRE_API GYRE_CORO_WRAPPER task<void> write_all_to(std::string_view path, std::string_view text,
                                                                 write_options options = {});

}  // namespace gyre::fs
