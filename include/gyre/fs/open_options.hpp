// gyre/fs/open_options.hpp: how a file is opened.
#pragma once

#include <cstdint>

namespace gyre::fs {

/// What is wanted of a file: `{.write = true, .create = true}`. See open(2).
struct open_options {
  bool read = false;
  bool write = false;
  bool create = false;     ///< makes it when it is not there; needs write
  bool truncate = false;   ///< empties it; needs write
  bool append = false;     ///< every write goes to what is the end then, also those at an offset; includes write
  bool exclusive = false;  ///< fails when it is there already, as a symbolic link too; needs create
  bool directory = false;  ///< fails when it is no directory

  std::uint32_t permissions = 0666;  ///< of a file that is made, less the umask of the process
};

inline constexpr open_options for_reading{.read = true};
/// Replaces what is there.
inline constexpr open_options for_writing{.write = true, .create = true, .truncate = true};
inline constexpr open_options for_appending{.write = true, .create = true, .append = true};

}  // namespace gyre::fs
