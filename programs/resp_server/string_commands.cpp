// programs/resp_server/string_commands.cpp: GET, MGET, MSET, GETSET, APPEND, STRLEN.
#include "programs/resp_server/handlers.hpp"

namespace resp {

void get_command(command_call& call) { reply_value_or_null(call.reply, call.find(call.arguments[1])); }

void mget_command(command_call& call) {
  call.reply.append_array(call.count() - 1);
  for (const std::string_view key : call.arguments.subspan(1)) reply_value_or_null(call.reply, call.find(key));
}

void mset_command(command_call& call) {
  if (call.count() % 2 == 0) return reply_wrong_arity(call.reply, "mset");
  for (std::size_t i = 1; i < call.count(); i += 2) call.keys.set(call.arguments[i], call.arguments[i + 1], call.now);
  call.reply.append(reply_text::ok);
}

void getset_command(command_call& call) {
  reply_value_or_null(call.reply, call.find(call.arguments[1]));
  if (call.reply.overflowed()) return;
  call.keys.set(call.arguments[1], call.arguments[2], call.now);
}

void append_command(command_call& call) {
  const std::string_view tail = call.arguments[2];
  entry* item = call.find(call.arguments[1]);
  const std::size_t old_size = item == nullptr ? 0 : item->second.bytes.size();
  const std::size_t most = call.keys.options().max_value_bytes;
  if (item != nullptr && (tail.size() > most || old_size > most - tail.size()))
    return call.reply.append_error("ERR string exceeds maximum allowed size (proto-max-bulk-len)");
  if (item == nullptr) {
    item = &call.keys.insert(call.arguments[1], tail);
  } else {
    call.keys.append(*item, tail);
  }
  call.reply.append_integer(static_cast<std::int64_t>(item->second.bytes.size()));
}

void strlen_command(command_call& call) {
  const entry* item = call.find(call.arguments[1]);
  const std::size_t size = item == nullptr ? 0 : item->second.bytes.size();
  call.reply.append_integer(static_cast<std::int64_t>(size));
}

}  // namespace resp
