// programs/resp_server/server_commands.cpp: CONFIG, INFO.
#include "programs/resp_server/glob.hpp"
#include "programs/resp_server/handlers.hpp"

#include <gyre/version.hpp>

#include <unistd.h>

#include <array>
#include <concepts>
#include <string>
#include <vector>

namespace resp {
namespace {

struct setting {
  std::string_view name;
  std::string value;
};

std::vector<setting> settings(const command_call& call) {
  const server_info& server = call.connection.server;
  const auto limit = call.keys.options().max_bytes;
  return {{"appendonly", "no"},
          {"client-output-buffer-limit", "normal " + std::to_string(server.reply_limit) + " 0 0"},
          {"databases", "1"},
          {"maxmemory", std::to_string(limit.value_or(0))},
          {"maxmemory-clients", std::to_string(server.clients_limit)},
          {"maxmemory-policy", "noeviction"},
          {"port", std::to_string(server.port)},
          {"proto-max-bulk-len", std::to_string(call.keys.options().max_value_bytes)},
          {"save", ""}};
}

void config_get(command_call& call) {
  std::vector<setting> found = settings(call);
  std::vector<bool> wanted(found.size());
  std::size_t compiled = 0;  // bytes of patterns; together they must cost no more than one pattern of KEYS
  for (const std::string_view text : call.arguments.subspan(2)) {
    compiled += text.size();
    if (compiled > glob_pattern::max_bytes) return reply_long_pattern(call.reply);
    const glob_pattern pattern(text, letter_case::ignored);
    for (std::size_t i = 0; i < found.size(); ++i)
      if (!wanted[i]) wanted[i] = pattern.matches(found[i].name);
  }
  std::erase_if(found, [&](const setting& each) { return !wanted[static_cast<std::size_t>(&each - found.data())]; });
  call.reply.append_array(found.size() * 2);
  for (const setting& each : found) {
    call.reply.append_bulk(each.name);
    call.reply.append_bulk(each.value);
  }
}

void config_set(command_call& call) {
  call.reply.append_error("ERR settings are given on the command line; see resp_server --help");
}

void config_resetstat(command_call& call) {
  call.connection.server.commands_processed = 0;
  call.connection.server.connections_received = 0;
  call.reply.append(reply_text::ok);
}

void add_line(std::string& text, std::string_view name, std::string_view value) {
  text.append(name).append(":").append(value).append("\r\n");
}

template <std::integral Number>
void add_line(std::string& text, std::string_view name, Number value) {
  add_line(text, name, std::to_string(value));
}

std::string server_section(const command_call& call, const server_figures& figures) {
  const server_info& server = call.connection.server;
  const auto uptime = (call.now - server.started_at) / 1000;
  std::string text = "# Server\r\n";
  add_line(text, "redis_version", redis_version);
  add_line(text, "gyre_version", gyre::version_string);
  add_line(text, "redis_mode", "standalone");
  add_line(text, "process_id", ::getpid());
  add_line(text, "tcp_port", server.port);
  add_line(text, "uptime_in_seconds", uptime);
  add_line(text, "uptime_in_days", uptime / 86'400);
  add_line(text, "shards", figures.shards);
  return text;
}

std::string clients_section(const command_call& /*call*/, const server_figures& figures) {
  std::string text = "# Clients\r\n";
  add_line(text, "connected_clients", figures.connected_clients);
  return text;
}

std::string memory_section(const command_call& call, const server_figures& figures) {
  std::string text = "# Memory\r\n";
  add_line(text, "used_memory", figures.key_bytes + figures.client_bytes);
  add_line(text, "used_memory_dataset", figures.key_bytes);
  add_line(text, "mem_clients_normal", figures.client_bytes);
  add_line(text, "maxmemory", call.keys.options().max_bytes.value_or(0));
  add_line(text, "maxmemory_policy", "noeviction");
  return text;
}

std::string stats_section(const command_call& /*call*/, const server_figures& figures) {
  std::string text = "# Stats\r\n";
  add_line(text, "total_connections_received", figures.connections_received);
  add_line(text, "total_commands_processed", figures.commands_processed);
  add_line(text, "expired_keys", figures.expired_keys);
  add_line(text, "evicted_clients", figures.evicted_clients);
  add_line(text, "client_write_timeouts", figures.write_timeouts);
  add_line(text, "shard_messages", figures.shard_messages);
  add_line(text, "shard_commands", figures.shard_commands);
  return text;
}

std::string keyspace_section(const command_call& /*call*/, const server_figures& figures) {
  std::string text = "# Keyspace\r\n";
  if (figures.keys == 0) return text;
  text.append("db0:keys=").append(std::to_string(figures.keys));
  text.append(",expires=").append(std::to_string(figures.expiring_keys)).append(",avg_ttl=0\r\n");
  return text;
}

}  // namespace

void config_command(command_call& call) {
  static constexpr std::array subcommands{
      subcommand{"get", -3, config_get},
      subcommand{"resetstat", 2, config_resetstat},
      subcommand{"set", -4, config_set},
  };
  run_subcommand(call, "config", subcommands);
}

void info_command(command_call& call) {
  struct section {
    std::string_view name;
    std::string (*text)(const command_call&, const server_figures&);
  };
  static constexpr std::array sections{section{"server", server_section}, section{"clients", clients_section},
                                       section{"memory", memory_section}, section{"stats", stats_section},
                                       section{"keyspace", keyspace_section}};
  const auto wanted = [&](std::string_view name) {
    if (call.count() == 1) return true;
    for (const std::string_view each : call.arguments.subspan(1))
      for (const std::string_view known :
           {name, std::string_view("all"), std::string_view("default"), std::string_view("everything")})
        if (equal_ignoring_case(each, known)) return true;
    return false;
  };
  const server_figures* const totals = call.connection.totals;
  const server_figures figures = totals != nullptr ? *totals : figures_of(call.keys, call.connection.server);
  std::string text;
  for (const section& each : sections) {
    if (!wanted(each.name)) continue;
    if (!text.empty()) text += "\r\n";
    text += each.text(call, figures);
  }
  call.reply.append_bulk(text);
}

}  // namespace resp
