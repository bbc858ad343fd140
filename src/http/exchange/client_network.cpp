// src/http/exchange/client_network.cpp: networks of clients. RFC 1918, RFC 6598, RFC 3927, RFC 4193, RFC 4291.
#include "client_network.hpp"

#include <array>

namespace gyre::http {
namespace {

constexpr std::uint64_t mapped_v4 = std::uint64_t{0xffff} << 32U;  // the lower half of ::ffff:0.0.0.0

struct range {
  std::uint32_t first;
  unsigned bits;
};
constexpr std::array<range, 6> not_of_internet_v4 = {{{0x0A00'0000, 8},    // 10.0.0.0/8
                                                      {0xAC10'0000, 12},   // 172.16.0.0/12
                                                      {0xC0A8'0000, 16},   // 192.168.0.0/16
                                                      {0x6440'0000, 10},   // 100.64.0.0/10
                                                      {0xA9FE'0000, 16},   // 169.254.0.0/16
                                                      {0x7F00'0000, 8}}};  // 127.0.0.0/8

bool is_of_internet_v4(std::uint32_t host) noexcept {
  for (const range& each : not_of_internet_v4)
    if ((host ^ each.first) >> (32U - each.bits) == 0) return false;
  return true;
}

// The bytes of the address as two numbers, most significant byte first.
client_network all_bits_of(const address& peer) noexcept {
  const std::array<std::uint8_t, 16> bytes = peer.bytes_v6();
  client_network all;
  for (std::size_t i = 0; i < 8; ++i) {
    all.high = all.high << 8U | bytes[i];
    all.low = all.low << 8U | bytes[i + 8];
  }
  return all;
}

}  // namespace

bool is_v4(const client_network& all) noexcept { return all.high == 0 && all.low >> 32U == mapped_v4 >> 32U; }

client_network network_of(const address& peer) noexcept {
  client_network all = all_bits_of(peer);
  if (!is_v4(all)) all.low = 0;
  return all;
}

bool is_of_internet(const address& peer) noexcept {
  if (peer.empty()) return false;
  const client_network all = all_bits_of(peer);
  if (is_v4(all)) return is_of_internet_v4(static_cast<std::uint32_t>(all.low));
  const bool loopback = all.high == 0 && all.low == 1;
  const bool unique_local = all.high >> 57U == 0xFC >> 1U;  // fc00::/7
  const bool link_local = all.high >> 54U == 0xFE80 >> 6U;  // fe80::/10
  return !loopback && !unique_local && !link_local;
}

}  // namespace gyre::http
