// src/http/exchange/client_network.hpp: the unit in which connections are counted: an IPv4 address, or an IPv6 /64.
#pragma once

#include <gyre/net/address.hpp>

#include <cstdint>

namespace gyre::http {

/// IPv4: the whole address, also when it is an IPv4-mapped IPv6 address. IPv6: the first 64 bits;
/// one household has the whole /64.
struct client_network {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  friend bool operator==(const client_network&, const client_network&) noexcept = default;
};

/// `peer` must not be empty.
[[nodiscard]] client_network network_of(const address& peer) noexcept;

/// True for an IPv4 address, also when it is IPv4-mapped.
[[nodiscard]] bool is_v4(const client_network& all) noexcept;

/// False for addresses that no client on the internet has: loopback, private, shared and link-local ones. A reverse
/// proxy, a container's gateway or a benchmark has such an address and speaks for many clients.
[[nodiscard]] bool is_of_internet(const address& peer) noexcept;

}  // namespace gyre::http
