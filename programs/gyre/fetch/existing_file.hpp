// programs/gyre/fetch/existing_file.hpp: what is at the path of a download, and how it may be written.
#pragma once

#include <gyre/coro/task.hpp>
#include <gyre/fs/file.hpp>

#include <sys/types.h>

#include <cstdint>
#include <string>

namespace programs {

struct existing_file {
  enum class kind : std::uint8_t {
    absent,
    own,    ///< an ordinary file: another one with the same owner, group and mode may take its name
    other,  ///< written where it is, as curl does: links, devices, pipes, files with other owners or several names
  };
  kind what = kind::absent;
  mode_t mode = 0666;  ///< of a file of its own
};

/// Looks at `path`. Does not wait, except for the disk.
[[nodiscard]] existing_file look_at(const std::string& path) noexcept;

/// Opens `path` and empties it, and follows links. A FIFO without a reader is waited for, at most 10 s. Creates a file
/// where a link leads nowhere.
///
/// Cancel: not opened, but a file may have been emptied. Errors: io_error.
[[nodiscard]] gyre::task<gyre::fs::file> open_in_place(const std::string& path);

}  // namespace programs
