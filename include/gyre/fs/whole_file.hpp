// gyre/fs/whole_file.hpp: a file read or written as a whole.
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

/// The contents of the file at `path`, to its end. Units: `limit` in bytes.
///
/// Lifetime: the path is copied. Cancel: nothing has changed.
/// Errors: io_error "open x: No such file or directory"; EFBIG when there is more than `limit`.
[[nodiscard]] GYRE_API task<std::string> read_all(std::string path, std::size_t limit = std::size_t{64} << 20U);

struct write_options {
  /// Whoever opens the file finds all of the old contents or all of the new: they are written to a file beside it,
  /// which then gets its name. Permissions of the old one are not kept; a symbolic link is replaced.
  bool atomic = false;
  /// The contents are on the disk when it returns.
  bool durable = false;
  std::uint32_t permissions = 0666;  ///< of a file that is made, less the umask of the process
};

/// Makes `bytes` the contents of the file at `path`.
///
/// Lifetime: the path is copied; `bytes` stay valid until the await returns, also when it is cancelled.
/// Cancel: atomic: the old contents are there, or the new, and nothing else; otherwise the file may hold a first part.
/// Errors: io_error, incomplete_transfer. With the same effect as a cancel.
[[nodiscard]] GYRE_API GYRE_CORO_WRAPPER task<void> write_all_to(std::string_view path,
                                                                 std::span<const std::byte> bytes,
                                                                 write_options options = {});
/// Lifetime, Cancel, Errors: as above.
[[nodiscard]] GYRE_API GYRE_CORO_WRAPPER task<void> write_all_to(std::string_view path, std::string_view text,
                                                                 write_options options = {});

}  // namespace gyre::fs
