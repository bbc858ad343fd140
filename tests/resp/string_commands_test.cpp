// tests/resp/string_commands_test.cpp: GET, SET and the other commands on values.
#include "tests/resp/command_fixture.hpp"

#include <string>

using namespace resp_test;

namespace {

class string_commands : public command_fixture {};

const std::string set_expiry_error = "-ERR invalid expire time in 'set' command\r\n";

}  // namespace

TEST_F(string_commands, get_and_set) {
  EXPECT_EQ(run("GET", "a"), null);
  EXPECT_EQ(run("SET", "a", "1"), ok);
  EXPECT_EQ(run("get", "a"), bulk("1"));
  EXPECT_EQ(run("sEt", "a", ""), ok);
  EXPECT_EQ(run("GET", "a"), bulk(""));
}

TEST_F(string_commands, set_only_if) {
  EXPECT_EQ(run("SET", "a", "1", "XX"), null);
  EXPECT_EQ(run("SET", "a", "1", "NX"), ok);
  EXPECT_EQ(run("SET", "a", "2", "nx"), null);
  EXPECT_EQ(run("SET", "a", "3", "xx"), ok);
  EXPECT_EQ(run("GET", "a"), bulk("3"));
  EXPECT_EQ(run("SET", "a", "3", "NX", "XX"), syntax_error);
  EXPECT_EQ(run("SET", "a", "3", "NX", "NX"), null);
}

TEST_F(string_commands, set_and_get_the_old_value) {
  EXPECT_EQ(run("SET", "a", "1", "GET"), null);
  EXPECT_EQ(run("SET", "a", "2", "GET"), bulk("1"));
  EXPECT_EQ(run("SET", "a", "3", "NX", "GET"), bulk("2"));
  EXPECT_EQ(run("GET", "a"), bulk("2"));
  EXPECT_EQ(run("SET", "b", "1", "XX", "GET"), null);
  EXPECT_EQ(run("EXISTS", "b"), ":0\r\n");
}

TEST_F(string_commands, set_with_expiry) {
  EXPECT_EQ(run("SET", "a", "1", "EX", "10"), ok);
  EXPECT_EQ(run("PTTL", "a"), ":10000\r\n");
  EXPECT_EQ(run("SET", "a", "1", "px", "10"), ok);
  EXPECT_EQ(run("PTTL", "a"), ":10\r\n");
  EXPECT_EQ(run("SET", "a", "1", "EXAT", std::to_string(start / 1000 + 5)), ok);
  EXPECT_EQ(run("PTTL", "a"), ":5000\r\n");
  EXPECT_EQ(run("SET", "a", "1", "PXAT", std::to_string(start + 7)), ok);
  EXPECT_EQ(run("SET", "a", "2", "KEEPTTL"), ok);
  EXPECT_EQ(run("PTTL", "a"), ":7\r\n");
  EXPECT_EQ(run("SET", "a", "2"), ok);
  EXPECT_EQ(run("PTTL", "a"), ":-1\r\n");
  EXPECT_EQ(run("SET", "a", "1", "EXAT", "1"), ok);  // long ago
  EXPECT_EQ(run("GET", "a"), null);
}

TEST_F(string_commands, set_with_a_wrong_expiry_changes_nothing) {
  run("SET", "a", "old");
  for (const char* number : {"0", "-1", "9223372036854775807", "9223372036854775"})
    EXPECT_EQ(run("SET", "a", "1", "EX", number), set_expiry_error) << number;
  for (const char* number : {"0", "-1", "9223372036854775807"})
    EXPECT_EQ(run("SET", "a", "1", "PX", number), set_expiry_error) << number;
  EXPECT_EQ(run("SET", "a", "1", "EXAT", "9223372036854776"), set_expiry_error);
  EXPECT_EQ(run("SET", "a", "1", "EX", "x"), not_an_integer);
  EXPECT_EQ(run("SET", "a", "1", "EX", ""), not_an_integer);
  EXPECT_EQ(run("SET", "a", "1", "EX", std::string_view()), not_an_integer);
  EXPECT_EQ(run("SET", "a", "1", "EX", "1.5"), not_an_integer);
  EXPECT_EQ(run("GET", "a"), bulk("old"));
}

TEST_F(string_commands, set_with_contradictory_options) {
  EXPECT_EQ(run("SET", "a", "1", "EX"), syntax_error);
  EXPECT_EQ(run("SET", "a", "1", "EX", "1", "PX", "1"), syntax_error);
  EXPECT_EQ(run("SET", "a", "1", "KEEPTTL", "EX", "1"), syntax_error);
  EXPECT_EQ(run("SET", "a", "1", "EX", "1", "KEEPTTL"), syntax_error);
  EXPECT_EQ(run("SET", "a", "1", "bogus"), syntax_error);
  EXPECT_EQ(run("SET", "a", "1", ""), syntax_error);
  EXPECT_EQ(run("SET", "a", "1", "EX", "1", "EX", "2"), ok);
  EXPECT_EQ(run("TTL", "a"), ":2\r\n");
}

