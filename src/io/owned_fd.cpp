// src/io/owned_fd.cpp: closing and duplicating a descriptor, and opening a pair.
#include <gyre/io/io_error.hpp>
#include <gyre/io/kernel.hpp>
#include <gyre/io/owned_fd.hpp>
#include <gyre/io/pipe.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace gyre {

void owned_fd::close() noexcept {
  if (fd_ >= 0) io::files().close(std::exchange(fd_, -1));
}

owned_fd owned_fd::duplicate_of(int descriptor) noexcept {
  return owned_fd(io::files().fcntl(descriptor, F_DUPFD_CLOEXEC, 0));
}

pipe_descriptors open_pipe() {
  int ends[2];
  if (io::files().pipe2(ends, O_CLOEXEC) < 0) throw io_error({errno, std::generic_category()}, "open_pipe", {});
  return {owned_fd(ends[0]), owned_fd(ends[1])};
}

}  // namespace gyre
