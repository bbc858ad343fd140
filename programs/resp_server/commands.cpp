// programs/resp_server/commands.cpp: runs one request.
#include "programs/resp_server/commands.hpp"

#include "programs/resp_server/command.hpp"
#include "programs/resp_server/glob.hpp"

#include <algorithm>
#include <string>

namespace resp {
namespace {

constexpr std::size_t shown_bytes = 128;  // of a name or of arguments, in an error message

// Redis prints arguments as C strings.
std::string_view shown(std::string_view text, std::size_t at_most = shown_bytes) noexcept {
  return text.substr(0, std::min(at_most, text.find('\0')));
}

void reply_unknown_command(const command_call& call) {
  std::string listed;
  for (std::size_t i = 1; i < call.count() && listed.size() < shown_bytes; ++i) {
    const std::string_view argument = shown(call.arguments[i], shown_bytes - listed.size());
    listed.append("'").append(argument).append("' ");
  }
  std::string text = "ERR unknown command '";
  text.append(shown(call.arguments[0])).append("', with args beginning with: ").append(listed);
  call.reply.append_error(text);
}

void reply_help(command_call& call, const std::string& container, std::span<const subcommand> subcommands) {
  call.reply.append_array(subcommands.size() + 2);
  call.reply.append_status(container + " <subcommand> [<arg> [value] [opt] ...]. Subcommands are:");
  for (const subcommand& each : subcommands) call.reply.append_status(each.name);
  call.reply.append_status("help");
}

std::string upper_case(std::string_view name) {
  std::string upper(name);
  for (char& c : upper) c = static_cast<char>(c - ('a' - 'A'));
  return upper;
}

}  // namespace

bool refused_for_memory(keyspace& keys, unix_ms now, const connection_state& connection) {
  const server_info& server = connection.server;
  std::size_t others = server.clients == nullptr ? 0 : server.clients->used();
  if (server.ledger != nullptr) others += server.ledger->used_by_others(server.shard);
  if (!keys.over_limit(others) || connection.admitted) return false;
  keys.expire_some(now, 100);
  keys.free_some(100);
  return keys.over_limit(others);
}

bool equal_ignoring_case(std::string_view text, std::string_view lower) noexcept {
  return std::equal(text.begin(), text.end(), lower.begin(), lower.end(), [](char a, char b) {
    return (a >= 'A' && a <= 'Z' ? static_cast<char>(a + ('a' - 'A')) : a) == b;
  });
}

void execute(std::span<const std::string_view> arguments, keyspace& keys, unix_ms now, reply_buffer& reply,
             connection_state& connection) {
  if (arguments.empty()) return;
  command_call call{arguments, keys, now, reply, connection};
  ++connection.server.commands_processed;
  const command* found = find_command(arguments[0]);
  if (found == nullptr) return reply_unknown_command(call);
  if (!arity_fits(found->arity, arguments.size())) return reply_wrong_arity(reply, found->name);
  if (found->kind == command_kind::grows && keys.options().max_bytes && refused_for_memory(keys, now, connection))
    return reply.append(reply_text::out_of_memory);
  const std::size_t mark = reply.mark();
  found->run(call);
  if (reply.overflowed()) reply.drop_from(mark);
}

void reply_protocol_error(std::string_view message, reply_buffer& reply, connection_state& connection) {
  reply.append_error(std::string("ERR ").append(message));
  connection.close_after_reply = true;
}

void run_subcommand(command_call& call, std::string_view container, std::span<const subcommand> subcommands) {
  const std::string_view name = call.arguments[1];
  for (const subcommand& each : subcommands) {
    if (!equal_ignoring_case(name, each.name)) continue;
    if (arity_fits(each.arity, call.count())) return each.run(call);
    return reply_wrong_arity(call.reply, std::string(container).append("|").append(each.name));
  }
  const std::string upper = upper_case(container);
  if (equal_ignoring_case(name, "help") && call.count() == 2) return reply_help(call, upper, subcommands);
  std::string text = "ERR unknown subcommand '";
  text.append(shown(name)).append("'. Try ").append(upper).append(" HELP.");
  call.reply.append_error(text);
}

void reply_wrong_arity(reply_buffer& reply, std::string_view name) {
  std::string text = "ERR wrong number of arguments for '";
  reply.append_error(text.append(name).append("' command"));
}

void reply_invalid_expiry(reply_buffer& reply, std::string_view name) {
  std::string text = "ERR invalid expire time in '";
  reply.append_error(text.append(name).append("' command"));
}

void reply_long_pattern(reply_buffer& reply) {
  reply.append_error("ERR pattern is longer than " + std::to_string(glob_pattern::max_bytes) + " bytes");
}

void reply_value_or_null(reply_buffer& reply, const entry* item) {
  if (item == nullptr) return reply.append_null();
  reply.append_bulk(item->second.bytes);
}

}  // namespace resp
