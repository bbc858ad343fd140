// tests/resp/server_commands_test.cpp: commands on the connection and the server, and requests that are not commands.
#include "tests/resp/command_fixture.hpp"

#include "programs/resp_server/command.hpp"

#include <cstdlib>
#include <string>
#include <vector>

using namespace resp_test;
using namespace std::string_literals;

namespace {

class server_commands : public command_fixture {};

std::string wrong_arity(std::string_view name) {
  return "-ERR wrong number of arguments for '" + std::string(name) + "' command\r\n";
}

}  // namespace

TEST_F(server_commands, ping_and_echo) {
  EXPECT_EQ(run("PING"), "+PONG\r\n");
  EXPECT_EQ(run("ping", "hi\r\n"), bulk("hi\r\n"));
  EXPECT_EQ(run("PING", "a", "b"), wrong_arity("ping"));
  EXPECT_EQ(run("ECHO", "hi"), bulk("hi"));
}

TEST_F(server_commands, every_command_checks_how_many_arguments_it_gets) {
  for (const resp::command& each : resp::all_commands()) {
    std::vector<std::string_view> arguments{each.name};
    const std::size_t least = static_cast<std::size_t>(std::abs(each.arity));
    while (arguments.size() + 1 < least) arguments.push_back("x");
    if (least > 1) {
      reply.clear();
      resp::execute(arguments, keys, now, reply, connection);
      EXPECT_EQ(reply.view(), wrong_arity(each.name));
    }
    if (each.arity > 0) {
      arguments.resize(least + 1, "x");
      reply.clear();
      resp::execute(arguments, keys, now, reply, connection);
      EXPECT_EQ(reply.view(), wrong_arity(each.name));
    }
  }
}

TEST_F(server_commands, unknown_commands) {
  EXPECT_EQ(run("foo", "a", "b"), "-ERR unknown command 'foo', with args beginning with: 'a' 'b' \r\n");
  EXPECT_EQ(run("FOO"), "-ERR unknown command 'FOO', with args beginning with: \r\n");
  EXPECT_EQ(run(""), "-ERR unknown command '', with args beginning with: \r\n");
  EXPECT_EQ(run("a\r\nb", "c\nd\0e"s), "-ERR unknown command 'a  b', with args beginning with: 'c d' \r\n");
  const std::string text = run(std::string(200, 'x'), std::string(100, 'y'), std::string(100, 'z'), "w");
  EXPECT_EQ(text, "-ERR unknown command '" + std::string(128, 'x') + "', with args beginning with: '" +
                      std::string(100, 'y') + "' '" + std::string(25, 'z') + "' \r\n");
}

TEST_F(server_commands, no_arguments_are_no_request) {
  resp::execute({}, keys, now, reply, connection);
  EXPECT_EQ(reply.view(), "");
}

TEST_F(server_commands, quit_and_reset) {
  EXPECT_EQ(run("CLIENT", "SETNAME", "me"), ok);
  EXPECT_EQ(run("RESET"), "+RESET\r\n");
  EXPECT_EQ(run("CLIENT", "GETNAME"), null);
  EXPECT_FALSE(connection.close_after_reply);
  EXPECT_EQ(run("QUIT"), ok);
  EXPECT_TRUE(connection.close_after_reply);
}

TEST_F(server_commands, only_database_0) {
  EXPECT_EQ(run("SELECT", "0"), ok);
  EXPECT_EQ(run("SELECT", "1"), "-ERR DB index is out of range\r\n");
  EXPECT_EQ(run("SELECT", "-1"), "-ERR DB index is out of range\r\n");
  EXPECT_EQ(run("SELECT", "x"), not_an_integer);
  EXPECT_EQ(run("SELECT", "2147483648"),
            "-ERR value is out of range, value must between -2147483648 and 2147483647\r\n");
}

TEST_F(server_commands, hello_speaks_only_resp2) {
  const std::string greeting = run("HELLO");
  EXPECT_TRUE(greeting.starts_with("*14\r\n$6\r\nserver\r\n$5\r\nredis\r\n$7\r\nversion\r\n")) << greeting;
  EXPECT_NE(greeting.find("$5\r\nproto\r\n:2\r\n$2\r\nid\r\n:7\r\n"), std::string::npos) << greeting;
  EXPECT_EQ(run("HELLO", "2"), greeting);
  EXPECT_EQ(run("HELLO", "3"), "-NOPROTO unsupported protocol version\r\n");
  EXPECT_EQ(run("HELLO", "x"), "-ERR Protocol version is not an integer or out of range\r\n");
  EXPECT_EQ(run("HELLO", "2", "foo"), "-ERR Syntax error in HELLO option 'foo'\r\n");
  EXPECT_EQ(run("HELLO", "2", "SETNAME"), "-ERR Syntax error in HELLO option 'SETNAME'\r\n");
  EXPECT_EQ(run("HELLO", "2", "SETNAME", "me"), greeting);
  EXPECT_EQ(run("CLIENT", "GETNAME"), bulk("me"));
  EXPECT_EQ(run("HELLO", "2", "AUTH", "nobody", "x"),
            "-WRONGPASS invalid username-password pair or user is disabled.\r\n");
  EXPECT_EQ(run("HELLO", "2", "AUTH", "default", "x"), greeting);  // for a user without a password
}

