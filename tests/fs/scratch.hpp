// tests/fs/scratch.hpp: a directory that is removed after the test, and access to files without the library.
#pragma once

#include <gyre/gyre.hpp>

#include "tests/net/connected_pair.hpp"
#include "tests/support/expect_error.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <source_location>
#include <span>
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

/// Runs a test body with a scratch directory of its own.
inline void run_in_scratch(body_ref<const scratch&> body) {
  const scratch dir;
  run_test([&]() -> gyre::task<> { co_await body(dir); });
}

/// Drops a file from the page cache, so that a read has to wait for the disk.
inline void forget_cached(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  ::fsync(fd);
  ::posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
  ::close(fd);
}

inline constexpr gyre::fs::open_options for_both{.read = true, .write = true, .create = true};

/// Opens a file with this text for reading and writing.
inline gyre::task<gyre::fs::file> open_with(const scratch& dir, std::string text) {
  const std::string path = dir.put("a", text);
  co_return co_await gyre::fs::file::open(path, for_both);
}

/// Expects that one read of at most `room` bytes gives this text.
inline gyre::task<> expect_read(gyre::fs::file& from, std::string expected, std::size_t room = 100,
                                std::source_location where = std::source_location::current()) {
  std::string text(room, '\0');
  const std::size_t n = co_await from.read_some(std::span<char>(text));
  EXPECT_EQ(text.substr(0, n), expected) << where.file_name() << ":" << where.line();
}
/// The same from an offset on.
inline gyre::task<> expect_read_at(gyre::fs::file& from, std::uint64_t offset, std::string expected,
                                   std::size_t room = 100,
                                   std::source_location where = std::source_location::current()) {
  std::string text(room, '\0');
  const std::size_t n = co_await from.read_at(std::span<char>(text), offset);
  EXPECT_EQ(text.substr(0, n), expected) << where.file_name() << ":" << where.line();
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
