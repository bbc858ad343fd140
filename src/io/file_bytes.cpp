// src/io/file_bytes.cpp: pread(2), preadv2(2), readlink(2), and whole small files.
#include <gyre/io/file_bytes.hpp>

#include <gyre/io/kernel.hpp>
#include <gyre/io/monotonic_clock.hpp>
#include <gyre/io/owned_fd.hpp>

#include <fcntl.h>
#include <poll.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace gyre::io {
namespace {

// Returns 0 when `file` is readable, or -errno.
int wait_for_bytes(int file, std::int64_t deadline) noexcept {
  pollfd asked{.fd = file, .events = POLLIN, .revents = 0};
  for (;;) {
    const std::int64_t left = deadline - monotonic_now();
    if (left <= 0) return -ETIMEDOUT;
    const int found = sockets().poll(&asked, 1, static_cast<int>(left / 1'000'000) + 1);
    if (found > 0) return 0;
    if (found < 0 && errno != EINTR) return -errno;
  }
}

}  // namespace

std::ptrdiff_t read_at(int file, void* into, std::size_t size, std::uint64_t offset) noexcept {
  ssize_t n = 0;
  do n = files().pread(file, into, size, static_cast<off_t>(offset));
  while (n < 0 && errno == EINTR);
  return n < 0 ? -errno : n;
}

std::ptrdiff_t read_cached(int file, void* into, std::size_t size, std::uint64_t offset) noexcept {
  const iovec buffer{.iov_base = into, .iov_len = size};
  return files().preadv2(file, &buffer, 1, static_cast<off_t>(offset), RWF_NOWAIT);
}

// O_NONBLOCK: to open a FIFO would wait for a writer.
int read_small_file(const std::string& path, std::size_t max_size, std::string& into) {
  constexpr std::int64_t time_of_a_pipe = 10'000'000'000;
  const owned_fd file(files().openat(AT_FDCWD, path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0));
  if (!file) return -errno;
  const std::int64_t deadline = monotonic_now() + time_of_a_pipe;
  std::array<char, 16'384> part;
  for (std::size_t size = 0;;) {
    const ssize_t n = files().read(file.get(), part.data(), part.size());
    if (n == 0) return 0;
    if (n > 0) {
      size += static_cast<std::size_t>(n);
      if (size > max_size) return -EFBIG;
      into.append(part.data(), static_cast<std::size_t>(n));
    } else if (errno == EAGAIN) {
      if (const int error = wait_for_bytes(file.get(), deadline); error != 0) return error;
    } else if (errno != EINTR) {
      return -errno;
    }
  }
}

std::string path_of_file(int file) {
  char path[512];
  const ssize_t size =
      files().readlinkat(AT_FDCWD, ("/proc/self/fd/" + std::to_string(file)).c_str(), path, sizeof(path));
  return size > 0 ? std::string(path, static_cast<std::size_t>(size)) : std::string();
}

}  // namespace gyre::io
