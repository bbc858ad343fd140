// programs/resp_server/commands.hpp: runs one request.
#pragma once

#include "programs/resp_server/connection_state.hpp"
#include "programs/resp_server/keyspace.hpp"
#include "programs/resp_server/reply_buffer.hpp"

#include <span>
#include <string_view>

namespace resp {

/// Runs a command and appends its reply, which may be an error. `arguments` begins with the name.
///
/// A command whose reply overflows leaves no part of it, and has changed nothing. It may be run again with a higher
/// limit. If `connection.unfinished` is set, the command has to be completed in steps.
///
/// Allocates nothing for PING, for GET, and for SET of a key whose old value has enough room.
void execute(std::span<const std::string_view> arguments, keyspace& keys, unix_ms now, reply_buffer& reply,
             connection_state& connection);

/// True if a command that adds to the keyspace must be refused, because all shards and clients together use more than
/// maxmemory. Frees a few expired and removed entries before it says so.
[[nodiscard]] bool refused_for_memory(keyspace& keys, unix_ms now, const connection_state& connection);

/// Appends the answer to a request that could not be parsed. The connection must be closed after it.
void reply_protocol_error(std::string_view message, reply_buffer& reply, connection_state& connection);

}  // namespace resp
