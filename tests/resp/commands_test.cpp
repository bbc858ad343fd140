// tests/resp/commands_test.cpp: what each command does, at a time set by the test.
#include "programs/resp_server/command.hpp"

#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <string>

using namespace resp;
using namespace std::string_literals;

namespace {

const std::string ok = "+OK\r\n";
const std::string null = "$-1\r\n";
const std::string yes = ":1\r\n";
const std::string no = ":0\r\n";
const std::string not_an_integer = "-ERR value is not an integer or out of range\r\n";
const std::string out_of_memory = "-OOM command not allowed when used memory > 'maxmemory'.\r\n";

std::string bulk(std::string_view text) {
  return "$" + std::to_string(text.size()) + "\r\n" + std::string(text) + "\r\n";
}

class commands : public testing::Test {
 protected:
  static constexpr unix_ms start = 1'700'000'000'000;

  explicit commands(const server_limits& limits = {}) : shards(1, limits) {}

  // The reply to a command with at most one key.
  template <class... Arguments>
  std::string run(const Arguments&... arguments) {
    const std::array<std::string_view, sizeof...(arguments)> all{std::string_view(arguments)...};
    reply_buffer reply(reply_limit);
    const command_call call{all, shards[0], now, reply};
    if (const command* const found = admit(call)) found->run(call);
    return std::string(reply.view());
  }
  // The seconds that a key has left.
  std::string ttl(std::string_view key) {
    const std::string reply = run("TTL", key);
    return reply.substr(1, reply.size() - 3);
  }

