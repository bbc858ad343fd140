// programs/resp_server/server_figures.hpp: the numbers that INFO reports, of one shard or of all.
#pragma once

#include <cstddef>
#include <cstdint>

namespace resp {

class keyspace;
struct server_info;

/// All of them are sums, so the figures of a server are those of its shards added up.
struct server_figures {
  std::size_t shards = 1;
  std::uint64_t connected_clients = 0;
  std::uint64_t connections_received = 0;
  std::uint64_t commands_processed = 0;
  std::uint64_t write_timeouts = 0;
  std::uint64_t evicted_clients = 0;
  std::uint64_t expired_keys = 0;
  std::uint64_t shard_messages = 0;
  std::uint64_t shard_commands = 0;
  std::size_t keys = 0;
  std::size_t expiring_keys = 0;
  std::size_t key_bytes = 0;
  std::size_t client_bytes = 0;
  std::size_t client_bytes_limit = 0;

  server_figures& operator+=(const server_figures& other) noexcept;
};

/// Thread: that of the shard.
[[nodiscard]] server_figures figures_of(const keyspace& keys, const server_info& server) noexcept;

}  // namespace resp
