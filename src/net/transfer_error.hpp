// src/net/transfer_error.hpp: reports the outcome of a read or a write on a connected socket.
#pragma once

#include <gyre/io/io_error.hpp>
#include <gyre/net/socket_state.hpp>

#include <cstddef>
#include <string>
#include <system_error>
#include <utility>

namespace gyre {

[[noreturn]] inline void throw_transfer_error(std::error_code reason, const char* operation, const socket_state& socket,
                                              std::size_t done) {
  const std::string peer = socket.peer_name();
  if (done > 0 || reason == stream_errc::end_of_stream) throw incomplete_transfer(reason, operation, peer, done);
  throw io_error(reason, operation, peer);
}

}  // namespace gyre
