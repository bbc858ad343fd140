// gyre/fs/watcher.hpp: reports changes in directories.
#pragma once

#include <gyre/coro/task.hpp>
#include <gyre/fs/file.hpp>

#include <string>
#include <utility>
#include <vector>

namespace gyre::fs {

enum class change_kind : std::uint8_t {
  created,  ///< the name is new: created, or the target of a rename
  written,  ///< a file that was open for writing was closed
  removed,  ///< the name is gone: removed, or the source of a rename
  ended,    ///< the directory itself is gone and no longer watched
  lost,     ///< more changes than could be stored: look at everything again
};

struct change {
  change_kind kind = change_kind::lost;
  bool is_directory = false;
  std::string directory;  ///< as passed to watch; empty when changes were lost
  std::string name;       ///< within the directory; empty when it is the directory itself
};

/// Reports changes in directories, but not in their subdirectories.
///
/// Thread: belongs to the loop it was made on.
/// Overlap: one call at a time; to watch more, cancel the read first, which loses nothing.
class GYRE_API watcher {
 public:
  /// Errors: io_error "watcher: Too many open files". See inotify(7).
  watcher();

  /// Begins to watch a directory. Changes after it has returned are reported.
  ///
  /// Lifetime: the path is copied; this outlives the await. Cancel: the directory may be watched or not.
  /// Errors: io_error "watch /tmp/x: No such file or directory"; ENOSPC when the user has too many watches.
  [[nodiscard]] task<void> watch(std::string directory);

  /// Waits for changes, and returns at least one.
  ///
  /// Lifetime: this outlives the await. Cancel: nothing is lost; the next read returns it. Errors: io_error.
  [[nodiscard]] task<std::vector<change>> read_some();

 private:
  struct watched {
    int number;
    std::string directory;
  };
  [[nodiscard]] std::vector<change> take_apart(std::span<const std::byte> records);

  file events_;
  bool in_use_ = false;
  std::vector<watched> all_;
};

}  // namespace gyre::fs
