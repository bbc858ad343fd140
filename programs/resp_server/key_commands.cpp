// programs/resp_server/key_commands.cpp: DEL, EXISTS, TYPE, DBSIZE, FLUSHALL, FLUSHDB.
#include "programs/resp_server/handlers.hpp"

#include <memory>
#include <string_view>

namespace resp {
namespace {

// The keys are gone at once. The reply waits until their memory is free, so that later commands can use it.
class freeing : public unfinished_command {
 public:
  bool step(keyspace& keys, unix_ms /*now*/, reply_buffer& reply) override {
    constexpr std::size_t work_of_an_entry = 100;
    if (!keys.free_some(budget / work_of_an_entry)) return false;
    reply.append(reply_text::ok);
    return true;
  }
};

}  // namespace

void del_command(command_call& call) {
  std::int64_t removed = 0;
  for (const std::string_view key : call.arguments.subspan(1)) {
    entry* item = call.find(key);
    if (item == nullptr) continue;
    call.keys.erase(*item);
    ++removed;
  }
  call.reply.append_integer(removed);
}

void exists_command(command_call& call) {
  std::int64_t found = 0;
  for (const std::string_view key : call.arguments.subspan(1))
    if (call.find(key) != nullptr) ++found;
  call.reply.append_integer(found);
}

void type_command(command_call& call) {
  call.reply.append_status(call.find(call.arguments[1]) != nullptr ? "string" : "none");
}

void dbsize_command(command_call& call) { call.reply.append_integer(static_cast<std::int64_t>(call.keys.size())); }

// There is only one database. With ASYNC the memory is freed in the background.
void flush_command(command_call& call) {
  if (call.count() > 2) return call.reply.append(reply_text::syntax_error);
  bool waits = true;
  if (call.count() == 2) {
    const word option = read_word(call.arguments[1]);
    waits = option != word_of("async");
    if (option != word_of("async") && option != word_of("sync")) return call.reply.append(reply_text::syntax_error);
  }
  call.keys.clear();
  if (!waits) return call.reply.append(reply_text::ok);
  call.connection.unfinished = std::make_unique<freeing>();
}

}  // namespace resp
