// src/client/connecting.hpp: opens the connections of a client.
#pragma once

#include <gyre/client/url.hpp>
#include <gyre/coro/task.hpp>

#include "client_connection.hpp"
#include "phase_clock.hpp"
#include "request_text.hpp"

#include <string>
#include <vector>

namespace gyre::http {

class client_state;

/// The request for which a connection is needed.
struct new_connection {
  client_state& state;
  const request_text& request;
  const url* proxy;  // null for none
  const phase_clock& clock;
  bool identified;  // the server may see the certificate of the client
};

/// Connects, and does the handshake of TLS. The protocol on top is chosen here: ALPN offers spoken_protocols(), of
/// which http1_channel speaks the only one.
///
/// Lifetime: the arguments outlive the await. Cancel: no connection is left. Errors: timed_out; io_error, tls_error;
/// client_error proxy_refused.
task<connection_owner> connect(const new_connection& wanted);

/// The protocols that clients offer by ALPN.
[[nodiscard]] std::vector<std::string> spoken_protocols();

/// True for a proxy that reads the requests to this server itself. Others get a tunnel.
[[nodiscard]] inline bool reads_requests(const url* proxy, const url& target) noexcept {
  return proxy != nullptr && proxy->scheme() == "http" && target.scheme() == "http";
}

}  // namespace gyre::http
