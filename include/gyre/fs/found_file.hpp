// gyre/fs/found_file.hpp: opens files below a directory, and no others. For servers of files.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/coro/task.hpp>
#include <gyre/fs/status.hpp>
#include <gyre/io/owned_fd.hpp>

#include <string>
#include <string_view>

namespace gyre::fs {

struct found_file {
  int error = 0;  ///< errno; if 0, the other members are valid
  owned_fd descriptor = {};
  file_facts facts = {};
};

/// Opens a directory for find_below. May wait for the disk. Errors: io_error "open public: No such file or directory".
[[nodiscard]] GYRE_API owned_fd open_root(std::string_view path);

/// Opens `path`, which is relative and not empty, below the directory `root`. A link or ".." that leads out of `root`
/// is refused with EXDEV. An absolute link that leads to a place below `root` is followed, where openat2 and /proc are
/// available. A path with a zero byte is not found. Does not wait when the kernel has the path cached; otherwise a
/// thread opens it.
///
/// Lifetime: `root` stays open until the await returns. Cancel: not opened, or closed again.
[[nodiscard]] GYRE_API task<found_file> find_below(int root, std::string path);

/// Looks up `path` below `root` as find_below does, but does not open it. May wait for the disk, so call it on a
/// thread.
[[nodiscard]] GYRE_API found_file look_below(int root, const std::string& path);

/// Opens any path of the file system as find_below does. Cancel: same as find_below.
[[nodiscard]] GYRE_API task<found_file> find_anywhere(std::string path);

/// Opens a directory as open_root does, without waiting for the disk on the loop. Cancel: same as find_below.
[[nodiscard]] GYRE_API task<found_file> find_root(std::string path);

}  // namespace gyre::fs
