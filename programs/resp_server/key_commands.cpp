// programs/resp_server/key_commands.cpp: DEL, EXISTS, EXPIRE, TTL.
#include "programs/resp_server/command.hpp"

namespace resp {

void del_command(const command_call& call) {
  entry* const item = call.find_key();
  if (item != nullptr) call.here.keys.erase(*item);
  call.reply.append_integer(item != nullptr ? 1 : 0);
}

void exists_command(const command_call& call) { call.reply.append_integer(call.find_key() != nullptr ? 1 : 0); }

void expire_command(const command_call& call) {
  const auto seconds = parse_integer(call.arguments[2]);
  if (!seconds) return call.reply.append(reply_text::not_an_integer);
  unix_ms when = 0;
  if (__builtin_mul_overflow(*seconds, 1000, &when) || __builtin_add_overflow(when, call.now, &when) || when == never)
    return call.reply.append_error("ERR invalid expire time in 'expire' command");
  entry* const item = call.find_key();
  if (item != nullptr && when <= call.now)
    call.here.keys.erase(*item);
  else if (item != nullptr)
    call.here.keys.expire_at(*item, when);
  call.reply.append_integer(item != nullptr ? 1 : 0);
}

void ttl_command(const command_call& call) {
  const entry* const item = call.find_key();
  if (item == nullptr) return call.reply.append_integer(-2);
  if (item->second.expires_at == never) return call.reply.append_integer(-1);
  call.reply.append_integer((item->second.expires_at - call.now + 500) / 1000);
}

}  // namespace resp
