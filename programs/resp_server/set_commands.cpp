// programs/resp_server/set_commands.cpp: SET with its options, SETNX, SETEX.
#include "programs/resp_server/handlers.hpp"
#include "programs/resp_server/integer.hpp"

#include <optional>

namespace resp {
namespace {

enum class condition : std::uint8_t { none, absent, present };
enum class lifetime : std::uint8_t { forever, keep, seconds, milliseconds, until_s, until_ms };

struct set_options {
  condition only_if = condition::none;
  lifetime lives = lifetime::forever;
  bool wants_old = false;
  std::string_view expiry;  // the number after EX, PX, EXAT or PXAT
};

// An option may be repeated, but not contradicted.
bool set_condition(set_options& options, condition wanted) noexcept {
  if (options.only_if != condition::none && options.only_if != wanted) return false;
  options.only_if = wanted;
  return true;
}

bool set_lifetime(set_options& options, lifetime wanted) noexcept {
  if (options.lives != lifetime::forever && options.lives != wanted) return false;
  options.lives = wanted;
  return true;
}

std::optional<lifetime> timed(word option) noexcept {
  switch (option) {
    case word_of("ex"):
      return lifetime::seconds;
    case word_of("px"):
      return lifetime::milliseconds;
    case word_of("exat"):
      return lifetime::until_s;
    case word_of("pxat"):
      return lifetime::until_ms;
    default:
      return std::nullopt;
  }
}

// Reads everything after the value. Returns false on a syntax error.
bool read_options(std::span<const std::string_view> arguments, set_options& options) noexcept {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const word option = read_word(arguments[i]);
    bool fits = false;
    if (const auto wanted = timed(option)) {
      fits = i + 1 < arguments.size() && set_lifetime(options, *wanted);
      if (fits) options.expiry = arguments[++i];
    } else if (option == word_of("nx")) {
      fits = set_condition(options, condition::absent);
    } else if (option == word_of("xx")) {
      fits = set_condition(options, condition::present);
    } else if (option == word_of("keepttl")) {
      fits = set_lifetime(options, lifetime::keep);
    } else if (option == word_of("get")) {
      fits = options.wants_old = true;
    }
    if (!fits) return false;
  }
  return true;
}

// Returns when the key is to expire, or nothing when an error was replied.
std::optional<unix_ms> read_expiry(command_call& call, std::string_view name, lifetime lives, std::string_view number) {
  const auto value = parse_integer(number);
  if (!value) {
    call.reply.append(reply_text::not_an_integer);
    return std::nullopt;
  }
  const bool in_seconds = lives == lifetime::seconds || lives == lifetime::until_s;
  const bool relative = lives == lifetime::seconds || lives == lifetime::milliseconds;
  const unix_ms unit = in_seconds ? 1000 : 1;
  const unix_ms base = relative ? call.now : 0;
  if (*value <= 0 || *value > never / unit || *value * unit > never - base) {
    reply_invalid_expiry(call.reply, name);
    return std::nullopt;
  }
  return *value * unit + base;
}

// Stores the value. `expires_at` is ignored when the old expiry is kept.
void store(command_call& call, entry* old, std::string_view value, lifetime lives, unix_ms expires_at) {
  if (old == nullptr) {
    old = &call.keys.insert(call.arguments[1], value);
  } else {
    call.keys.assign(*old, value);
  }
  if (lives == lifetime::keep) return;
  if (lives == lifetime::forever) return call.keys.persist(*old);
  call.keys.expire_at(*old, expires_at);
}

}  // namespace

void set_command(command_call& call) {
  set_options options;
  if (!read_options(call.arguments.subspan(3), options)) return call.reply.append(reply_text::syntax_error);
  std::optional<unix_ms> expires_at = never;
  if (options.lives != lifetime::forever && options.lives != lifetime::keep)
    expires_at = read_expiry(call, "set", options.lives, options.expiry);
  if (!expires_at) return;
  entry* old = call.find(call.arguments[1]);
  const bool wanted = options.only_if == condition::none || (options.only_if == condition::present) == (old != nullptr);
  if (options.wants_old) {
    reply_value_or_null(call.reply, old);
  } else if (wanted) {
    call.reply.append(reply_text::ok);
  } else {
    call.reply.append_null();
  }
  if (wanted && !call.reply.overflowed()) store(call, old, call.arguments[2], options.lives, *expires_at);
}

void setnx_command(command_call& call) {
  const bool absent = call.find(call.arguments[1]) == nullptr;
  if (absent) call.keys.insert(call.arguments[1], call.arguments[2]);
  call.reply.append_integer(absent ? 1 : 0);
}

void setex_command(command_call& call) {
  const auto when = read_expiry(call, "setex", lifetime::seconds, call.arguments[2]);
  if (!when) return;
  entry* old = call.find(call.arguments[1]);
  store(call, old, call.arguments[3], lifetime::seconds, *when);
  call.reply.append(reply_text::ok);
}

}  // namespace resp
