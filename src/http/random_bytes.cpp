// src/http/random_bytes.cpp: getrandom(2), and its fallback.
#include "random_bytes.hpp"

#include <gyre/io/owned_fd.hpp>

#include <fcntl.h>
#include <sys/random.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <system_error>

namespace gyre::http {

void fill_with_random(std::span<unsigned char> bytes) {
  owned_fd source;
  while (!bytes.empty()) {
    const ssize_t n =
        source ? ::read(source.get(), bytes.data(), bytes.size()) : ::getrandom(bytes.data(), bytes.size(), 0);
    if (n > 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(n));
      continue;
    }
    if (n < 0 && errno == EINTR) continue;
    const int error = n < 0 ? errno : EIO;
    if (!source)
      source = owned_fd(::open("/dev/urandom", O_RDONLY | O_CLOEXEC));
    else
      throw std::system_error(error, std::generic_category(), "/dev/urandom");
    if (!source) throw std::system_error(error, std::generic_category(), "getrandom");
  }
}

}  // namespace gyre::http
