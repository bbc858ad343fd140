// gyre/fs/directory.hpp: reads the entries of a directory.
#pragma once

#include <gyre/coro/task.hpp>
#include <gyre/fs/file.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gyre::fs {

/// An entry of a directory.
struct directory_entry {
  std::string name;
  file_kind kind = file_kind::unknown;  ///< symlink for a link; unknown if the file system does not report it
  std::uint64_t inode = 0;
};

/// An open directory, read in batches.
///
/// Thread: belongs to the loop it was opened on. Overlap: one read at a time.
class GYRE_API directory {
 public:
  /// Opens the directory at `path`.
  ///
  /// Lifetime: the path is copied. Cancel: not opened, or closed again.
  /// Errors: io_error "open /etc/passwd: Not a directory".
  [[nodiscard]] static task<directory> open(std::string path);

  /// The next entries, in no particular order, without "." and "..". Empty at the end. Entries that are added or
  /// removed meanwhile may be among them or not.
  ///
  /// Lifetime: this outlives the await. Cancel: nothing is lost; the next read returns these entries.
  /// Errors: io_error "read_some /mnt: Stale file handle". See getdents(2).
  [[nodiscard]] task<std::vector<directory_entry>> read_some();

  [[nodiscard]] const std::string& path() const noexcept { return file_.path(); }

 private:
  explicit directory(file&& opened) noexcept : file_(std::move(opened)) {}

  file file_;
};

/// All entries of a directory, at most `limit`, in no particular order.
///
/// Cancel: no effects. Errors: same as directory; EOVERFLOW when there are more.
[[nodiscard]] GYRE_API task<std::vector<directory_entry>> list_directory(std::string path, std::size_t limit = 100'000);

}  // namespace gyre::fs
