// tests/http/json_text_test.cpp: foreign text as JSON strings.
#include "src/http/semantics/escape.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace {

std::string json(std::string_view text) {
  std::string out;
  gyre::http::append_json(out, text);
  return out;
}

}  // namespace

TEST(json_text, quotes_backslashes_and_controls_are_escaped) {
  EXPECT_EQ(json(R"(say "a\b")"), R"("say \"a\\b\"")");
  EXPECT_EQ(json("a\r\n\t\x1b\x7f"), R"("a\u000d\u000a\u0009\u001b\u007f")");
  EXPECT_EQ(json(std::string_view("\0", 1)), R"("\u0000")");
}

TEST(json_text, well_formed_text_stays_as_it_is) {
  for (const std::string text : {"plain", "\xc3\xa9", "\xdf\xbf", "\xe0\xa0\x80", "\xe2\x82\xac", "\xed\x9f\xbf",
                                 "\xee\x80\x80", "\xf0\x90\x80\x80", "\xf0\x9f\x98\x80"})
    EXPECT_EQ(json(text), '"' + text + '"');
}

TEST(json_text, every_byte_that_is_no_part_of_a_character_is_replaced) {
  const std::string replaced = "\\ufffd";
  EXPECT_EQ(json("\x80"), '"' + replaced + '"');     // a continuation alone
  EXPECT_EQ(json("\xc3"), '"' + replaced + '"');     // cut off
  EXPECT_EQ(json("\xc3("), '"' + replaced + "(\"");  // the next byte is not a continuation
  EXPECT_EQ(json("\xe2\x82("), '"' + replaced + replaced + "(\"");
  EXPECT_EQ(json("\xff"
                 "a"),
            '"' + replaced + "a\"");
  EXPECT_EQ(json("\xf5\x80\x80\x80"), '"' + replaced + replaced + replaced + replaced + '"');
}

TEST(json_text, overlong_forms_surrogates_and_what_is_beyond_unicode_are_no_characters) {
  for (const std::string_view text : {"\xc0\xaf", "\xc1\xbf"}) EXPECT_EQ(json(text), R"("\ufffd\ufffd")");
  for (const std::string_view text : {"\xe0\x9f\xbf", "\xed\xa0\x80", "\xed\xbf\xbf"})
    EXPECT_EQ(json(text), R"("\ufffd\ufffd\ufffd")");
  for (const std::string_view text : {"\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80"})
    EXPECT_EQ(json(text), R"("\ufffd\ufffd\ufffd\ufffd")");
}
