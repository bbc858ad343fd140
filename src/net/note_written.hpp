// src/net/note_written.hpp: counts a successful write, and what it implies about reading.
#pragma once

#include <gyre/io/missed_end.hpp>
#include <gyre/net/socket_state.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace gyre {

// No conclusion for a Unix socket: it accepts bytes even if its peer has finished sending.
inline void note_written(socket_state& socket, std::size_t count) noexcept {
  constexpr std::size_t max_written = std::numeric_limits<std::uint32_t>::max();
  socket.written = static_cast<std::uint32_t>(std::min(socket.written + count, max_written));
  if (!socket.peer.empty()) io::end_was_not_missed(socket.received);
}

}  // namespace gyre
