// src/http/server/socket_activity.hpp: what a connection over a socket has besides its idle state.
#pragma once

#include "socket_connection.hpp"
#include "spoken_connection.hpp"
#include "transport/busy_sessions.hpp"
#include "transport/handshakes.hpp"
#include "transport/secure_transport.hpp"
#include "transport/socket_transport.hpp"

#include <cstddef>
#include <cstdint>

namespace gyre::http {

// From the arrival of bytes to the end of their answers.
struct socket_connection::activity {
  explicit activity(socket_connection& self) noexcept
      : carrier(self.peer_, self.encrypted_ ? 0 : self.taken_by_peer_),
        client(protocol_of(self), self.server_, carrier_of(self), self.peer_.socket().peer, self.requests_) {}
  static void* operator new(std::size_t size) { return frame_pool::allocate(size); }
  static void operator delete(void* memory, std::size_t size) noexcept { frame_pool::deallocate(memory, size); }

  transport& carrier_of(socket_connection& self) noexcept;
  static std::uint8_t protocol_of(const socket_connection& self) noexcept;

  socket_transport carrier;  // of plain text
  spoken_connection client;
  bool goes_on = false;  // set by the coroutine: the connection continues after it
};

// The additional state of an encrypted connection. Lives as long as it.
struct socket_connection::encryption : handshakes::entry, busy_sessions::entry {
  explicit encryption(socket_connection& self) noexcept
      : connection(self), carrier(self.server_.encryption, self.peer_) {
    step = [](handshakes::entry& e) noexcept { static_cast<encryption&>(e).connection.serve_arrived_encrypted(); };
    give_up = [](handshakes::entry& e) noexcept {
      auto& all = static_cast<encryption&>(e);
      all.given_up = true;
      if (all.connection.is_idle()) cancel_idle(all.connection);
    };
    keep_buffers = [](busy_sessions::entry& e, bool keep) noexcept {
      static_cast<encryption&>(e).carrier.keep_buffers(keep);
    };
  }

  socket_connection& connection;
  secure_transport carrier;
  std::uint8_t protocol = 0;  // since the end of the handshake
  bool given_up = false;
};

inline transport& socket_connection::activity::carrier_of(socket_connection& self) noexcept {
  if (self.encrypted_) return self.encryption_->carrier;
  return carrier;
}

inline std::uint8_t socket_connection::activity::protocol_of(const socket_connection& self) noexcept {
  return self.encrypted_ ? self.encryption_->protocol : chosen_protocol(nullptr);
}

}  // namespace gyre::http
