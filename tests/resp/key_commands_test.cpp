// tests/resp/key_commands_test.cpp: commands on keys, and expiry on virtual time.
#include "tests/resp/command_fixture.hpp"

#include <string>

using namespace resp_test;

namespace {

class key_commands : public command_fixture {};

const std::string yes = ":1\r\n";
const std::string no = ":0\r\n";

}  // namespace

TEST_F(key_commands, del_exists_type_dbsize) {
  run("MSET", "a", "1", "b", "2", "c", "3");
  EXPECT_EQ(run("DBSIZE"), ":3\r\n");
  EXPECT_EQ(run("EXISTS", "a", "a", "none"), ":2\r\n");
  EXPECT_EQ(run("DEL", "a", "a", "none", "b"), ":2\r\n");
  EXPECT_EQ(run("TYPE", "c"), "+string\r\n");
  EXPECT_EQ(run("TYPE", "a"), "+none\r\n");
  EXPECT_EQ(run("DBSIZE"), yes);
}

TEST_F(key_commands, flushing) {
  for (const char* command : {"FLUSHALL", "FLUSHDB"}) {
    run("SET", "a", "1", "EX", "10");
    EXPECT_EQ(run(command, "bogus"), syntax_error);
    EXPECT_EQ(run(command, "sync", "async"), syntax_error);
    EXPECT_EQ(run("DBSIZE"), yes);
    EXPECT_EQ(run(command), ok);
    EXPECT_EQ(run("DBSIZE"), no);
    EXPECT_EQ(run(command, "ASYNC"), ok);
    EXPECT_EQ(run(command, "sync"), ok);
  }
}

TEST_F(key_commands, keys_by_pattern) {
  run("MSET", "hello", "1", "hallo", "2", "world", "3");
  EXPECT_EQ(run("KEYS", "w*"), "*1\r\n" + bulk("world"));
  EXPECT_EQ(run("KEYS", "nothing"), "*0\r\n");
  EXPECT_TRUE(run("KEYS", "h[ae]llo").starts_with("*2\r\n"));
  EXPECT_TRUE(run("KEYS", "*").starts_with("*3\r\n"));
  run("PEXPIRE", "world", "10");
  now += 11;
  EXPECT_EQ(run("KEYS", "w*"), "*0\r\n");
}

TEST_F(key_commands, a_key_lives_through_its_last_millisecond) {
  run("SET", "a", "1", "PX", "100");
  now += 100;
  EXPECT_EQ(run("PTTL", "a"), no);
  EXPECT_EQ(run("GET", "a"), bulk("1"));
  now += 1;
  EXPECT_EQ(run("GET", "a"), null);
  EXPECT_EQ(run("PTTL", "a"), ":-2\r\n");
}

TEST_F(key_commands, an_expired_key_is_gone_for_every_command) {
  const auto with_expired = [&](auto&&... command) {
    run("FLUSHALL");
    run("SET", "a", "1", "PX", "1");
    now += 2;
    return run(command...);
  };
  EXPECT_EQ(with_expired("EXISTS", "a"), no);
  EXPECT_EQ(with_expired("DEL", "a"), no);
  EXPECT_EQ(with_expired("TYPE", "a"), "+none\r\n");
  EXPECT_EQ(with_expired("STRLEN", "a"), no);
  EXPECT_EQ(with_expired("APPEND", "a", "x"), yes);
  EXPECT_EQ(with_expired("INCR", "a"), yes);
  EXPECT_EQ(with_expired("SETNX", "a", "x"), yes);
  EXPECT_EQ(with_expired("SET", "a", "x", "XX"), null);
  EXPECT_EQ(with_expired("SET", "a", "x", "GET"), null);
  EXPECT_EQ(with_expired("GETSET", "a", "x"), null);
  EXPECT_EQ(with_expired("EXPIRE", "a", "10"), no);
  EXPECT_EQ(with_expired("PERSIST", "a"), no);
  EXPECT_EQ(with_expired("TTL", "a"), ":-2\r\n");
}

TEST_F(key_commands, a_key_made_anew_does_not_inherit_the_expiry) {
  run("SET", "a", "1", "PX", "1");
  now += 2;
  run("SET", "a", "1", "KEEPTTL");
  EXPECT_EQ(run("TTL", "a"), ":-1\r\n");
}

