// src/net/reset_and_close.hpp: the end of a connection that was accepted and not served.
#pragma once

#include <sys/socket.h>
#include <unistd.h>

namespace gyre {

/// The client must not mistake the end for that of an empty answer. A Unix socket has no reset.
inline void reset_and_close(int connection) noexcept {
  const linger at_once{.l_onoff = 1, .l_linger = 0};
  ::setsockopt(connection, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
  ::close(connection);
}

}  // namespace gyre