TEST_F(server_commands, client) {
  EXPECT_EQ(run("CLIENT", "ID"), ":7\r\n");
  EXPECT_EQ(run("CLIENT", "GETNAME"), null);
  EXPECT_EQ(run("client", "setname", "me"), ok);
  EXPECT_EQ(run("CLIENT", "GETNAME"), bulk("me"));
  EXPECT_EQ(run("CLIENT", "SETNAME", "a b"),
            "-ERR Client names cannot contain spaces, newlines or special characters.\r\n");
  EXPECT_EQ(run("CLIENT", "SETNAME", ""), ok);
  EXPECT_EQ(run("CLIENT", "GETNAME"), null);
  EXPECT_EQ(run("CLIENT", "SETINFO", "LIB-NAME", "x"), ok);
  EXPECT_EQ(run("CLIENT", "SETNAME"), wrong_arity("client|setname"));
  EXPECT_EQ(run("CLIENT", "foo"), "-ERR unknown subcommand 'foo'. Try CLIENT HELP.\r\n");
  EXPECT_TRUE(run("CLIENT", "HELP").starts_with("*6\r\n+CLIENT <subcommand>"));
}

TEST_F(server_commands, config) {
  EXPECT_EQ(run("CONFIG", "GET", "save"), "*2\r\n" + bulk("save") + bulk(""));
  EXPECT_EQ(run("CONFIG", "GET", "APPENDONLY"), "*2\r\n" + bulk("appendonly") + bulk("no"));
  EXPECT_EQ(run("CONFIG", "GET", "maxmemory", "m*memory"), "*2\r\n" + bulk("maxmemory") + bulk("0"));
  EXPECT_EQ(run("CONFIG", "GET", "port"), "*2\r\n" + bulk("port") + bulk("6380"));
  EXPECT_EQ(run("CONFIG", "GET", "nosuch"), "*0\r\n");
  EXPECT_TRUE(run("CONFIG", "GET", "*").size() > 100);
  EXPECT_TRUE(run("CONFIG", "SET", "save", "1").starts_with("-ERR "));
  EXPECT_EQ(run("CONFIG", "GET"), wrong_arity("config|get"));
  EXPECT_EQ(run("CONFIG", "RESETSTAT"), ok);
}

TEST_F(server_commands, command) {
  const std::string count = std::to_string(resp::all_commands().size());
  EXPECT_EQ(run("COMMAND", "COUNT"), ":" + count + "\r\n");
  EXPECT_TRUE(run("COMMAND").starts_with("*" + count + "\r\n"));
  EXPECT_TRUE(run("COMMAND", "LIST").starts_with("*" + count + "\r\n"));
  EXPECT_EQ(run("COMMAND", "DOCS"), "*0\r\n");
  EXPECT_EQ(run("COMMAND", "DOCS", "get", "set"), "*0\r\n");
  EXPECT_TRUE(run("COMMAND", "INFO", "GET").find("$3\r\nget\r\n:2\r\n") != std::string::npos);
  EXPECT_EQ(run("COMMAND", "INFO", "nosuch"), "*1\r\n" + null);
  EXPECT_TRUE(run("COMMAND", "INFO").starts_with("*" + count + "\r\n"));
}

TEST_F(server_commands, info) {
  run("SET", "a", "1", "EX", "1");
  now += 3000;
  const std::string all = run("INFO");
  for (const std::string_view part :
       {"# Server\r\nredis_version:", "tcp_port:6380\r\n", "uptime_in_seconds:3\r\n", "# Clients\r\n", "# Memory\r\n",
        "# Stats\r\n", "total_commands_processed:2\r\n", "# Keyspace\r\ndb0:keys=1,expires=1,avg_ttl=0\r\n"})
    EXPECT_NE(all.find(part), std::string::npos) << part << " in " << all;
  EXPECT_EQ(run("INFO", "Keyspace"), bulk("# Keyspace\r\ndb0:keys=1,expires=1,avg_ttl=0\r\n"));
  EXPECT_EQ(run("INFO", "nosuch"), bulk(""));
  EXPECT_EQ(run("INFO", "everything").size(), run("INFO").size());
}

TEST_F(server_commands, what_cannot_be_parsed_is_answered_and_ends_the_connection) {
  EXPECT_EQ(answer("PING\r\n*1\r\n:1\r\nPING\r\n"), "+PONG\r\n-ERR Protocol error: expected '$', got ':'\r\n");
  EXPECT_TRUE(connection.close_after_reply);
}

TEST_F(server_commands, requests_behind_quit_are_not_run) {
  EXPECT_EQ(answer("SET a 1\r\nQUIT\r\nSET a 2\r\n"), ok + ok);
  EXPECT_EQ(run("GET", "a"), bulk("1"));
}
