// programs/resp_server/string_commands.cpp: GET, INCR, and SET with its options.
#include "programs/resp_server/command.hpp"

#include <charconv>
#include <optional>

namespace resp {
namespace {

struct set_options {
  bool if_absent = false;
  bool if_present = false;
  bool wants_old = false;
  bool keeps_expiry = false;
  unix_ms unit = 0;  // of the number, in milliseconds; 0: there is none
  unix_ms base = 0;  // what the number is added to
  std::string_view number;
};

// Reads everything after the value. Returns false on a syntax error, such as options that contradict each other.
bool read_options(const command_call& call, set_options& options) noexcept {
  const std::span<const std::string_view> all = call.arguments.subspan(3);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const word option = read_word(all[i]);
    const bool relative = option == read_word("ex") || option == read_word("px");
    const bool in_seconds = option == read_word("ex") || option == read_word("exat");
    if (relative || in_seconds || option == read_word("pxat")) {
      if (options.unit != 0 || i + 1 == all.size()) return false;
      options.unit = in_seconds ? 1000 : 1;
      options.base = relative ? call.now : 0;
      options.number = all[++i];
    } else if (option == read_word("nx")) {
      options.if_absent = true;
    } else if (option == read_word("xx")) {
      options.if_present = true;
    } else if (option == read_word("keepttl")) {
      options.keeps_expiry = true;
    } else if (option == read_word("get")) {
      options.wants_old = true;
    } else {
      return false;
    }
  }
  return !(options.if_absent && options.if_present) && !(options.keeps_expiry && options.unit != 0);
}

// Returns when the key is to expire, or nothing when an error was replied.
std::optional<unix_ms> read_expiry(const command_call& call, const set_options& options) {
  if (options.unit == 0) return never;
  const auto value = parse_integer(options.number);
  unix_ms when = 0;
  if (!value)
    call.reply.append(reply_text::not_an_integer);
  else if (*value <= 0 || __builtin_mul_overflow(*value, options.unit, &when) ||
           __builtin_add_overflow(when, options.base, &when) || when == never)
    call.reply.append_error("ERR invalid expire time in 'set' command");
  else
    return when;
  return std::nullopt;
}

void reply_value(const command_call& call, const entry* item) {
  if (item == nullptr) return call.reply.append_null();
  call.reply.append_bulk(item->second.bytes);
}

}  // namespace

void get_command(const command_call& call) { reply_value(call, call.find_key()); }

void incr_command(const command_call& call) {
  entry* const item = call.find_key();
  const auto old = item == nullptr ? 0 : parse_integer(item->second.bytes);
  if (!old) return call.reply.append(reply_text::not_an_integer);
  if (*old == never) return call.reply.append_error("ERR increment or decrement would overflow");
  char digits[24];
  const char* const end = std::to_chars(std::begin(digits), std::end(digits), *old + 1).ptr;
  call.here.keys.set(item, call.arguments[1], {digits, end});
  call.reply.append_integer(*old + 1);
}

// Also the part of MSET for a key and its value.
void set_command(const command_call& call) {
  set_options options;
  if (!read_options(call, options)) return call.reply.append_error("ERR syntax error");
  const std::optional<unix_ms> expires_at = read_expiry(call, options);
  if (!expires_at) return;
  entry* item = call.find_key();
  const bool wanted = item == nullptr ? !options.if_present : !options.if_absent;
  if (options.wants_old)
    reply_value(call, item);
  else if (wanted)
    call.reply.append(reply_text::ok);
  else
    call.reply.append_null();
  if (!wanted || call.reply.overflow() != 0) return;
  item = &call.here.keys.set(item, call.arguments[1], call.arguments[2]);
  if (!options.keeps_expiry && *expires_at != item->second.expires_at) call.here.keys.expire_at(*item, *expires_at);
}

}  // namespace resp
