// src/http/found_file.hpp: opening what is below a directory, and nothing else.
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
  int error = 0;  // errno; else the rest holds
  kind what = kind::other;
  owned_fd descriptor = {};
  file_version version = {};
  unix_seconds modified = 0;
};

[[nodiscard]] file_version version_of(const struct stat& status) noexcept;

/// Opens `path`, which is relative and not empty, below the directory `root`: what leads out of it, as a link or by "..", is
/// not found. Does not wait where the kernel knows the way; asks a thread else.
task<found_file> find_below(int root, std::string path);
/// What is at `path` below `root`, as find_below would open it, without opening it. May wait for the disk: for threads.
[[nodiscard]] found_file look_below(int root, const std::string& path) noexcept;
/// Any path of the file system.
task<found_file> find_anywhere(std::string path);

}  // namespace gyre::http
