// programs/resp_server/key_commands.cpp: DEL, EXISTS, TYPE, KEYS, DBSIZE, FLUSHALL, FLUSHDB.
#include "programs/resp_server/glob.hpp"
#include "programs/resp_server/handlers.hpp"

#include <string_view>
#include <vector>

namespace resp {

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

void keys_command(command_call& call) {
  const std::string_view pattern = call.arguments[1];
  std::vector<std::string_view> found;
  call.keys.for_each(call.now, [&](const entry& item) {
    if (glob_match(pattern, item.first)) found.push_back(item.first);
  });
  call.reply.append_array(found.size());
  for (const std::string_view key : found) call.reply.append_bulk(key);
}

void dbsize_command(command_call& call) { call.reply.append_integer(static_cast<std::int64_t>(call.keys.size())); }

// There is one database and one way to empty it, but the option is checked.
void flush_command(command_call& call) {
  if (call.count() > 2) return call.reply.append(reply_text::syntax_error);
  if (call.count() == 2) {
    const word option = read_word(call.arguments[1]);
    if (option != word_of("async") && option != word_of("sync")) return call.reply.append(reply_text::syntax_error);
  }
  call.keys.clear();
  call.reply.append(reply_text::ok);
}

}  // namespace resp
