// tests/http/memory_file.hpp: files in memory.
#pragma once

#include <gyre/fs/file.hpp>

#include <gtest/gtest.h>

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <string_view>

namespace gyre_test {

/// The descriptor of a file of `size` bytes that begins with `text`.
inline int memory_file(std::string_view text, std::size_t size) {
  const int fd = ::memfd_create("body", MFD_CLOEXEC);
  EXPECT_EQ(::write(fd, text.data(), text.size()), static_cast<ssize_t>(text.size()));
  EXPECT_EQ(::ftruncate(fd, static_cast<off_t>(size)), 0);
  return fd;
}
inline gyre::fs::file file_of(std::string_view text) {
  return gyre::fs::file::from_fd(memory_file(text, text.size()), "body");
}

}  // namespace gyre_test