TEST_F(key_commands, ttl_rounds_and_expire_sets) {
  EXPECT_EQ(run("TTL", "a"), ":-2\r\n");
  run("SET", "a", "1");
  EXPECT_EQ(run("TTL", "a"), ":-1\r\n");
  EXPECT_EQ(run("EXPIRE", "a", "10"), yes);
  now += 499;
  EXPECT_EQ(run("TTL", "a"), ":10\r\n");
  now += 2;
  EXPECT_EQ(run("TTL", "a"), ":9\r\n");
  EXPECT_EQ(run("PTTL", "a"), ":9499\r\n");
  EXPECT_EQ(run("PERSIST", "a"), yes);
  EXPECT_EQ(run("PERSIST", "a"), no);
  EXPECT_EQ(run("PEXPIRE", "a", "1500"), yes);
  EXPECT_EQ(run("TTL", "a"), ":2\r\n");
}

TEST_F(key_commands, expire_in_the_past_deletes) {
  for (const char* seconds : {"0", "-1", "-9223372036854775"}) {
    run("SET", "a", "1");
    EXPECT_EQ(run("EXPIRE", "a", seconds), yes) << seconds;
    EXPECT_EQ(run("DBSIZE"), no);
  }
  run("SET", "a", "1");
  EXPECT_EQ(run("PEXPIRE", "a", "-9223372036854775808"), yes);
  EXPECT_EQ(run("DBSIZE"), no);
}

TEST_F(key_commands, expire_with_wrong_numbers) {
  run("SET", "a", "1");
  EXPECT_EQ(run("EXPIRE", "a", "x"), not_an_integer);
  EXPECT_EQ(run("EXPIRE", "a", "9223372036854776"), "-ERR invalid expire time in 'expire' command\r\n");
  EXPECT_EQ(run("EXPIRE", "a", "-9223372036854776"), "-ERR invalid expire time in 'expire' command\r\n");
  EXPECT_EQ(run("PEXPIRE", "a", "9223372036854775807"), "-ERR invalid expire time in 'pexpire' command\r\n");
  EXPECT_EQ(run("EXPIRE", "none", "1"), no);
  EXPECT_EQ(run("TTL", "a"), ":-1\r\n");
}

TEST_F(key_commands, expire_only_if) {
  run("SET", "a", "1");
  EXPECT_EQ(run("EXPIRE", "a", "10", "XX"), no);
  EXPECT_EQ(run("EXPIRE", "a", "10", "GT"), no);
  EXPECT_EQ(run("EXPIRE", "a", "10", "NX"), yes);
  EXPECT_EQ(run("EXPIRE", "a", "10", "nx"), no);
  EXPECT_EQ(run("EXPIRE", "a", "10", "GT"), no);
  EXPECT_EQ(run("EXPIRE", "a", "11", "GT"), yes);
  EXPECT_EQ(run("EXPIRE", "a", "11", "LT"), no);
  EXPECT_EQ(run("EXPIRE", "a", "5", "LT", "XX"), yes);
  EXPECT_EQ(run("TTL", "a"), ":5\r\n");
  run("PERSIST", "a");
  EXPECT_EQ(run("EXPIRE", "a", "5", "LT"), yes);
  EXPECT_EQ(run("EXPIRE", "a", "5", "NX", "XX"),
            "-ERR NX and XX, GT or LT options at the same time are not compatible\r\n");
  EXPECT_EQ(run("EXPIRE", "a", "5", "GT", "LT"), "-ERR GT and LT options at the same time are not compatible\r\n");
  EXPECT_EQ(run("EXPIRE", "a", "x", "foo\nbar"), "-ERR Unsupported option foo bar\r\n");
}

TEST_F(key_commands, a_sweep_removes_what_nobody_asks_for) {
  for (int i = 0; i < 10; ++i) run("SET", std::to_string(i), "1", "PX", std::to_string(10 + i));
  now += 15;
  EXPECT_EQ(run("DBSIZE"), ":10\r\n");
  EXPECT_EQ(keys.expire_some(now, 3), 3u);
  EXPECT_EQ(keys.expire_some(now, 30), 2u);
  EXPECT_EQ(run("DBSIZE"), ":5\r\n");
}
