// gyre/fs/copy.hpp: copies a file.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/coro/task.hpp>

#include <cstdint>
#include <string>

namespace gyre::fs {

/// How far a copy is. Changes between two turns of the loop that copies.
struct copy_progress {
  std::uint64_t copied = 0;  ///< bytes of the source that are in the target; its holes count
  std::uint64_t size = 0;    ///< bytes of the source when the copy began; 0 when it does not know
};

struct copy_options {
  bool exclusive = false;             ///< fails if the target exists, even as a symbolic link
  copy_progress* progress = nullptr;  ///< outlives the await
};

/// Copies the regular file `from` to `to`, and replaces the contents of a file that is there. Returns the number of
/// bytes.
///
/// The kernel copies, without the bytes passing through this program. Where the file system can share them between
/// files (Btrfs, XFS), none is copied at all. Holes stay holes. A new file gets the permissions of the source, less the
/// umask of the process; an existing one keeps its own. See copy_file_range(2), ioctl_ficlone(2).
/// The copy is made in pieces of 16 MiB on a thread of io::blocking_pool::for_files().
/// Lifetime: the paths are copied.
/// Cancel: ends after the current piece. The target holds a first part, unless the last piece won over the cancel.
/// Errors: io_error "copy a to b: No space left on device", and the target holds a first part; "open a: Permission
/// denied"; EINVAL when `from` is no regular file, or both paths name the same one.
[[nodiscard]] GYRE_API task<std::uint64_t> copy(std::string from, std::string to, copy_options options = {});

}  // namespace gyre::fs
