// tests/resp/inline_request_test.cpp: inline commands, by the rules of sdssplitargs.
#include "programs/resp_server/inline_request.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

using namespace std::string_literals;

namespace {

using words = std::optional<std::vector<std::string>>;

words split(std::string_view line) {
  std::string unquoted;
  std::vector<std::string_view> arguments;
  if (!resp::split_inline_request(line, unquoted, arguments)) return std::nullopt;
  return words(std::in_place, arguments.begin(), arguments.end());
}

}  // namespace

TEST(inline_request, words_and_blanks) {
  EXPECT_EQ(split(""), words(std::in_place));
  EXPECT_EQ(split(" \t\v\f "), words(std::in_place));
  EXPECT_EQ(split("a"), words({"a"}));
  EXPECT_EQ(split("  a \t b  "), words({"a", "b"}));
  EXPECT_EQ(split("a\rb"), words({"a", "b"}));
  EXPECT_EQ(split("a\vb"), words({"a\vb"}));  // does not end a word, although it may separate words
}

TEST(inline_request, double_quotes) {
  EXPECT_EQ(split(R"("a b" c)"), words({"a b", "c"}));
  EXPECT_EQ(split(R"("\n\r\t\b\a\\\"\q")"), words({"\n\r\t\b\a\\\"q"}));
  EXPECT_EQ(split(R"("\x00\xFf\x4a")"), words({"\0\xffJ"s}));
  EXPECT_EQ(split(R"("\x4")"), words({"x4"}));
  EXPECT_EQ(split(R"("\xg0")"), words({"xg0"}));
  EXPECT_EQ(split(R"(pre"fix" x)"), words({"prefix", "x"}));
  EXPECT_EQ(split(R"("it's")"), words({"it's"}));
}

TEST(inline_request, single_quotes) {
  EXPECT_EQ(split(R"('a b' 'c"d')"), words({"a b", "c\"d"}));
  EXPECT_EQ(split(R"('it\'s \n')"), words({R"(it's \n)"}));
}

TEST(inline_request, quotes_must_be_closed_and_end_the_word) {
  for (const std::string_view line :
       {R"(")", R"(')", R"("a)", R"('a)", R"("a"b)", R"('a'b)", R"("a""b")", R"("\)", R"("a\")"})
    EXPECT_EQ(split(line), std::nullopt) << line;
}

TEST(inline_request, a_nul_ends_the_line) {
  EXPECT_EQ(split("a b\0c d"s), words({"a", "b"}));
  EXPECT_EQ(split("a \"b\0c\""s), std::nullopt);
}

TEST(inline_request, many_quoted_words_stay_where_they_are) {
  std::string line;
  std::vector<std::string> expected;
  for (int i = 0; i < 500; ++i) {
    line += "\"w " + std::to_string(i) + "\" plain ";
    expected.push_back("w " + std::to_string(i));
    expected.push_back("plain");
  }
  EXPECT_EQ(split(line), words(expected));
}
