// programs/resp_server/server_commands.cpp: PING and INFO.
#include "programs/resp_server/command.hpp"

#include <gyre/version.hpp>

#include <string>

namespace resp {
namespace {

void add_line(std::string& text, std::string_view name, std::uint64_t value) {
  text.append(name).append(":").append(std::to_string(value)).append("\r\n");
}

}  // namespace

void ping_command(const command_call& call) {
  if (call.arguments.size() == 1) return call.reply.append("+PONG\r\n");
  call.reply.append_bulk(call.arguments[1]);
}

// Sections that are named in the request are not looked for: everything is reported.
void info_command(const command_call& call) {
  const shard_set& shards = call.here.all;
  const auto sum = [&](figure shard_figures::* figure) { return shards.sum(figure); };
  std::string text = "# Server\r\ngyre_version:" + std::string(gyre::version_string) + "\r\n";
  add_line(text, "tcp_port", shards.port);
  add_line(text, "shards", shards.size());
  add_line(text, "\r\n# Clients\r\nconnected_clients", sum(&shard_figures::clients));
  add_line(text, "\r\n# Memory\r\nused_memory_dataset", sum(&shard_figures::key_bytes));
  add_line(text, "mem_clients_normal", sum(&shard_figures::client_bytes));
  add_line(text, "maxmemory", call.here.limits.memory.value_or(0));
  add_line(text, "\r\n# Stats\r\ntotal_connections_received", sum(&shard_figures::connections));
  add_line(text, "total_commands_processed", sum(&shard_figures::commands));
  add_line(text, "expired_keys", sum(&shard_figures::expired_keys));
  add_line(text, "evicted_clients", sum(&shard_figures::evicted_clients));
  add_line(text, "client_write_timeouts", sum(&shard_figures::write_timeouts));
  add_line(text, "shard_messages", sum(&shard_figures::messages));
  add_line(text, "\r\n# Keyspace\r\nkeys", sum(&shard_figures::keys));
  add_line(text, "expiring_keys", sum(&shard_figures::expiring_keys));
  call.reply.append_bulk(text);
}

}  // namespace resp
