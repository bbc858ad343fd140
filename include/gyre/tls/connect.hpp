// gyre/tls/connect.hpp: opens an encrypted connection.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/net/tcp_stream.hpp>
#include <gyre/tls/stream.hpp>

#include <string>

namespace gyre::tls {

/// Resolves "host:port", connects to the address that answers first, and does the handshake with that host:
///
///   auto stream = co_await gyre::tls::connect("example.org:443");
///
/// Cancel: the attempt is abandoned, and the connection closed. Errors: those of tcp_stream::connect, and of the
/// handshake.
[[nodiscard]] GYRE_API task<stream> connect(std::string host_and_port, client_config config = client_config());

}  // namespace gyre::tls
