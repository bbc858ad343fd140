// programs/resp_server/counter_commands.cpp: INCR, DECR, INCRBY, DECRBY.
#include "programs/resp_server/handlers.hpp"
#include "programs/resp_server/integer.hpp"

#include <limits>

namespace resp {
namespace {

void add(command_call& call, std::int64_t difference) {
  entry* item = call.find(call.arguments[1]);
  const auto old = item == nullptr ? 0 : parse_integer(item->second.bytes);
  if (!old) return call.reply.append(reply_text::not_an_integer);
  std::int64_t sum = 0;
  if (__builtin_add_overflow(*old, difference, &sum))
    return call.reply.append_error("ERR increment or decrement would overflow");
  const decimal digits(sum);
  if (item == nullptr) {
    call.keys.insert(call.arguments[1], digits.view());
  } else {
    call.keys.assign(*item, digits.view());
  }
  call.reply.append_integer(sum);
}

}  // namespace

void incr_command(command_call& call) { add(call, 1); }
void decr_command(command_call& call) { add(call, -1); }

void incrby_command(command_call& call) {
  const auto difference = parse_integer(call.arguments[2]);
  if (!difference) return call.reply.append(reply_text::not_an_integer);
  add(call, *difference);
}

void decrby_command(command_call& call) {
  const auto difference = parse_integer(call.arguments[2]);
  if (!difference) return call.reply.append(reply_text::not_an_integer);
  if (*difference == std::numeric_limits<std::int64_t>::min())
    return call.reply.append_error("ERR decrement would overflow");
  add(call, -*difference);
}

}  // namespace resp
