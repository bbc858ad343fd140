// src/http/semantics/host.hpp: the syntax of a host with an optional port. RFC 3986 §3.2.2, RFC 9110 §7.2.
#pragma once

#include <string_view>

namespace gyre::http {

/// The value of a Host field: a host and an optional port, or nothing.
[[nodiscard]] bool is_host(std::string_view host) noexcept;
/// The target of CONNECT: a host and a port, both required. RFC 9110 §9.3.6.
[[nodiscard]] bool is_tunnel_target(std::string_view target) noexcept;

}  // namespace gyre::http
