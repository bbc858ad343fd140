// tests/resp/long_commands_test.cpp: commands over many keys run in steps, and other commands run between the steps.
#include "programs/resp_server/entry_list.hpp"
#include "programs/resp_server/glob.hpp"
#include "tests/resp/command_fixture.hpp"

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <vector>

using namespace resp_test;
using resp::entry_cursor;

namespace {

class long_commands : public command_fixture {
 protected:
  void fill(int count) {
    for (int i = 0; i < count; ++i) keys.set("key" + std::to_string(i), "v", now);
  }
  // Starts a command that runs in steps.
  template <class... Arguments>
  std::unique_ptr<resp::unfinished_command> start(const Arguments&... arguments) {
    const std::array<std::string_view, sizeof...(arguments)> all{std::string_view(arguments)...};
    reply.clear();
    resp::execute(all, keys, now, reply, connection);
    return std::move(connection.unfinished);
  }
};

}  // namespace

TEST_F(long_commands, keys_looks_at_a_bounded_number_of_entries_in_a_step) {
  fill(20'000);
  const auto work = start("KEYS", "nothing");
  int steps = 1;
  while (!work->step(keys, now, reply)) ++steps;
  EXPECT_GT(steps, 10);
  EXPECT_EQ(reply.view(), "*0\r\n");
}

TEST_F(long_commands, keys_reads_a_bounded_part_of_a_long_key_in_a_step) {
  keys.set(std::string(1'000'000, 'a'), "v", now);
  keys.set(std::string(1'000'000, 'a') + "b", "v", now);
  std::string pattern;
  while (pattern.size() + 2 < resp::glob_pattern::max_bytes) pattern += "*a";
  pattern += "b";
  const auto work = start("KEYS", pattern);
  int steps = 1;
  while (!work->step(keys, now, reply)) ++steps;
  EXPECT_GT(steps, 100);
  EXPECT_TRUE(reply.view().starts_with("*1\r\n$1000001\r\naaa"));
}

TEST_F(long_commands, to_compile_a_long_pattern_is_a_step_of_its_own_also_without_keys) {
  const auto work = start("KEYS", "[" + std::string(1000, 'a') + "]");
  EXPECT_FALSE(work->step(keys, now, reply));
  EXPECT_TRUE(work->step(keys, now, reply));
  EXPECT_EQ(reply.view(), "*0\r\n");
}

TEST_F(long_commands, keys_tells_each_key_that_was_there_all_the_time_once) {
  fill(10'000);
  const auto work = start("KEYS", "*");
  int made = 0;
  std::set<std::string> removed;
  while (!work->step(keys, now, reply)) {
    for (int i = 0; i < 200; ++i) {
      keys.set("new" + std::to_string(made), "v", now);  // makes the table grow during the iteration
      const std::string name = "key" + std::to_string(made++ % 10'000);
      if (made % 3 != 0) continue;
      if (resp::entry* const item = keys.find(name, now)) keys.erase(*item);
      removed.insert(name);
    }
  }
  std::vector<std::string> found;
  std::string_view rest = reply.view();
  for (rest.remove_prefix(rest.find("\r\n") + 2); !rest.empty(); rest.remove_prefix(rest.find("\r\n") + 2)) {
    rest.remove_prefix(rest.find("\r\n") + 2);
    found.emplace_back(rest.substr(0, rest.find("\r\n")));
  }
  std::sort(found.begin(), found.end());
  EXPECT_EQ(std::adjacent_find(found.begin(), found.end()), found.end());
  for (int i = 0; i < 10'000; ++i) {
    const std::string name = "key" + std::to_string(i);
    if (!removed.contains(name)) ASSERT_TRUE(std::binary_search(found.begin(), found.end(), name)) << name;
  }
  EXPECT_GT(made, 1000);
}

TEST_F(long_commands, keys_survives_that_the_key_it_is_reading_goes_away) {
  keys.set("last", "v", now);
  keys.set(std::string(1'000'000, 'a') + "b", "v", now);
  const auto work = start("KEYS", "*a*[bt]");
  ASSERT_FALSE(work->step(keys, now, reply));
  keys.erase(*keys.find(std::string(1'000'000, 'a') + "b", now));
  while (!work->step(keys, now, reply)) {
  }
  EXPECT_EQ(reply.view(), "*1\r\n" + bulk("last"));
}

TEST_F(long_commands, keys_ends_with_what_it_has_when_everything_is_removed) {
  fill(10'000);
  const auto work = start("KEYS", "*");
  ASSERT_FALSE(work->step(keys, now, reply));
  keys.clear();
  EXPECT_TRUE(work->step(keys, now, reply));
  EXPECT_TRUE(reply.view().starts_with("*"));
}

TEST_F(long_commands, keys_that_fit_into_no_reply_are_counted_and_taken_back) {
  fill(1000);
  const std::size_t whole = run("KEYS", "*").size();
  reply = resp::reply_buffer(1000);
  const auto work = start("KEYS", "*");
  while (!work->step(keys, now, reply)) {
  }
  EXPECT_TRUE(reply.overflowed());
  EXPECT_TRUE(reply.empty());
  EXPECT_GE(reply.wanted(), whole);
  EXPECT_LE(reply.wanted(), whole + 1000 * resp::reply_buffer::max_header);
}

TEST_F(long_commands, a_pattern_over_the_limit_is_refused) {
  const std::string refused = "-ERR pattern is longer than 1024 bytes\r\n";
  EXPECT_EQ(run("KEYS", std::string(1025, '*')), refused);
  EXPECT_EQ(run("KEYS", std::string(1024, '*')), "*0\r\n");
  EXPECT_EQ(run("CONFIG", "GET", std::string(1025, '*')), refused);
  EXPECT_EQ(run("CONFIG", "GET", std::string(600, 'x'), std::string(600, 'y')), refused);
}

TEST_F(long_commands, flushing_removes_all_keys_at_once_and_frees_them_in_steps) {
  fill(20'000);
  const std::size_t full = keys.used_bytes();
  const auto work = start("FLUSHALL");
  EXPECT_EQ(keys.size(), 0u);
  EXPECT_EQ(keys.find("key1", now), nullptr);
  EXPECT_GE(keys.used_bytes(), full);  // memory that is not yet free still counts
  keys.set("key1", "again", now);
  int steps = 1;
  while (!work->step(keys, now, reply)) ++steps;
  EXPECT_GT(steps, 10);
  EXPECT_EQ(reply.view(), ok);
  EXPECT_LT(keys.used_bytes(), 2000u);
  EXPECT_EQ(run("GET", "key1"), bulk("again"));
}

TEST_F(long_commands, flushing_counts_large_values_as_more_work) {
  for (int i = 0; i < 16; ++i) keys.set("key" + std::to_string(i), std::string(std::size_t{1} << 20U, 'v'), now);
  keys.clear();
  EXPECT_FALSE(keys.free_some(100));
  EXPECT_GT(keys.used_bytes(), std::size_t{10} << 20U);
}

TEST_F(long_commands, flushing_async_is_answered_before_the_memory_is_free) {
  fill(20'000);
  EXPECT_EQ(start("FLUSHALL", "ASYNC"), nullptr);
  EXPECT_EQ(reply.view(), ok);
  EXPECT_FALSE(keys.free_some(100));
  while (!keys.free_some(1000)) {
  }
  EXPECT_LT(keys.used_bytes(), 2000u);
}

TEST_F(long_commands, cursors_move_on_when_their_entry_is_removed) {
  fill(5);
  entry_cursor first(keys.all());
  entry_cursor second(keys.all());
  EXPECT_EQ(first.at()->first, "key4");
  keys.erase(*keys.find("key4", now));
  EXPECT_EQ(first.at()->first, "key3");
  second.advance();
  EXPECT_EQ(second.at()->first, "key2");
  keys.erase(*keys.find("key3", now));
  keys.set("key5", "", now);
  EXPECT_EQ(first.at()->first, "key2");
  keys.erase(*keys.find("key0", now));
  first.advance();
  EXPECT_EQ(first.at()->first, "key1");
  first.advance();
  EXPECT_EQ(first.at(), nullptr);
}

TEST_F(long_commands, a_reply_that_does_not_fit_leaves_the_value_as_it_was) {
  run("SET", "a", std::string(5000, 'x'));
  reply.set_limit(1000);
  for (const bool with_set : {false, true}) {
    EXPECT_EQ(with_set ? run("SET", "a", "new", "GET") : run("GETSET", "a", "new"), "");
    EXPECT_TRUE(reply.overflowed());
    EXPECT_EQ(run("STRLEN", "a"), ":5000\r\n");
  }
  EXPECT_EQ(run("MGET", "a", "a"), "");
  EXPECT_GE(reply.wanted(), 10'000u);
  reply.set_limit(100'000);
  EXPECT_EQ(run("GETSET", "a", "new"), bulk(std::string(5000, 'x')));
  EXPECT_EQ(run("GET", "a"), bulk("new"));
}
