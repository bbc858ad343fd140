// src/http/http1_connection/upgraded_protocol.hpp: the protocol that follows HTTP. RFC 9110 §7.8, §9.3.6.
#pragma once

#include <gyre/coro/task.hpp>
#include <gyre/http/request.hpp>
#include <gyre/http/response.hpp>

namespace gyre::http {

class message_input;

/// Gives `protocol` the connection of the request that asked for it. Returns false when it has
/// failed; the failure has been reported.
[[nodiscard]] task<bool> run_protocol(protocol_handler& protocol, message_input& input, const request& asked);

}  // namespace gyre::http
