// programs/resp_server/command.hpp: a command, and the table of all commands.
#pragma once

#include "programs/resp_server/connection_state.hpp"
#include "programs/resp_server/keyspace.hpp"
#include "programs/resp_server/reply_buffer.hpp"
#include "programs/resp_server/word.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace resp {

/// One running command.
struct command_call {
  std::span<const std::string_view> arguments;  // including the name; their number fits the arity
  keyspace& keys;
  unix_ms now;
  reply_buffer& reply;
  connection_state& connection;

  [[nodiscard]] std::size_t count() const noexcept { return arguments.size(); }
  [[nodiscard]] entry* find(std::string_view key) { return keys.find(key, now); }
};

using command_handler = void (*)(command_call&);

enum class command_kind : std::uint8_t {
  other,
  reads,
  writes,
  grows,  // a write that is refused when the keyspace is over its limit
};

struct command {
  std::string_view name;  // lower case
  int arity;              // number of arguments with the name; negative: at least that many
  command_handler run;
  command_kind kind = command_kind::other;
  int first_key = 0;  // as reported by COMMAND INFO
  int last_key = 0;
  int key_step = 0;
};

[[nodiscard]] constexpr bool arity_fits(int arity, std::size_t count) noexcept {
  return arity >= 0 ? count == static_cast<std::size_t>(arity) : count >= static_cast<std::size_t>(-arity);
}

[[nodiscard]] std::span<const command> all_commands() noexcept;
[[nodiscard]] const command* find_command(std::string_view name) noexcept;

/// True if `text` equals `lower`, a word in lower case, ignoring case.
[[nodiscard]] bool equal_ignoring_case(std::string_view text, std::string_view lower) noexcept;

/// A subcommand of a container command, such as GET of CONFIG GET.
struct subcommand {
  std::string_view name;  // lower case
  int arity;              // including both names
  command_handler run;
};

/// Runs the subcommand named by the second argument. Answers HELP, and replies with an error for an unknown one.
void run_subcommand(command_call& call, std::string_view container, std::span<const subcommand> subcommands);

namespace reply_text {
inline constexpr std::string_view ok = "+OK\r\n";
inline constexpr std::string_view out_of_memory = "-OOM command not allowed when used memory > 'maxmemory'.\r\n";
inline constexpr std::string_view too_large =
    "-OOM reply is larger than 'client-output-buffer-limit' or does not fit into 'maxmemory-clients'\r\n";
inline constexpr std::string_view syntax_error = "-ERR syntax error\r\n";
inline constexpr std::string_view not_an_integer = "-ERR value is not an integer or out of range\r\n";
}  // namespace reply_text

void reply_wrong_arity(reply_buffer& reply, std::string_view name);
void reply_invalid_expiry(reply_buffer& reply, std::string_view name);
void reply_long_pattern(reply_buffer& reply);
void reply_value_or_null(reply_buffer& reply, const entry* item);

}  // namespace resp
