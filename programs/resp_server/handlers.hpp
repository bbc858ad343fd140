// programs/resp_server/handlers.hpp: the functions that implement the commands, by source file.
#pragma once

#include "programs/resp_server/command.hpp"

namespace resp {

// string_commands.cpp
void append_command(command_call& call);
void get_command(command_call& call);
void getset_command(command_call& call);
void mget_command(command_call& call);
void mset_command(command_call& call);
void strlen_command(command_call& call);

// set_commands.cpp
void set_command(command_call& call);
void setex_command(command_call& call);
void setnx_command(command_call& call);

// counter_commands.cpp
void decr_command(command_call& call);
void decrby_command(command_call& call);
void incr_command(command_call& call);
void incrby_command(command_call& call);

// key_commands.cpp
void dbsize_command(command_call& call);
void del_command(command_call& call);
void exists_command(command_call& call);
void flush_command(command_call& call);
void type_command(command_call& call);

// keys_command.cpp
void keys_command(command_call& call);

// expiry_commands.cpp
void expire_command(command_call& call);
void persist_command(command_call& call);
void pexpire_command(command_call& call);
void pttl_command(command_call& call);
void ttl_command(command_call& call);

// connection_commands.cpp
void client_command(command_call& call);
void echo_command(command_call& call);
void hello_command(command_call& call);
void ping_command(command_call& call);
void quit_command(command_call& call);
void reset_command(command_call& call);
void select_command(command_call& call);

// server_commands.cpp
void config_command(command_call& call);
void info_command(command_call& call);

// command_commands.cpp
void command_command(command_call& call);

}  // namespace resp