  unix_ms now = start;
  shard_set shards;
};

class commands_with_limit : public commands {
 protected:
  commands_with_limit() : commands({.request = {}, .memory = 20'000}) {}
};

}  // namespace

TEST_F(commands, a_name_is_found_in_any_case_and_nothing_else_is) {
  for (const std::string_view name : {"get", "GET", "GeT"}) EXPECT_EQ(find_command(name), find_command("get"));
  for (const std::string_view name : {"", "ge", "gett", "g e", "ge\x14", "gettttttttt"})
    EXPECT_EQ(find_command(name), nullptr) << name;
  EXPECT_EQ(find_command("get\0"s), nullptr);
  EXPECT_EQ(run("foo\r\n", "a"), "-ERR unknown command 'foo  '\r\n");
  EXPECT_EQ(run(std::string(200, 'x')), "-ERR unknown command '" + std::string(128, 'x') + "'\r\n");
}

TEST_F(commands, a_wrong_number_of_arguments_is_refused) {
  const std::string get = "-ERR wrong number of arguments for 'get' command\r\n";
  EXPECT_EQ(run("get"), get);
  EXPECT_EQ(run("get", "a", "b"), get);
  for (const char* name : {"set", "mset"})
    EXPECT_EQ(run(name, "a"), "-ERR wrong number of arguments for '" + std::string(name) + "' command\r\n");
  EXPECT_EQ(run("mset", "a", "1", "b"), "-ERR wrong number of arguments for 'mset' command\r\n");
}

TEST_F(commands, integers_are_read_as_redis_reads_them) {
  EXPECT_EQ(parse_integer("0"), 0);
  EXPECT_EQ(parse_integer("-1"), -1);
  EXPECT_EQ(parse_integer("9223372036854775807"), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(parse_integer("-9223372036854775808"), std::numeric_limits<std::int64_t>::min());
  for (const std::string_view text : {"", "-", "+1", "-0", "00", "01", "-01", " 1", "1 ", "1.0", "0x1", "1e3",
                                      "9223372036854775808", "-9223372036854775809", "100000000000000000000"})
    EXPECT_EQ(parse_integer(text), std::nullopt) << text;
}

TEST_F(commands, ping_answers_or_echoes) {
  EXPECT_EQ(run("PING"), "+PONG\r\n");
  EXPECT_EQ(run("ping", "hi\r\n"), bulk("hi\r\n"));
}

TEST_F(commands, get_returns_what_set_has_stored) {
  EXPECT_EQ(run("GET", "a"), null);
  EXPECT_EQ(run("SET", "a", "1"), ok);
  EXPECT_EQ(run("get", "a"), bulk("1"));
  EXPECT_EQ(run("sEt", "a", ""), ok);
  EXPECT_EQ(run("GET", "a"), bulk(""));
}

TEST_F(commands, set_obeys_nx_xx_and_get) {
  EXPECT_EQ(run("SET", "a", "1", "XX"), null);
  EXPECT_EQ(run("SET", "a", "1", "NX"), ok);
  EXPECT_EQ(run("SET", "a", "2", "nx"), null);
  EXPECT_EQ(run("SET", "a", "3", "xx"), ok);
  EXPECT_EQ(run("SET", "a", "4", "GET"), bulk("3"));
  EXPECT_EQ(run("SET", "a", "5", "NX", "GET"), bulk("4"));
  EXPECT_EQ(run("GET", "a"), bulk("4"));
  EXPECT_EQ(run("SET", "b", "1", "XX", "GET"), null);
  EXPECT_EQ(run("EXISTS", "b"), no);
}

TEST_F(commands, set_with_an_expiry_lets_the_key_expire) {
  EXPECT_EQ(run("SET", "a", "1", "EX", "10"), ok);
  EXPECT_EQ(ttl("a"), "10");
  EXPECT_EQ(run("SET", "a", "1", "px", "20000"), ok);
  EXPECT_EQ(ttl("a"), "20");
  EXPECT_EQ(run("SET", "a", "1", "EXAT", std::to_string(start / 1000 + 5)), ok);
  EXPECT_EQ(ttl("a"), "5");
  EXPECT_EQ(run("SET", "a", "1", "PXAT", std::to_string(start + 7000)), ok);
  EXPECT_EQ(run("SET", "a", "2", "KEEPTTL"), ok);
  EXPECT_EQ(ttl("a"), "7");
  EXPECT_EQ(run("SET", "a", "2"), ok);
  EXPECT_EQ(ttl("a"), "-1");
  EXPECT_EQ(run("SET", "a", "1", "EXAT", "1"), ok);  // long ago
  EXPECT_EQ(run("GET", "a"), null);
}

TEST_F(commands, set_with_wrong_options_changes_nothing) {
  run("SET", "a", "old");
  const std::string expiry = "-ERR invalid expire time in 'set' command\r\n";
  for (const char* number : {"0", "-1", "9223372036854775807", "9223372036854775"})
    EXPECT_EQ(run("SET", "a", "1", "EX", number), expiry) << number;
  EXPECT_EQ(run("SET", "a", "1", "PX", "9223372036854775807"), expiry);
  EXPECT_EQ(run("SET", "a", "1", "EXAT", "9223372036854776"), expiry);
  for (const char* number : {"x", "", "1.5"}) EXPECT_EQ(run("SET", "a", "1", "EX", number), not_an_integer) << number;
  const std::string syntax = "-ERR syntax error\r\n";
  EXPECT_EQ(run("SET", "a", "1", "EX"), syntax);
  EXPECT_EQ(run("SET", "a", "1", "EX", "1", "PX", "1"), syntax);
  EXPECT_EQ(run("SET", "a", "1", "KEEPTTL", "EX", "1"), syntax);
  EXPECT_EQ(run("SET", "a", "1", "NX", "XX"), syntax);
  EXPECT_EQ(run("SET", "a", "1", ""), syntax);
  EXPECT_EQ(run("GET", "a"), bulk("old"));
}

TEST_F(commands, set_whose_reply_does_not_fit_changes_nothing) {
  const std::string large(100'000, 'x');
  EXPECT_EQ(run("SET", "a", large), ok);
  EXPECT_EQ(run("SET", "a", "new", "GET"), "");
  EXPECT_EQ(shards[0].keys.find("a", now)->second.bytes, large);
}

TEST_F(commands, incr_counts_and_keeps_the_expiry) {
  EXPECT_EQ(run("INCR", "n"), yes);
  run("EXPIRE", "n", "10");
  EXPECT_EQ(run("INCR", "n"), ":2\r\n");
  EXPECT_EQ(ttl("n"), "10");
  run("SET", "n", "-1");
  EXPECT_EQ(run("INCR", "n"), no);
  for (const char* text : {"x", "", " 1", "1.0", "01", "9223372036854775808"}) {
    run("SET", "n", text);
    EXPECT_EQ(run("INCR", "n"), not_an_integer) << text;
  }
  run("SET", "n", "9223372036854775807");
  EXPECT_EQ(run("INCR", "n"), "-ERR increment or decrement would overflow\r\n");
}

TEST_F(commands, an_expired_key_is_gone_for_every_command) {
  const auto with_expired = [&](auto&&... command) {
    run("SET", "a", "1", "PX", "1");
    now += 1;
    EXPECT_EQ(run("EXISTS", "a"), yes);  // a key lives through its last millisecond
    now += 1;
    return run(command...);
  };
  EXPECT_EQ(with_expired("GET", "a"), null);
  EXPECT_EQ(with_expired("EXISTS", "a"), no);
  EXPECT_EQ(with_expired("DEL", "a"), no);
  EXPECT_EQ(with_expired("INCR", "a"), yes);
  EXPECT_EQ(with_expired("SET", "a", "x", "XX"), null);
  EXPECT_EQ(with_expired("SET", "a", "x", "GET"), null);
  EXPECT_EQ(with_expired("EXPIRE", "a", "10"), no);
  EXPECT_EQ(with_expired("TTL", "a"), ":-2\r\n");
  EXPECT_EQ(with_expired("SET", "a", "1", "KEEPTTL"), ok);
  EXPECT_EQ(ttl("a"), "-1");
}

TEST_F(commands, ttl_rounds_and_expire_sets) {
  EXPECT_EQ(ttl("a"), "-2");
  run("SET", "a", "1");
  EXPECT_EQ(ttl("a"), "-1");
  EXPECT_EQ(run("EXPIRE", "a", "10"), yes);
  now += 499;
  EXPECT_EQ(ttl("a"), "10");
  now += 2;
  EXPECT_EQ(ttl("a"), "9");
  EXPECT_EQ(run("EXPIRE", "a", "-1"), yes);  // in the past: deletes
  EXPECT_EQ(run("EXISTS", "a"), no);
  EXPECT_EQ(run("EXPIRE", "a", "x"), not_an_integer);
  for (const char* seconds : {"9223372036854776", "-9223372036854776", "9223372036854775"})
    EXPECT_EQ(run("EXPIRE", "a", seconds), "-ERR invalid expire time in 'expire' command\r\n") << seconds;
}

TEST_F(commands, info_adds_up_the_figures_of_the_shards) {
  run("SET", "a", "1", "EX", "1");
  const std::string all = run("INFO");
  for (const std::string_view part : {"# Server\r\n", "shards:1\r\n", "# Clients\r\nconnected_clients:0\r\n",
                                      "# Memory\r\n", "# Stats\r\n", "# Keyspace\r\nkeys:1\r\nexpiring_keys:1\r\n"})
    EXPECT_NE(all.find(part), std::string::npos) << part << " in " << all;
}

TEST_F(commands_with_limit, a_full_server_refuses_to_grow_but_still_reads_and_deletes) {
  EXPECT_EQ(run("SET", "big", std::string(20'000, 'x')), ok);  // the command that passes the limit still runs
  EXPECT_EQ(run("SET", "a", "1"), out_of_memory);
  EXPECT_EQ(run("INCR", "n"), out_of_memory);
  EXPECT_EQ(run("MSET", "n", "1"), out_of_memory);
  EXPECT_EQ(run("EXISTS", "big"), yes);
  EXPECT_EQ(run("EXPIRE", "big", "10"), yes);
  EXPECT_EQ(run("DEL", "big"), yes);
  EXPECT_EQ(run("SET", "a", "1"), ok);
}
