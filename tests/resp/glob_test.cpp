// tests/resp/glob_test.cpp: glob patterns.
#include "programs/resp_server/glob.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <random>
#include <string>
#include <string_view>

using namespace resp;

TEST(glob, matches_like_redis) {
  const auto yes = [](std::string_view pattern, std::string_view text) {
    EXPECT_TRUE(glob_pattern(pattern).matches(text)) << pattern << ' ' << text;
  };
  const auto no = [](std::string_view pattern, std::string_view text) {
    EXPECT_FALSE(glob_pattern(pattern).matches(text)) << pattern << ' ' << text;
  };
  yes("", "");
  no("", "a");
  yes("*", "anything");
  yes("*", "");
  yes("a*", "a");
  yes("*a", "banana");
  no("*a", "bananas");
  yes("b*n*a", "banana");
  no("b*n*x", "banana");
  yes("b?nana", "banana");
  no("?", "");
  yes("[abc]x", "bx");
  no("[abc]x", "dx");
  yes("[^abc]x", "dx");
  no("[^abc]x", "ax");
  yes("[a-c]", "b");
  yes("[c-a]", "b");
  no("[a-c]", "d");
  yes("[\\]]", "]");
  yes("[\\-a]", "-");
  yes("[abc", "c");  // never closed
  yes("\\*", "*");
  no("\\*", "a");
  yes("h[ae]llo*", "hallo world");
  no("ABC", "abc");
  EXPECT_FALSE(glob_pattern("A[^B-C]c", letter_case::ignored).matches("aBC"));
  EXPECT_TRUE(glob_pattern("\\Z?", letter_case::ignored).matches("z?"));
  EXPECT_FALSE(glob_pattern("@", letter_case::ignored).matches("`"));
  EXPECT_TRUE(glob_pattern("A[B-C]c", letter_case::ignored).matches("aBC"));
}

TEST(glob, a_class_that_is_never_closed_or_empty) {
  EXPECT_TRUE(glob_pattern("[^").matches("a"));
  EXPECT_FALSE(glob_pattern("[").matches("a"));
  EXPECT_FALSE(glob_pattern("[]").matches("a"));
  EXPECT_TRUE(glob_pattern("a\\").matches("a\\"));
}

TEST(glob, a_pattern_of_any_length_up_to_the_limit_costs_a_word_for_64_elements_and_byte) {
  EXPECT_EQ(glob_pattern("").words(), 1u);
  EXPECT_EQ(glob_pattern(std::string(63, 'a')).words(), 1u);
  EXPECT_EQ(glob_pattern(std::string(64, 'a')).words(), 2u);
  EXPECT_EQ(glob_pattern(std::string(glob_pattern::max_bytes, '?')).words(), 17u);
  EXPECT_EQ(glob_pattern(std::string(glob_pattern::max_bytes, '*')).words(), 1u);
  std::string hostile;
  while (hostile.size() + 2 < glob_pattern::max_bytes) hostile += "*a";
  EXPECT_EQ(glob_pattern(hostile + "b").words(), 9u);
  EXPECT_FALSE(glob_pattern(hostile + "b").matches(std::string(100'000, 'a')));
  EXPECT_TRUE(glob_pattern(hostile + "b").matches(std::string(100'000, 'a') + "b"));
}

TEST(glob, reads_a_text_in_parts_and_each_byte_once) {
  const glob_pattern pattern("*needle");
  const std::string text = std::string(1000, 'n') + "needle";
  glob_pattern::progress state;
  int parts = 1;
  while (pattern.read(state, text, 10) == glob_pattern::verdict::unknown) {
    EXPECT_EQ(state.bytes_read(), static_cast<std::size_t>(parts) * 10);
    ++parts;
  }
  EXPECT_EQ(parts, 101);
  EXPECT_EQ(pattern.read(state, text, 0), glob_pattern::verdict::matches);
}

TEST(glob, stops_reading_where_the_verdict_is_known) {
  const std::string text(1000, 'x');
  glob_pattern::progress early;
  EXPECT_EQ(glob_pattern("x*").read(early, text, text.size()), glob_pattern::verdict::matches);
  EXPECT_EQ(early.bytes_read(), 1u);
  glob_pattern::progress never;
  EXPECT_EQ(glob_pattern("xy*").read(never, text, text.size()), glob_pattern::verdict::differs);
  EXPECT_EQ(never.bytes_read(), 1u);
}

namespace {

// The definition of a match, regardless of cost.
bool matches_by_definition(std::string_view pattern, std::string_view text) {
  if (pattern.empty()) return text.empty();
  if (pattern[0] == '*') {
    for (std::size_t taken = 0; taken <= text.size(); ++taken)
      if (matches_by_definition(pattern.substr(1), text.substr(taken))) return true;
    return false;
  }
  return !text.empty() && (pattern[0] == '?' || pattern[0] == text[0]) &&
         matches_by_definition(pattern.substr(1), text.substr(1));
}

}  // namespace

TEST(glob, agrees_with_the_definition_on_random_patterns_across_words) {
  std::mt19937 random(11);
  const auto letters = [&](std::string_view from, std::size_t count) {
    std::string made;
    for (std::size_t i = 0; i < count; ++i) made += from[random() % from.size()];
    return made;
  };
  int matched = 0;
  for (int round = 0; round < 20'000; ++round) {
    const std::string head = letters("ab", random() % 2 * 60);  // the interesting part lies at a machine word boundary
    const std::string pattern = head + letters("ab?*", random() % 10);
    const std::string text = head + letters("ab", random() % 10);
    const bool expected = matches_by_definition(pattern, text);
    matched += expected ? 1 : 0;
    ASSERT_EQ(glob_pattern(pattern).matches(text), expected) << pattern << ' ' << text;
  }
  EXPECT_GT(matched, 1000);
}
