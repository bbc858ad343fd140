// programs/resp_server/command_spread.cpp: which keys a command takes, and how its parts on several shards are joined.
#include "programs/resp_server/command_spread.hpp"

#include "programs/resp_server/handlers.hpp"

namespace resp {

command_spread spread_of(std::span<const std::string_view> arguments) noexcept {
  const command* const found = find_command(arguments[0]);
  if (found == nullptr || !arity_fits(found->arity, arguments.size())) return command_spread::no_key;
  if (found->first_key != 0) {
    if (found->last_key == found->first_key) return command_spread::one_key;
    if ((arguments.size() - 1) % static_cast<std::size_t>(found->key_step) != 0) return command_spread::no_key;
    if (found->run == mget_command) return command_spread::values;
    return found->run == mset_command ? command_spread::all_set : command_spread::sum;
  }
  if (found->run == dbsize_command) return command_spread::every_sum;
  if (found->run == keys_command) return command_spread::every_key;
  if (found->run == info_command) return command_spread::figures;
  const bool resets =
      found->run == config_command && arguments.size() == 2 && equal_ignoring_case(arguments[1], "resetstat");
  return found->run == flush_command || resets ? command_spread::every : command_spread::no_key;
}

}  // namespace resp
