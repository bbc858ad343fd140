// programs/resp_server/command.hpp: the commands, and the request that one of them executes.
#pragma once

#include "programs/resp_server/reply_buffer.hpp"
#include "programs/resp_server/shard_set.hpp"
#include "programs/resp_server/word.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace resp {

/// A request, or the part of it for one key, on the loop of `here`.
struct command_call {
  std::span<const std::string_view> arguments;  ///< including the name
  shard& here;
  unix_ms now;
  reply_buffer& reply;

  [[nodiscard]] entry* find_key() const { return here.keys.find(arguments[1], now); }
};

/// The keys of a command. A command with several keys has a part for each: `run` executes one part.
enum class key_use : std::uint8_t {
  none,    ///< PING, INFO
  one,     ///< the first argument
  counts,  ///< the integer replies to the parts are added: DEL, EXISTS
  values,  ///< the replies to the parts are the elements of an array: MGET
  pairs,   ///< each key with its value; one reply for all: MSET
};

struct command {
  word name;
  int arity;  ///< number of arguments with the name; negative: at least that many
  void (*run)(const command_call&);
  key_use keys = key_use::none;
  bool grows = false;  ///< refused when the server is over its limit on memory
};

/// Returns null for an unknown command.
[[nodiscard]] const command* find_command(std::string_view name) noexcept;

/// The command of a request, whose name and number of arguments are right, and which memory is left for. Otherwise
/// replies with an error and returns null.
[[nodiscard]] const command* admit(const command_call& call);

namespace reply_text {
inline constexpr std::string_view ok = "+OK\r\n";
inline constexpr std::string_view out_of_memory = "-OOM command not allowed when used memory > 'maxmemory'.\r\n";
inline constexpr std::string_view too_large =
    "-OOM reply is larger than 'client-output-buffer-limit' or does not fit into 'maxmemory-clients'\r\n";
inline constexpr std::string_view not_an_integer = "-ERR value is not an integer or out of range\r\n";
}  // namespace reply_text

// Each executes a command, or the part of it for one key.
void del_command(const command_call& call);
void exists_command(const command_call& call);
void expire_command(const command_call& call);
void get_command(const command_call& call);
void incr_command(const command_call& call);
void info_command(const command_call& call);
void ping_command(const command_call& call);
void set_command(const command_call& call);
void ttl_command(const command_call& call);

}  // namespace resp
