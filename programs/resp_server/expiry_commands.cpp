// programs/resp_server/expiry_commands.cpp: EXPIRE, PEXPIRE, TTL, PTTL, PERSIST.
#include "programs/resp_server/handlers.hpp"
#include "programs/resp_server/integer.hpp"

#include <limits>
#include <string>

namespace resp {
namespace {

struct expire_conditions {
  bool nx = false;  // only if the key does not expire yet
  bool xx = false;  // only if it already expires
  bool gt = false;  // only if later than the current expiry; no expiry counts as latest
  bool lt = false;  // only if sooner
};

// Returns false when an error was replied.
bool read_conditions(command_call& call, expire_conditions& wanted) {
  for (const std::string_view option : call.arguments.subspan(3)) {
    switch (read_word(option)) {
      case word_of("nx"):
        wanted.nx = true;
        break;
      case word_of("xx"):
        wanted.xx = true;
        break;
      case word_of("gt"):
        wanted.gt = true;
        break;
      case word_of("lt"):
        wanted.lt = true;
        break;
      default:
        call.reply.append_error(std::string("ERR Unsupported option ").append(option.substr(0, option.find('\0'))));
        return false;
    }
  }
  if (wanted.nx && (wanted.xx || wanted.gt || wanted.lt)) {
    call.reply.append_error("ERR NX and XX, GT or LT options at the same time are not compatible");
    return false;
  }
  if (wanted.gt && wanted.lt) {
    call.reply.append_error("ERR GT and LT options at the same time are not compatible");
    return false;
  }
  return true;
}

bool allowed(const expire_conditions& wanted, unix_ms old, unix_ms when) noexcept {
  if (wanted.nx && old != never) return false;
  if (wanted.xx && old == never) return false;
  if (wanted.gt && (old == never || when <= old)) return false;
  return !(wanted.lt && old != never && when >= old);
}

void expire(command_call& call, std::string_view name, unix_ms unit) {
  expire_conditions wanted;
  if (!read_conditions(call, wanted)) return;
  const auto value = parse_integer(call.arguments[2]);
  if (!value) return call.reply.append(reply_text::not_an_integer);
  constexpr unix_ms lowest = std::numeric_limits<unix_ms>::min();
  if (*value > never / unit || *value < lowest / unit || *value * unit > never - call.now)
    return reply_invalid_expiry(call.reply, name);
  const unix_ms when = *value * unit + call.now;
  entry* item = call.find(call.arguments[1]);
  if (item == nullptr || !allowed(wanted, item->second.expires_at, when)) return call.reply.append_integer(0);
  if (when <= call.now) {
    call.keys.erase(*item);
  } else {
    call.keys.expire_at(*item, when);
  }
  call.reply.append_integer(1);
}

void reply_time_to_live(command_call& call, unix_ms unit) {
  const entry* item = call.find(call.arguments[1]);
  if (item == nullptr) return call.reply.append_integer(-2);
  if (item->second.expires_at == never) return call.reply.append_integer(-1);
  const unix_ms left = item->second.expires_at - call.now;
  call.reply.append_integer(left / unit + (left % unit * 2 >= unit ? 1 : 0));
}

}  // namespace

void expire_command(command_call& call) { expire(call, "expire", 1000); }
void pexpire_command(command_call& call) { expire(call, "pexpire", 1); }
void ttl_command(command_call& call) { reply_time_to_live(call, 1000); }
void pttl_command(command_call& call) { reply_time_to_live(call, 1); }

void persist_command(command_call& call) {
  entry* item = call.find(call.arguments[1]);
  const bool expires = item != nullptr && item->second.expires_at != never;
  if (expires) call.keys.persist(*item);
  call.reply.append_integer(expires ? 1 : 0);
}

}  // namespace resp
