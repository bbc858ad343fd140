// gyre/net/host_port.hpp: splits the text "host:port", for numeric hosts and names.
#pragma once

#include <gyre/attributes.hpp>

#include <cstdint>
#include <expected>
#include <string_view>
#include <system_error>

namespace gyre {

/// The text before and after the last colon. The host may be empty, "*", a name, or an IP address.
///
/// Lifetime: `host` points into the text that was parsed.
struct host_port {
  std::string_view host;  ///< without the brackets of "[::1]"
  std::uint16_t port = 0;

  /// Splits "name:80", "127.0.0.1:80", "[::1]:80", ":80". Strict: an IPv6 address is in brackets and nothing else is,
  /// a host has no spaces, control characters, slashes or '@', and a port is a number from 0 to 65535 without sign or
  /// leading zeros. Errors: std::errc::invalid_argument.
  [[nodiscard]] GYRE_API static std::expected<host_port, std::error_code> parse(
      std::string_view text GYRE_LIFETIMEBOUND) noexcept;
};

}  // namespace gyre
