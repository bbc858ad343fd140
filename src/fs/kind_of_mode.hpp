// src/fs/kind_of_mode.hpp: reads what the kernel says about a file.
#pragma once

#include <gyre/fs/status.hpp>

#include <sys/stat.h>

namespace gyre::fs {

inline file_kind kind_of_mode(unsigned mode) noexcept {
  switch (mode & unsigned{S_IFMT}) {
    case S_IFREG:
      return file_kind::regular;
    case S_IFDIR:
      return file_kind::directory;
    case S_IFLNK:
      return file_kind::symlink;
    case S_IFIFO:
      return file_kind::pipe;
    case S_IFSOCK:
      return file_kind::socket;
    case S_IFCHR:
      return file_kind::character_device;
    case S_IFBLK:
      return file_kind::block_device;
    default:
      return file_kind::unknown;
  }
}

inline file_facts facts_of_status(const struct stat& found) noexcept {
  return {.kind = kind_of_mode(found.st_mode),
          .size = static_cast<std::uint64_t>(found.st_size),
          .modified = found.st_mtim.tv_sec,
          .modified_ns = found.st_mtim.tv_sec * 1'000'000'000 + found.st_mtim.tv_nsec,
          .inode = found.st_ino,
          .links = found.st_nlink,
          .device = found.st_dev};
}

}  // namespace gyre::fs
