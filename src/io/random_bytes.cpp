// src/io/random_bytes.cpp: getrandom(2), and its fallback.
#include <gyre/io/kernel.hpp>
#include <gyre/io/owned_fd.hpp>
#include <gyre/io/random_bytes.hpp>

#include <fcntl.h>
#include <sys/random.h>
#include <unistd.h>

#include <cerrno>
#include <span>
#include <system_error>

namespace gyre::io {
namespace {

void fill_with_random(std::span<unsigned char> bytes) {
  owned_fd source;
  while (!bytes.empty()) {
    const ssize_t n = source ? files().read(source.get(), bytes.data(), bytes.size())
                             : kernel::here().getrandom(bytes.data(), bytes.size(), 0);
    if (n > 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(n));
      continue;
    }
    if (n < 0 && errno == EINTR) continue;
    const int error = n < 0 ? errno : EIO;
    if (!source)
      source = owned_fd(files().openat(AT_FDCWD, "/dev/urandom", O_RDONLY | O_CLOEXEC, 0));
    else
      throw std::system_error(error, std::generic_category(), "/dev/urandom");
    if (!source) throw std::system_error(error, std::generic_category(), "getrandom");
  }
}

}  // namespace

// The second half holds the bytes: each is read before digits take its place.
std::string random_hex(std::size_t bytes) {
  std::string text(2 * bytes, '\0');
  auto* const raw = reinterpret_cast<unsigned char*>(text.data()) + bytes;
  fill_with_random({raw, bytes});
  for (std::size_t i = 0; i < bytes; ++i) {
    const unsigned byte = raw[i];
    text[2 * i] = "0123456789abcdef"[byte >> 4U];
    text[2 * i + 1] = "0123456789abcdef"[byte & 15U];
  }
  return text;
}

std::uint64_t random_secret() noexcept {
  std::uint64_t secret = 0;
  (void)kernel::here().getrandom(&secret, sizeof(secret), GRND_NONBLOCK);
  return secret;
}

}  // namespace gyre::io
