// src/io/doorbell.hpp: waking a thread that watches an eventfd.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <cstdint>

namespace gyre::io {

/// Each call rings anew, whether somebody reads or not. Thread: any, and signal handlers; leaves errno as it was.
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
