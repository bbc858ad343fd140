// programs/resp_server/server_commands.cpp: CONFIG, INFO.
#include "programs/resp_server/glob.hpp"
#include "programs/resp_server/handlers.hpp"

#include <gyre/version.hpp>

#include <fmt/format.h>

#include <unistd.h>

#include <array>
#include <string>
#include <vector>

namespace resp {
namespace {

struct setting {
  std::string_view name;
  std::string value;
};

std::vector<setting> settings(const command_call& call) {
  const auto limit = call.keys.options().max_bytes;
  return {{"appendonly", "no"},
          {"databases", "1"},
          {"maxmemory", std::to_string(limit.value_or(0))},
          {"maxmemory-policy", "noeviction"},
          {"port", std::to_string(call.connection.server.port)},
          {"proto-max-bulk-len", std::to_string(call.keys.options().max_value_bytes)},
          {"save", ""}};
}

void config_get(command_call& call) {
  std::vector<setting> found;
  for (setting& each : settings(call))
    for (const std::string_view pattern : call.arguments.subspan(2))
      if (glob_match(pattern, each.name, letter_case::ignored)) {
        found.push_back(std::move(each));
        break;
      }
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

std::string server_section(const command_call& call) {
  const server_info& server = call.connection.server;
  const auto uptime = (call.now - server.started_at) / 1000;
  return fmt::format(
      "# Server\r\nredis_version:{0}\r\ngyre_version:{0}\r\nredis_mode:standalone\r\nprocess_id:{1}\r\n"
      "tcp_port:{2}\r\nuptime_in_seconds:{3}\r\nuptime_in_days:{4}\r\n",
      gyre::version_string, ::getpid(), server.port, uptime, uptime / 86'400);
}

std::string clients_section(const command_call& call) {
  return fmt::format("# Clients\r\nconnected_clients:{}\r\n", call.connection.server.connected_clients);
}

std::string memory_section(const command_call& call) {
  return fmt::format("# Memory\r\nused_memory:{}\r\nmaxmemory:{}\r\nmaxmemory_policy:noeviction\r\n",
                     call.keys.used_bytes(), call.keys.options().max_bytes.value_or(0));
}

std::string stats_section(const command_call& call) {
  const server_info& server = call.connection.server;
  return fmt::format("# Stats\r\ntotal_connections_received:{}\r\ntotal_commands_processed:{}\r\nexpired_keys:{}\r\n",
                     server.connections_received, server.commands_processed, call.keys.expired_so_far());
}

std::string keyspace_section(const command_call& call) {
  std::string text = "# Keyspace\r\n";
  if (call.keys.size() > 0)
    text += fmt::format("db0:keys={},expires={},avg_ttl=0\r\n", call.keys.size(), call.keys.expiring());
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
    std::string (*text)(const command_call&);
  };
  static constexpr std::array sections{section{"server", server_section}, section{"clients", clients_section},
                                       section{"memory", memory_section}, section{"stats", stats_section},
                                       section{"keyspace", keyspace_section}};
  const auto wanted = [&](std::string_view name) {
    if (call.count() == 1) return true;
    for (const std::string_view each : call.arguments.subspan(1))
      if (glob_match(each, name, letter_case::ignored) || glob_match(each, "all", letter_case::ignored) ||
          glob_match(each, "default", letter_case::ignored) || glob_match(each, "everything", letter_case::ignored))
        return true;
    return false;
  };
  std::string text;
  for (const section& each : sections) {
    if (!wanted(each.name)) continue;
    if (!text.empty()) text += "\r\n";
    text += each.text(call);
  }
  call.reply.append_bulk(text);
}

}  // namespace resp
