// src/http/server/protocol_switch.hpp: the end of HTTP on a connection. RFC 9110 §7.8, §9.3.6.
#pragma once

#include <gyre/coro/task.hpp>
#include <gyre/http/request.hpp>
#include <gyre/http/response.hpp>

namespace gyre::http {

class message_input;

/// Returns true if another protocol begins with this answer, and corrects the answer. A tunnel gets 200. A protocol
/// that the client has not asked for is only offered. An answer that the client would take for a tunnel, but that is
/// none, becomes 501, and the connection closes.
[[nodiscard]] bool begins_protocol(response& answer, const request& asked);

/// Gives `protocol` the connection of the request that asked for it. Returns false when it has
/// failed; the failure has been reported.
[[nodiscard]] task<bool> run_protocol(protocol_handler& protocol, message_input& input, const request& asked);

}  // namespace gyre::http
