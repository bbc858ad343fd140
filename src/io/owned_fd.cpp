// src/io/owned_fd.cpp: closing a descriptor.
#include <gyre/io/owned_fd.hpp>

#include <unistd.h>

namespace gyre {

void owned_fd::close() noexcept {
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

}  // namespace gyre
