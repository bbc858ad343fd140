// src/http/found_file.hpp: opens files below a directory, and no others.
#pragma once

#include <gyre/coro/task.hpp>
#include <gyre/http/http_date.hpp>
#include <gyre/http/precondition.hpp>
#include <gyre/io/owned_fd.hpp>

#include <cstdint>
#include <string>

struct stat;

namespace gyre::http {

struct found_file {
  enum class kind : std::uint8_t { regular, directory, other };
  int error = 0;  // errno; if 0, the other members are valid
  kind what = kind::other;
  owned_fd descriptor = {};
  file_version version = {};
  unix_seconds modified = 0;
};

[[nodiscard]] file_version version_of(const struct stat& status) noexcept;

/// Opens `path`, which is relative and not empty, below the directory `root`. A link or ".." that leads out of `root`
/// is not found. Does not wait when the kernel has the path cached; otherwise a thread opens it.
task<found_file> find_below(int root, std::string path);
/// Looks up `path` below `root` as find_below does, but does not open it. May wait for
/// the disk, so call it on a thread.
[[nodiscard]] found_file look_below(int root, const std::string& path) noexcept;
/// Opens any path of the file system.
task<found_file> find_anywhere(std::string path);

}  // namespace gyre::http
