// programs/resp_server/command_commands.cpp: COMMAND, which describes the commands.
#include "programs/resp_server/handlers.hpp"

#include <array>

namespace resp {
namespace {

void append_description(reply_buffer& reply, const command& c) {
  reply.append_array(6);
  reply.append_bulk(c.name);
  reply.append_integer(c.arity);
  reply.append_array(c.kind == command_kind::other ? 0 : 1);
  if (c.kind != command_kind::other) reply.append_status(c.kind == command_kind::reads ? "readonly" : "write");
  reply.append_integer(c.first_key);
  reply.append_integer(c.last_key);
  reply.append_integer(c.key_step);
}

void command_count(command_call& call) { call.reply.append_integer(static_cast<std::int64_t>(all_commands().size())); }

// redis-cli sends this when it starts, and works without the answer.
void command_docs(command_call& call) { call.reply.append_array(0); }

void describe_all(command_call& call) {
  call.reply.append_array(all_commands().size());
  for (const command& each : all_commands()) append_description(call.reply, each);
}

void command_info(command_call& call) {
  if (call.count() == 2) return describe_all(call);
  call.reply.append_array(call.count() - 2);
  for (const std::string_view name : call.arguments.subspan(2)) {
    if (const command* const found = find_command(name))
      append_description(call.reply, *found);
    else
      call.reply.append_null();
  }
}

void command_list(command_call& call) {
  if (call.count() > 2) return call.reply.append(reply_text::syntax_error);  // no FILTERBY
  call.reply.append_array(all_commands().size());
  for (const command& each : all_commands()) call.reply.append_bulk(each.name);
}

}  // namespace

void command_command(command_call& call) {
  static constexpr std::array subcommands{
      subcommand{"count", 2, command_count},
      subcommand{"docs", -2, command_docs},
      subcommand{"info", -2, command_info},
      subcommand{"list", -2, command_list},
  };
  if (call.count() == 1) return describe_all(call);
  run_subcommand(call, "command", subcommands);
}

}  // namespace resp
