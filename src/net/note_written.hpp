// src/net/note_written.hpp: counts a successful write, and what it implies about reading.
#pragma once

#include <gyre/io/missed_end.hpp>
#include <gyre/net/socket_state.hpp>

#include <sys/socket.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace gyre {

// No conclusion in two cases: a Unix socket accepts bytes even if its peer has finished sending, and so does any socket
// after this side has finished reading.
inline void note_written(socket_state& socket, std::size_t count) noexcept {
  constexpr std::size_t most = std::numeric_limits<std::uint32_t>::max();
  socket.written = static_cast<std::uint32_t>(std::min(socket.written + count, most));
  if (!socket.peer.empty() && !socket.descriptor().hangup) io::end_was_not_missed(socket.received);
}

inline void finish_reading(socket_state& socket) noexcept {
  ::shutdown(socket.fd, SHUT_RD);
  socket.descriptor().hangup = true;
}

}  // namespace gyre
