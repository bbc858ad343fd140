// programs/resp_server/connection_commands.cpp: PING, ECHO, QUIT, SELECT, HELLO, CLIENT, RESET.
#include "programs/resp_server/handlers.hpp"
#include "programs/resp_server/integer.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace resp {
namespace {

bool valid_name(std::string_view name) noexcept {
  return std::all_of(name.begin(), name.end(), [](char c) { return c >= '!' && c <= '~'; });
}

constexpr std::string_view bad_name = "ERR Client names cannot contain spaces, newlines or special characters.";

void client_setname(command_call& call) {
  if (!valid_name(call.arguments[2])) return call.reply.append_error(bad_name);
  call.connection.name.assign(call.arguments[2]);
  call.reply.append(reply_text::ok);
}

void client_getname(command_call& call) {
  if (call.connection.name.empty()) return call.reply.append_null();
  call.reply.append_bulk(call.connection.name);
}

void client_id(command_call& call) { call.reply.append_integer(static_cast<std::int64_t>(call.connection.id)); }

// CLIENT SETINFO names the client's library. Nothing here uses it.
void client_setinfo(command_call& call) { call.reply.append(reply_text::ok); }

void append_field(reply_buffer& reply, std::string_view name, std::string_view value) {
  reply.append_bulk(name);
  reply.append_bulk(value);
}

}  // namespace

void ping_command(command_call& call) {
  if (call.count() > 2) return reply_wrong_arity(call.reply, "ping");
  if (call.count() == 1) return call.reply.append("+PONG\r\n");
  call.reply.append_bulk(call.arguments[1]);
}

void echo_command(command_call& call) { call.reply.append_bulk(call.arguments[1]); }

void quit_command(command_call& call) {
  call.connection.close_after_reply = true;
  call.reply.append(reply_text::ok);
}

void select_command(command_call& call) {
  const auto index = parse_integer(call.arguments[1]);
  if (!index) return call.reply.append(reply_text::not_an_integer);
  if (*index < std::numeric_limits<int>::min() || *index > std::numeric_limits<int>::max())
    return call.reply.append_error("ERR value is out of range, value must between -2147483648 and 2147483647");
  if (*index != 0) return call.reply.append_error("ERR DB index is out of range");
  call.reply.append(reply_text::ok);
}

void hello_command(command_call& call) {
  std::string_view name;
  if (call.count() > 1) {
    const auto version = parse_integer(call.arguments[1]);
    if (!version) return call.reply.append_error("ERR Protocol version is not an integer or out of range");
    if (*version != 2) return call.reply.append_error("NOPROTO unsupported protocol version");
  }
  for (std::size_t i = 2; i < call.count();) {
    const word option = read_word(call.arguments[i]);
    if (option == word_of("setname") && i + 1 < call.count()) {
      name = call.arguments[i + 1];
      if (!valid_name(name)) return call.reply.append_error(bad_name);
      i += 2;
    } else if (option == word_of("auth") && i + 2 < call.count()) {
      if (call.arguments[i + 1] != "default")  // the only user, who needs no password
        return call.reply.append_error("WRONGPASS invalid username-password pair or user is disabled.");
      i += 3;
    } else {
      return call.reply.append_error("ERR Syntax error in HELLO option '" + std::string(call.arguments[i]) + "'");
    }
  }
  if (!name.empty()) call.connection.name.assign(name);
  reply_buffer& reply = call.reply;
  reply.append_array(14);
  append_field(reply, "server", "redis");
  append_field(reply, "version", redis_version);
  reply.append_bulk("proto");
  reply.append_integer(2);
  reply.append_bulk("id");
  reply.append_integer(static_cast<std::int64_t>(call.connection.id));
  append_field(reply, "mode", "standalone");
  append_field(reply, "role", "master");
  reply.append_bulk("modules");
  reply.append_array(0);
}

void client_command(command_call& call) {
  static constexpr std::array subcommands{
      subcommand{"getname", 2, client_getname},
      subcommand{"id", 2, client_id},
      subcommand{"setinfo", 4, client_setinfo},
      subcommand{"setname", 3, client_setname},
  };
  run_subcommand(call, "client", subcommands);
}

void reset_command(command_call& call) {
  call.connection.name.clear();
  call.reply.append_status("RESET");
}

}  // namespace resp
