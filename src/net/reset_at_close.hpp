// src/net/reset_at_close.hpp: makes close(2) reset a TCP connection, see SO_LINGER in socket(7).
#pragma once

#include <gyre/io/kernel.hpp>

#include <sys/socket.h>

namespace gyre {

/// Returns 0, or -1 with errno.
inline int reset_at_close(int connection, bool on = true) noexcept {
  const linger value{.l_onoff = on ? 1 : 0, .l_linger = 0};
  return io::sockets().setsockopt(connection, SOL_SOCKET, SO_LINGER, &value, sizeof(value));
}

/// For a connection that was accepted and not served: the client must not mistake its end for that of an empty answer.
inline void reset_and_close(int connection) noexcept {
  (void)reset_at_close(connection);
  io::files().close(connection);
}

}  // namespace gyre
