// gyre/fs/open_options.hpp: options for opening a file.
#pragma once

#include <cstdint>

namespace gyre::fs {

/// How to open a file: `{.write = true, .create = true}`. See open(2).
struct open_options {
  bool read = false;
  bool write = false;
  bool create = false;     ///< creates the file if it does not exist; needs write
  bool truncate = false;   ///< empties the file; needs write
  bool append = false;     ///< every write goes to the current end, even one at an offset; includes write
  bool exclusive = false;  ///< fails if the path exists, even as a symbolic link; needs create
  bool directory = false;  ///< fails if the path is not a directory

  std::uint32_t permissions = 0666;  ///< for a new file, less the umask of the process
};

inline constexpr open_options for_reading{.read = true};
/// Replaces the existing contents.
inline constexpr open_options for_writing{.write = true, .create = true, .truncate = true};
inline constexpr open_options for_appending{.write = true, .create = true, .append = true};

}  // namespace gyre::fs
