// gyre/http/shared_connection_count.hpp: counts the connections of several servers together.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/net/address.hpp>

#include <cstddef>

namespace gyre::http {

/// Servers that share one (server_options::counted_with), also on loops of several threads, apply
/// server_limits::connections and connections_per_address to all of them together.
///
/// Thread: any.
class GYRE_API shared_connection_count {
 public:
  shared_connection_count();
  ~shared_connection_count();
  shared_connection_count& operator=(shared_connection_count&&) = delete;

  /// Counts a connection. Returns false, without counting it, when there are `max_connections` already.
  [[nodiscard]] bool add(std::size_t max_connections) noexcept;
  void remove() noexcept;
  /// The number of connections.
  [[nodiscard]] std::size_t size() const noexcept;
  /// The same per IPv4 address, or per /64 network of IPv6. Also returns false when there is no memory to count it.
  [[nodiscard]] bool add(const address& peer, std::size_t max_connections) noexcept;
  void remove(const address& peer) noexcept;

 private:
  struct counts;
  counts* counts_;
};

}  // namespace gyre::http
