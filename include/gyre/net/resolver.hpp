// gyre/net/resolver.hpp: from a name to addresses, without blocking the loop.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/coro/task.hpp>
#include <gyre/net/address.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace gyre {

/// Codes of getaddrinfo(3): "Name or service not known".
GYRE_API const std::error_category& resolver_category() noexcept;

/// What a lookup gives: addresses, or an error.
struct lookup_result {
  std::vector<address> addresses;
  std::error_code error;
};

struct resolve_options {
  /// Does the lookup, on a thread of the pool: getaddrinfo(3) unless a test or a program brings its own.
  lookup_result (*lookup)(const std::string& host) = nullptr;
};

/// Gives the addresses of a host, at least one, in the order in which they should be tried. A numeric address is
/// answered at once; a name is looked up on a thread of io::blocking_pool.
///
/// Cancel: does not wait for the lookup, which goes on in its thread and whose result is dropped.
/// Errors: io_error "resolve example.invalid: Name or service not known".
[[nodiscard]] task<std::vector<address>> resolve(std::string host, std::uint16_t port, resolve_options options = {});

/// The same for "host:port", "[::1]:port".
/// Cancel: as above. Errors: as above, and std::errc::invalid_argument when it is not of that form.
[[nodiscard]] GYRE_CORO_WRAPPER task<std::vector<address>> resolve(std::string_view host_and_port,
                                                                   resolve_options options = {});

}  // namespace gyre
