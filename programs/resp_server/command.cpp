// programs/resp_server/command.cpp: the table of commands, and which requests may be executed.
#include "programs/resp_server/command.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace resp {
namespace {

constexpr std::array table{
    command{read_word("ping"), -1, ping_command},
    command{read_word("get"), 2, get_command, key_use::one},
    command{read_word("set"), -3, set_command, key_use::one, true},
    command{read_word("incr"), 2, incr_command, key_use::one, true},
    command{read_word("mget"), -2, get_command, key_use::values},
    command{read_word("mset"), -3, set_command, key_use::pairs, true},
    command{read_word("del"), -2, del_command, key_use::counts},
    command{read_word("exists"), -2, exists_command, key_use::counts},
    command{read_word("expire"), 3, expire_command, key_use::one},
    command{read_word("ttl"), 2, ttl_command, key_use::one},
    command{read_word("info"), -1, info_command},
};

bool arity_fits(const command& one, std::size_t count) noexcept {
  if (one.keys == key_use::pairs && count % 2 == 0) return false;
  return one.arity >= 0 ? count == static_cast<std::size_t>(one.arity) : count >= static_cast<std::size_t>(-one.arity);
}

bool over_limit(const shard& here) noexcept {
  const std::uint64_t used = here.all.sum(&shard_figures::key_bytes) + here.all.sum(&shard_figures::client_bytes);
  return used > here.limits.memory.value_or(used);
}

// A name that a client has sent, for an error message.
std::string shown(std::string_view name) { return std::string(name.substr(0, 128)); }

}  // namespace

const command* find_command(std::string_view name) noexcept {
  const word wanted = read_word(name);
  const auto* const found = std::find_if(table.begin(), table.end(), [=](auto& each) { return each.name == wanted; });
  return found == table.end() ? nullptr : found;
}

const command* admit(const command_call& call) {
  const std::string_view name = call.arguments[0];
  const command* const found = find_command(name);
  if (found == nullptr) [[unlikely]]
    call.reply.append_error("ERR unknown command '" + shown(name) + "'");
  else if (!arity_fits(*found, call.arguments.size())) [[unlikely]]
    call.reply.append_error("ERR wrong number of arguments for '" + shown(name) + "' command");
  else if (found->grows && over_limit(call.here)) [[unlikely]]
    call.reply.append(reply_text::out_of_memory);
  else
    return found;
  return nullptr;
}

}  // namespace resp
