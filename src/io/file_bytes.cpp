// src/io/file_bytes.cpp: pread(2), preadv2(2), readlink(2).
#include <gyre/io/file_bytes.hpp>

#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>

namespace gyre::io {

std::ptrdiff_t read_at(int file, void* into, std::size_t size, std::uint64_t offset) noexcept {
  ssize_t n = 0;
  do n = ::pread(file, into, size, static_cast<off_t>(offset));
  while (n < 0 && errno == EINTR);
  return n < 0 ? -errno : n;
}

std::ptrdiff_t read_cached(int file, void* into, std::size_t size, std::uint64_t offset) noexcept {
  const iovec buffer{.iov_base = into, .iov_len = size};
  return ::preadv2(file, &buffer, 1, static_cast<off_t>(offset), RWF_NOWAIT);
}

std::string path_of_file(int file) {
  char path[512];
  const ssize_t size = ::readlink(("/proc/self/fd/" + std::to_string(file)).c_str(), path, sizeof(path));
  return size > 0 ? std::string(path, static_cast<std::size_t>(size)) : std::string();
}

}  // namespace gyre::io
