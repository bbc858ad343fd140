// programs/resp_server/server_state.hpp: state shared by the connections of one loop.
#pragma once

#include "programs/resp_server/client_memory.hpp"
#include "programs/resp_server/connection_state.hpp"
#include "programs/resp_server/keyspace.hpp"
#include "programs/resp_server/reply_buffers.hpp"
#include "programs/resp_server/server_limits.hpp"

#include <gyre/sync/event.hpp>
#include <gyre/sync/mutex.hpp>

#include <cstdint>
#include <memory>
#include <vector>

namespace resp {

class request_batch;
class shard_set;

/// The time as seen by commands.
[[nodiscard]] unix_ms wall_clock() noexcept;

/// One shard of the keyspace, and what the connections on its loop share. A server with one thread has one of them.
///
/// Thread: that of its loop.
struct server_state {
  server_state(const server_limits& most, const keyspace_options& options);
  server_state& operator=(server_state&&) = delete;
  ~server_state();

  /// Tells the other shards how much memory this one uses, if there are others and a limit.
  void publish_memory() noexcept;

  /// Counts a connection. No other connection of the server has the same number.
  [[nodiscard]] std::uint64_t next_client_id() noexcept;

  /// Lends a batch for the requests of a read. Only with several shards.
  [[nodiscard]] std::unique_ptr<request_batch> take_batch();
  void give_back(std::unique_ptr<request_batch> batch);

  server_limits limits;
  keyspace keys;
  server_info info;
  reply_buffers buffers;
  client_memory memory;
  gyre::event memory_freed;  // set and cleared at once when an evicted client has released its memory
  gyre::mutex long_command;  // held by the command in progress: one step per turn, for all clients together
  // Connections of this loop that need large parts of a reply from other shards get them one after the other. So parts
  // under way take the memory of one reply at most. A holder waits only for other shards, which never wait for a client
  // or for memory.
  gyre::mutex large_reply;
  gyre::mutex keys_of_shards;
  shard_set* shards = nullptr;  // null when this is the only one
  std::vector<std::unique_ptr<request_batch>> free_batches;
};

}  // namespace resp
