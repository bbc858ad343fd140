// src/http/exchange/protocol_switch.hpp: whether another protocol may follow an answer. RFC 9110 §7.8, §9.3.6.
#pragma once

#include <gyre/http/request.hpp>
#include <gyre/http/response.hpp>

namespace gyre::http {

/// Returns true if another protocol begins with this answer, and corrects the answer. A tunnel gets 200. A protocol
/// that the client has not asked for is only offered. An answer that the client would take for a tunnel, but that is
/// none, becomes 501, and the connection closes.
[[nodiscard]] bool begins_protocol(response& answer, const request& asked);

}  // namespace gyre::http
