// programs/resp_server/server_figures.cpp: the numbers that INFO reports, of one shard or of all.
#include "programs/resp_server/server_figures.hpp"

#include "programs/resp_server/connection_state.hpp"
#include "programs/resp_server/keyspace.hpp"

namespace resp {

server_figures& server_figures::operator+=(const server_figures& other) noexcept {
  shards += other.shards;
  connected_clients += other.connected_clients;
  connections_received += other.connections_received;
  commands_processed += other.commands_processed;
  write_timeouts += other.write_timeouts;
  evicted_clients += other.evicted_clients;
  expired_keys += other.expired_keys;
  shard_messages += other.shard_messages;
  shard_commands += other.shard_commands;
  keys += other.keys;
  expiring_keys += other.expiring_keys;
  key_bytes += other.key_bytes;
  client_bytes += other.client_bytes;
  client_bytes_limit += other.client_bytes_limit;
  return *this;
}

server_figures figures_of(const keyspace& keys, const server_info& server) noexcept {
  server_figures figures;
  figures.connected_clients = server.connected_clients;
  figures.connections_received = server.connections_received;
  figures.commands_processed = server.commands_processed;
  figures.write_timeouts = server.write_timeouts;
  figures.shard_messages = server.shard_messages;
  figures.shard_commands = server.shard_commands;
  figures.expired_keys = keys.expired_so_far();
  figures.keys = keys.size();
  figures.expiring_keys = keys.expiring();
  figures.key_bytes = keys.used_bytes();
  if (server.clients != nullptr) {
    figures.evicted_clients = server.clients->evicted_clients();
    figures.client_bytes = server.clients->used();
    figures.client_bytes_limit = server.clients->limit();
  }
  return figures;
}

}  // namespace resp
