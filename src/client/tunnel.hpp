// src/client/tunnel.hpp: asks a proxy for a connection to a server.
#pragma once

#include <gyre/client/url.hpp>
#include <gyre/coro/task.hpp>
#include <gyre/net/resolver.hpp>
#include <gyre/net/socket_stream.hpp>

#include <string>
#include <system_error>

namespace gyre::http {

/// Throws an io_error that names the proxy and the server that was to be reached through it.
[[noreturn]] void fail_through(const url& proxy, const url& target, std::error_code reason);

/// By CONNECT: RFC 9110 §9.3.6. Errors: client_error proxy_refused, with the status; io_error, as fail_through().
task<> open_http_tunnel(socket_stream& through, const url& proxy, const url& target);
/// By SOCKS 5: RFC 1928, RFC 1929. Errors: client_error proxy_refused, with the reason; io_error, as
/// fail_through(), or of the lookup of the server's name.
task<> open_socks_tunnel(socket_stream& through, const url& proxy, const url& target, const resolve_options& resolving);

}  // namespace gyre::http
