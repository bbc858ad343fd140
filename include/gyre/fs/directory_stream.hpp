// gyre/fs/directory_stream.hpp: reads a directory by blocking calls. For code on threads; tasks use fs::directory.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/fs/status.hpp>
#include <gyre/io/owned_fd.hpp>

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace gyre::fs {

/// The entries of an open directory one by one, without "." and "..". getdents64(2). Thread: any, one at a time.
class GYRE_API directory_stream {
 public:
  /// Opens `directory` again: duplicated descriptors would share their position in it.
  /// Errors: io_error "list the directory".
  explicit directory_stream(int directory);
  directory_stream& operator=(directory_stream&&) = delete;

  /// Goes to the next entry. Returns its name, or null at the end. The functions below are about this entry.
  /// Lifetime: until the next call. Errors: same as the constructor.
  [[nodiscard]] const char* next();
  /// The kind of file: symlink for a link; unknown if the file system does not report it.
  [[nodiscard]] file_kind kind() const noexcept { return kind_; }
  /// The facts of the file, or of the link. Nothing if it cannot be looked at. May wait for the disk.
  [[nodiscard]] std::optional<file_facts> facts() const noexcept;

 private:
  owned_fd open_;
  std::vector<std::byte> buffer_;
  std::span<const std::byte> rest_;  // of the entries in the buffer
  const char* name_ = nullptr;
  file_kind kind_ = file_kind::unknown;
};

}  // namespace gyre::fs
