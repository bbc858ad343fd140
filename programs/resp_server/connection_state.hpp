// programs/resp_server/connection_state.hpp: what commands can see of the connection and the server.
#pragma once

#include "programs/resp_server/client_memory.hpp"
#include "programs/resp_server/entry.hpp"
#include "programs/resp_server/memory_ledger.hpp"
#include "programs/resp_server/server_figures.hpp"
#include "programs/resp_server/unfinished_command.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace resp {

/// The version of redis-server that the commands and replies follow. Clients choose their requests by it.
inline constexpr std::string_view redis_version = "7.0.0";

/// Values that INFO and CONFIG GET report. One object per thread: nothing here is locked.
struct server_info {
  unix_ms started_at = 0;
  std::uint16_t port = 0;
  std::uint64_t connected_clients = 0;
  std::uint64_t connections_received = 0;
  std::uint64_t commands_processed = 0;  // counted by execute()
  std::uint64_t write_timeouts = 0;
  std::uint64_t shard_messages = 0;        // sent to other shards
  std::uint64_t shard_commands = 0;        // in these messages
  std::size_t shard = 0;                   // the number of this loop's shard
  const memory_ledger* ledger = nullptr;   // null when there is only one shard
  std::size_t clients_limit = 0;           // maxmemory-clients of all shards together
  const client_memory* clients = nullptr;  // their buffers; null when nobody counts them
  std::size_t reply_limit = reply_buffer::default_limit;
};

struct connection_state {
  server_info& server;
  std::uint64_t id = 0;
  std::string name = {};
  bool close_after_reply = false;  // set by QUIT: send the pending replies, then close
  std::unique_ptr<unfinished_command> unfinished =
      {};                                  // set by a command that has to be completed in steps; the reply follows
  const server_figures* totals = nullptr;  // the figures of all shards, for INFO; null when there is only one
  bool admitted = false;                   // the limit on memory has been checked for the command as a whole
};

}  // namespace resp
