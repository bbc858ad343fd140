// src/io/doorbell.hpp: waking a thread that watches an eventfd.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <cstdint>

namespace gyre::io {

/// Every call rings anew, even if nobody has read the eventfd. Thread: any, and signal handlers; preserves errno.
inline void ring_doorbell(int eventfd) noexcept {
  const std::uint64_t one = 1;
  const int saved = errno;
  if (::write(eventfd, &one, sizeof(one)) < 0 && errno == EAGAIN) {  // the counter is full, and a read makes room
    std::uint64_t value = 0;
    (void)!::read(eventfd, &value, sizeof(value));
    (void)!::write(eventfd, &one, sizeof(one));
  }
  errno = saved;
}

}  // namespace gyre::io
