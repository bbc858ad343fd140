// tests/resp/words_test.cpp: integers, words, and finding commands by name.
#include "programs/resp_server/command.hpp"
#include "programs/resp_server/integer.hpp"
#include "programs/resp_server/word.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>

using namespace resp;

TEST(integer, reads_what_redis_reads) {
  constexpr auto highest = std::numeric_limits<std::int64_t>::max();
  constexpr auto lowest = std::numeric_limits<std::int64_t>::min();
  EXPECT_EQ(parse_integer("0"), 0);
  EXPECT_EQ(parse_integer("-1"), -1);
  EXPECT_EQ(parse_integer("9223372036854775807"), highest);
  EXPECT_EQ(parse_integer("-9223372036854775808"), lowest);
  for (const std::string_view text : {"", "-", "+1", "-0", "00", "01", "-01", " 1", "1 ", "1.0", "0x1", "1e3",
                                      "9223372036854775808", "-9223372036854775809", "100000000000000000000"})
    EXPECT_EQ(parse_integer(text), std::nullopt) << text;
  EXPECT_EQ(decimal(lowest).view(), "-9223372036854775808");
  EXPECT_EQ(decimal(0).view(), "0");
}

TEST(word, is_the_same_in_every_case_and_for_nothing_else) {
  for (const std::string_view text : {"get", "GET", "GeT"}) EXPECT_EQ(read_word(text), word_of("get"));
  EXPECT_EQ(read_word("fLuShAlL"), word_of("flushall"));
  for (const std::string_view text : {"", "ge", "gett", "g e", "ge\x14", "g\0t", "flushalls"})
    EXPECT_NE(read_word(text), word_of("get")) << text;
  for (int first = 0; first < 256; ++first)
    for (int last = 0; last < 256; ++last) {
      const char text[] = {static_cast<char>(first), 'E', static_cast<char>(last)};
      const bool same = (first == 'g' || first == 'G') && (last == 't' || last == 'T');
      ASSERT_EQ(read_word({text, 3}) == word_of("get"), same) << first << ' ' << last;
    }
  const std::string letters = "abcdefgh";
  EXPECT_EQ(read_word(letters), word_of("abcdefgh"));
  EXPECT_EQ(read_word(letters.substr(0, 7)), word_of("abcdefg"));
  EXPECT_EQ(read_word(letters.substr(0, 5)), word_of("abcde"));
  EXPECT_EQ(read_word(letters.substr(0, 4)), word_of("abcd"));
  EXPECT_EQ(read_word(letters.substr(0, 2)), word_of("ab"));
  EXPECT_EQ(read_word(letters.substr(0, 1)), word_of("a"));
}

TEST(command_table, every_command_is_found_by_its_name_in_any_case) {
  for (const command& each : all_commands()) {
    EXPECT_EQ(find_command(each.name), &each) << each.name;
    std::string upper(each.name);
    for (char& c : upper) c = static_cast<char>(c - 32);
    EXPECT_EQ(find_command(upper), &each) << upper;
    EXPECT_EQ(find_command(upper + "X"), nullptr);
    EXPECT_EQ(find_command(std::string_view(upper).substr(0, upper.size() - 1)), nullptr);
  }
  for (const std::string_view name : {"", "x", "foo", "\0", "flushallflushall"}) EXPECT_EQ(find_command(name), nullptr);
}
