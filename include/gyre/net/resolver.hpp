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

/// Codes of getaddrinfo(3): "Name or service not known". EAI_AGAIN, the failure that may pass, equals
/// std::errc::resource_unavailable_try_again.
GYRE_API const std::error_category& resolver_category() noexcept;

/// What a lookup gives: addresses, whose ports do not matter, or an error.
struct lookup_result {
  std::vector<address> addresses;
  std::error_code error;
};

struct resolve_options {
  /// Does the lookup, on a thread of the pool: getaddrinfo(3) unless a test or a program brings its own. What it
  /// throws arrives where the lookup is awaited. It may still run when the loop, or main, has ended.
  lookup_result (*lookup)(const std::string& host) = nullptr;
};

/// Gives the addresses of a host, at least one and none twice, in the order in which they should be tried. A numeric
/// address ("127.0.0.1", "::1") is answered at once; a name is looked up on a thread of io::blocking_pool.
///
/// Lifetime: the text is copied in this call.
/// Cancel:   does not wait for the lookup, which goes on in its thread and whose result is dropped. Neither does the
///           end of the loop. A result that had come before the cancel wins over it.
/// Errors:   io_error "resolve example.invalid: Name or service not known"; std::errc::invalid_argument for what can
///           be no host. See getaddrinfo(3).
[[nodiscard]] GYRE_API GYRE_CORO_WRAPPER task<std::vector<address>> resolve(std::string_view host, std::uint16_t port,
                                                                            resolve_options options = {});

/// The same for "host:port", "[::1]:port".
///
/// Cancel: as above. Errors: as above, and std::errc::invalid_argument for what is not of that form.
[[nodiscard]] GYRE_API GYRE_CORO_WRAPPER task<std::vector<address>> resolve(std::string_view host_and_port,
                                                                            resolve_options options = {});

}  // namespace gyre
