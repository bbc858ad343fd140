// gyre/net/resolver.hpp: resolves a name to addresses without blocking the loop.
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

/// The category of getaddrinfo(3) codes: "Name or service not known". EAI_AGAIN, a temporary failure, equals
/// std::errc::resource_unavailable_try_again.
GYRE_API const std::error_category& resolver_category() noexcept;

/// The result of a lookup: addresses, whose ports are ignored, or an error.
struct lookup_result {
  std::vector<address> addresses;
  std::error_code error;
};

struct resolve_options {
  /// Does the lookup, on a thread of the pool. Defaults to getaddrinfo(3); a test or a program may bring its own. Its
  /// exceptions arrive where the lookup is awaited. It may still run when the loop, or main, has ended.
  lookup_result (*lookup)(const std::string& host) = nullptr;
};

/// Returns the addresses of a host, at least one and none twice, in the order in which they should be tried. A numeric
/// address ("127.0.0.1", "::1") is returned at once; a name is looked up on a thread of io::blocking_pool. If
/// getaddrinfo(3) does not know "localhost", or a name below it, the result is the loopback addresses (RFC 6761).
///
/// Lifetime: the text is copied in this call.
/// Cancel: does not wait for the lookup, which continues in its thread and whose result is dropped. Nor does the end of
/// the loop wait for it. A result that came before the cancel wins over it.
/// Errors: io_error "resolve example.invalid: Name or service not known"; std::errc::invalid_argument for an invalid
/// host. See getaddrinfo(3).
[[nodiscard]] GYRE_API GYRE_CORO_WRAPPER task<std::vector<address>> resolve(std::string_view host, std::uint16_t port,
                                                                            resolve_options options = {});

/// The same for "host:port", "[::1]:port".
///
/// Cancel: same as above. Errors: same as above; std::errc::invalid_argument for text that does not have this form.
[[nodiscard]] GYRE_API GYRE_CORO_WRAPPER task<std::vector<address>> resolve(std::string_view host_and_port,
                                                                            resolve_options options = {});

}  // namespace gyre
