// gyre/http/shared_connection_count.hpp: the connections of several servers, counted together.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/net/address.hpp>

#include <cstddef>

namespace gyre::http {

/// Servers on loops of several threads that are given the same one (server_options::counted_with) keep
/// server_limits::connections and connections_per_address together, and not each for itself.
///
/// Thread: any.
class GYRE_API shared_connection_count {
 public:
  shared_connection_count();
  ~shared_connection_count();
  shared_connection_count(const shared_connection_count&) = delete;
  shared_connection_count& operator=(const shared_connection_count&) = delete;

  /// Counts a connection. False: there are `at_most` already, and it is not counted.
  [[nodiscard]] bool add(std::size_t at_most) noexcept;
  void remove() noexcept;
  /// The same for those of one IPv4 address, or of one /64 network of IPv6. False also when there is no memory to count it.
  [[nodiscard]] bool add(const address& peer, std::size_t at_most) noexcept;
  void remove(const address& peer) noexcept;

 private:
  struct counts;
  counts* counts_;
};

}  // namespace gyre::http
