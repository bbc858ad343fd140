// src/net/note_written.hpp: what a write that went well says about reading.
#pragma once

#include <gyre/io/missed_end.hpp>
#include <gyre/net/stream_socket.hpp>

namespace gyre {

// A Unix socket takes bytes also when its peer has finished sending.
inline void note_written(stream_socket& socket) noexcept {
  if (!socket.peer.empty()) io::end_was_not_missed(socket.received);
}

}  // namespace gyre
