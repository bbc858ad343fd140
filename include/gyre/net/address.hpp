// gyre/net/address.hpp: an IP address with a port.
#pragma once

#include <gyre/attributes.hpp>

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <system_error>

namespace gyre {

/// An IPv4 or IPv6 endpoint for sockets: address, port, and for IPv6 the scope (the interface of a link-local address).
/// Empty by default, without a family. Ordered by family, then address, then scope, then port.
class GYRE_API address {
 public:
  address() noexcept = default;

  /// Parses "127.0.0.1:80", "[::1]:80", "[fe80::1%eth0]:80"; ":80" and "*:80" mean every IPv4 address of the machine.
  /// Strict: a name is not an address (see resolve), and no other text may surround the address.
  /// Errors: std::errc::invalid_argument.
  [[nodiscard]] static std::expected<address, std::error_code> parse(std::string_view host_and_port) noexcept;

  /// The same with a separate host, without brackets: "127.0.0.1", "::1", "fe80::1%eth0", "*".
  /// Errors: std::errc::invalid_argument.
  [[nodiscard]] static std::expected<address, std::error_code> parse(std::string_view host,
                                                                     std::uint16_t port) noexcept;

  /// Same as parse. Errors: io_error `address "foo": expected HOST:PORT …`.
  explicit address(std::string_view host_and_port);

  [[nodiscard]] static address loopback_v4(std::uint16_t port) noexcept;
  [[nodiscard]] static address loopback_v6(std::uint16_t port) noexcept;
  [[nodiscard]] static address any_v4(std::uint16_t port) noexcept;
  [[nodiscard]] static address any_v6(std::uint16_t port) noexcept;

  [[nodiscard]] bool is_v4() const noexcept;
  [[nodiscard]] bool is_v6() const noexcept;
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] std::uint16_t port() const noexcept;
  /// The same host with another port; an empty address stays empty.
  [[nodiscard]] address with_port(std::uint16_t port) const noexcept;
  /// The host as the bytes of an IPv6 address: "::ffff:127.0.0.1" for IPv4, "::" when empty.
  [[nodiscard]] std::array<std::uint8_t, 16> bytes_v6() const noexcept;
  /// The same with only the first `bytes` bytes of an IPv6 host, at most 16; the others are zero. Same as *this for
  /// IPv4.
  [[nodiscard]] address network_v6(std::size_t bytes) const noexcept;
  /// The IPv4 address of an IPv4-mapped IPv6 address ("::ffff:127.0.0.1", RFC 4291 §2.5.5.2). Same as *this for others.
  [[nodiscard]] address unmapped() const noexcept;
  /// The index of the interface that an IPv6 address belongs to; 0 means none.
  [[nodiscard]] std::uint32_t scope_id() const noexcept;

  /// "127.0.0.1", "::1", "fe80::1%eth0"; "" when empty.
  [[nodiscard]] std::string host() const;
  /// "127.0.0.1:80", "[::1]:80"; "" when empty.
  [[nodiscard]] std::string string() const;

  friend bool operator==(const address& a, const address& b) noexcept { return compare(a, b) == 0; }
  friend std::strong_ordering operator<=>(const address& a, const address& b) noexcept { return compare(a, b) <=> 0; }

  // For authors: a struct sockaddr_in or sockaddr_in6. Any other address becomes empty. Padding and flow information
  // are not kept, so that equal addresses have equal bytes.
  [[nodiscard]] const void* data() const noexcept { return raw_; }
  [[nodiscard]] std::uint32_t size() const noexcept { return size_; }
  [[nodiscard]] static address from_raw(const void* socket_address, std::uint32_t size) noexcept;

 private:
  static int compare(const address& a, const address& b) noexcept;

  alignas(4) std::byte raw_[28] = {};
  std::uint32_t size_ = 0;
};

}  // namespace gyre
