// tests/fs/scratch.hpp: a directory that is removed after the test, and access to files without the library.
#pragma once

#include <gyre/gyre.hpp>

#include "tests/net/connected_pair.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace gyre_test {

class scratch {
 public:
  scratch() {
    std::string name = (std::filesystem::temp_directory_path() / "gyre_fs_XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp");
    root_ = name;
  }
  scratch(const scratch&) = delete;
  scratch& operator=(const scratch&) = delete;
  ~scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(root_, ignored);
  }

  [[nodiscard]] std::string path(const std::string& name) const { return root_ + "/" + name; }
  [[nodiscard]] const std::string& root() const noexcept { return root_; }

  /// Creates a file.
  std::string put(const std::string& name, std::string_view text) const {
    std::ofstream(path(name), std::ios::binary) << text;
    return path(name);
  }
  [[nodiscard]] std::string get(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream(path(name), std::ios::binary).rdbuf();
    return std::move(text).str();
  }
  [[nodiscard]] bool has(const std::string& name) const { return std::filesystem::exists(path(name)); }
  [[nodiscard]] std::size_t entries() const {
    std::size_t count = 0;
    for ([[maybe_unused]] const auto& each : std::filesystem::directory_iterator(root_)) ++count;
    return count;
  }

 private:
  std::string root_;
};

/// Drops a file from the page cache, so that a read has to wait for the disk.
inline void forget_cached(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  ::fsync(fd);
  ::posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
  ::close(fd);
}

/// Both ends of a pipe as files.
struct file_pair {
  gyre::fs::file reader;
  gyre::fs::file writer;
};
inline file_pair make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) < 0) throw std::runtime_error("pipe2");
  return {gyre::fs::file::from_fd(ends[0], "pipe"), gyre::fs::file::from_fd(ends[1], "pipe")};
}

}  // namespace gyre_test
