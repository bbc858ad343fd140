// src/http/server/counted_connection.hpp: the place of a connection under the limits of its server.
#pragma once

#include <gyre/net/address.hpp>

#include "exchange/client_network.hpp"
#include "server_state.hpp"

#include <cstddef>

namespace gyre::http {

/// Counts a connection for the server and for its address, from take() to give_back().
class connection_place {
 public:
  /// Returns false when there are too many. To be called once.
  [[nodiscard]] bool take(const server_state& server, const address& peer) noexcept {
    const server_limits& limits = server.app.options.limits;
    const std::size_t of_peer = limit_of(peer, limits);
    by_peer_ = of_peer < limits.connections;
    if (by_peer_ && !server.count.add(peer, of_peer)) return false;
    taken_ = server.count.add(limits.connections);
    if (!taken_ && by_peer_) server.count.remove(peer);
    return taken_;
  }
  /// No-op when take() was not called, or returned false.
  void give_back(const server_state& server, const address& peer) noexcept {
    if (!taken_) return;
    taken_ = false;
    server.count.remove();
    if (by_peer_) server.count.remove(peer);
  }

 private:
  static std::size_t limit_of(const address& peer, const server_limits& limits) noexcept {
    if (peer.empty()) return limits.connections;
    if (limits.connections_per_address) return *limits.connections_per_address;
    return is_of_internet(peer) ? server_limits::default_connections_per_address : limits.connections;
  }

  bool by_peer_ : 1 = false;
  bool taken_ : 1 = false;
};

/// Counts a connection as long as this lives.
class counted_connection {
 public:
  /// Lifetime: both must outlive this.
  counted_connection(const server_state& server, const address& peer) noexcept
      : server_(server), peer_(peer), taken_(place_.take(server, peer)) {}
  counted_connection& operator=(counted_connection&&) = delete;
  ~counted_connection() { place_.give_back(server_, peer_); }
  /// False when there are too many.
  [[nodiscard]] bool taken() const noexcept { return taken_; }

 private:
  const server_state& server_;
  const address& peer_;
  connection_place place_;
  const bool taken_;
};

}  // namespace gyre::http
