// src/client/tunnel.hpp: asks a proxy for a connection to a server.
#pragma once

#include <gyre/client/url.hpp>
#include <gyre/coro/task.hpp>
#include <gyre/net/resolver.hpp>
#include <gyre/net/socket_stream.hpp>

namespace gyre::http {

/// By CONNECT: RFC 9110 §9.3.6. Errors: client_error proxy_refused, with the status; io_error.
task<> open_http_tunnel(socket_stream& through, const url& proxy, const url& target);
/// By SOCKS 5: RFC 1928, RFC 1929. Errors: client_error proxy_refused, with the reason; io_error.
task<> open_socks_tunnel(socket_stream& through, const url& proxy, const url& target, const resolve_options& resolving);

}  // namespace gyre::http
