// src/http/protocol_switch.hpp: when a connection stops to be HTTP. RFC 9110 §7.8, §9.3.6.
#pragma once

#include <gyre/coro/task.hpp>
#include <gyre/http/request.hpp>
#include <gyre/http/response.hpp>

namespace gyre::http {

class message_input;

/// Whether another protocol begins with this answer, which is put right: a tunnel is 200, a protocol that the client has not
/// asked for is only offered to it, and what would be a tunnel for the client and is none becomes 501 and the end.
[[nodiscard]] bool begins_protocol(response& answer, const request& asked);

/// Lets `protocol` have the connection of the request that has asked for it. False: it has failed, which has been reported.
[[nodiscard]] task<bool> speak(protocol_handler& protocol, message_input& input, const request& asked);

}  // namespace gyre::http