TEST_F(string_commands, the_older_ways_to_set) {
  EXPECT_EQ(run("SETNX", "a", "1"), ":1\r\n");
  EXPECT_EQ(run("SETNX", "a", "2"), ":0\r\n");
  EXPECT_EQ(run("SETEX", "a", "10", "3"), ok);
  EXPECT_EQ(run("TTL", "a"), ":10\r\n");
  EXPECT_EQ(run("SETEX", "a", "0", "3"), "-ERR invalid expire time in 'setex' command\r\n");
  EXPECT_EQ(run("SETEX", "a", "x", "3"), not_an_integer);
  EXPECT_EQ(run("GETSET", "a", "4"), bulk("3"));
  EXPECT_EQ(run("TTL", "a"), ":-1\r\n");
  EXPECT_EQ(run("GETSET", "new", "1"), null);
  EXPECT_EQ(run("GET", "new"), bulk("1"));
}

TEST_F(string_commands, several_keys_at_once) {
  EXPECT_EQ(run("MSET", "a", "1", "b", "2", "a", "3"), ok);
  EXPECT_EQ(run("MGET", "a", "none", "b"), "*3\r\n" + bulk("3") + null + bulk("2"));
  EXPECT_EQ(run("MSET", "a", "1", "b"), "-ERR wrong number of arguments for 'mset' command\r\n");
}

TEST_F(string_commands, append_and_strlen) {
  EXPECT_EQ(run("STRLEN", "a"), ":0\r\n");
  EXPECT_EQ(run("APPEND", "a", "abc"), ":3\r\n");
  run("EXPIRE", "a", "10");
  EXPECT_EQ(run("APPEND", "a", "def"), ":6\r\n");
  EXPECT_EQ(run("TTL", "a"), ":10\r\n");
  EXPECT_EQ(run("STRLEN", "a"), ":6\r\n");
  EXPECT_EQ(run("GET", "a"), bulk("abcdef"));
}

TEST_F(string_commands, counters) {
  EXPECT_EQ(run("INCR", "n"), ":1\r\n");
  EXPECT_EQ(run("INCRBY", "n", "41"), ":42\r\n");
  EXPECT_EQ(run("DECR", "n"), ":41\r\n");
  EXPECT_EQ(run("DECRBY", "n", "-9"), ":50\r\n");
  run("EXPIRE", "n", "10");
  EXPECT_EQ(run("INCRBY", "n", "-51"), ":-1\r\n");
  EXPECT_EQ(run("TTL", "n"), ":10\r\n");
  EXPECT_EQ(run("GET", "n"), bulk("-1"));
}

TEST_F(string_commands, counters_that_are_none_or_overflow) {
  for (const char* text : {"x", "", " 1", "1.0", "01", "9223372036854775808"}) {
    run("SET", "n", text);
    EXPECT_EQ(run("INCR", "n"), not_an_integer) << text;
  }
  const std::string overflow = "-ERR increment or decrement would overflow\r\n";
  run("SET", "n", "9223372036854775807");
  EXPECT_EQ(run("INCR", "n"), overflow);
  EXPECT_EQ(run("GET", "n"), bulk("9223372036854775807"));
  EXPECT_EQ(run("DECR", "n"), ":9223372036854775806\r\n");
  run("SET", "n", "-9223372036854775808");
  EXPECT_EQ(run("DECR", "n"), overflow);
  EXPECT_EQ(run("INCRBY", "n", "x"), not_an_integer);
  EXPECT_EQ(run("DECRBY", "n", "x"), not_an_integer);
  EXPECT_EQ(run("DECRBY", "n", "-9223372036854775808"), "-ERR decrement would overflow\r\n");
}

namespace {

class limited_keyspace : public command_fixture {
 protected:
  limited_keyspace() : command_fixture({.max_bytes = 20'000, .max_value_bytes = 100, .hash_seed = 1}) {}
};

const std::string out_of_memory = "-OOM command not allowed when used memory > 'maxmemory'.\r\n";

}  // namespace

TEST_F(limited_keyspace, refuses_to_grow_but_still_reads_and_deletes) {
  EXPECT_EQ(run("SET", "big", std::string(20'000, 'x')), ok);  // the command that passes the limit still runs
  EXPECT_EQ(run("SET", "a", "1"), out_of_memory);
  EXPECT_EQ(run("APPEND", "a", "1"), out_of_memory);
  EXPECT_EQ(run("INCR", "n"), out_of_memory);
  EXPECT_EQ(run("MSET", "n", "1"), out_of_memory);
  EXPECT_EQ(run("SET", "a"), "-ERR wrong number of arguments for 'set' command\r\n");
  EXPECT_EQ(run("STRLEN", "big"), ":20000\r\n");
  EXPECT_EQ(run("EXPIRE", "big", "10"), ":1\r\n");
  EXPECT_EQ(run("DEL", "big"), ":1\r\n");
  EXPECT_EQ(run("SET", "a", "1"), ok);
}

TEST_F(limited_keyspace, expired_keys_make_room) {
  EXPECT_EQ(run("SET", "big", std::string(20'000, 'x'), "PX", "10"), ok);
  EXPECT_EQ(run("SET", "a", "1"), out_of_memory);
  now += 11;
  EXPECT_EQ(run("SET", "a", "1"), ok);
}

TEST_F(limited_keyspace, values_do_not_grow_for_ever) {
  EXPECT_EQ(run("APPEND", "a", std::string(60, 'x')), ":60\r\n");
  EXPECT_EQ(run("APPEND", "a", std::string(41, 'x')),
            "-ERR string exceeds maximum allowed size (proto-max-bulk-len)\r\n");
  EXPECT_EQ(run("APPEND", "a", std::string(40, 'x')), ":100\r\n");
}
