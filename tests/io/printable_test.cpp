// tests/io/printable_test.cpp: foreign text stays on its line and does not control a terminal.
#include <gyre/io/printable.hpp>

#include "tests/support/denied_call.hpp"
#include "tests/support/full_standard_error.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <unistd.h>

#include <string>

using gyre::first_character;
using gyre::printable;

namespace {

std::string printed(std::initializer_list<std::string_view> parts) {
  testing::internal::CaptureStderr();
  gyre::print_diagnostic(parts);
  return testing::internal::GetCapturedStderr();
}

}  // namespace

TEST(printable, text_of_any_language_stays_as_it_is) {
  for (const std::string text :
       {"", "plain \\ \"text\"", "caf\u00e9", "\u65e5\u672c", "\U0001F600", "\u05e9\u05dc\u05d5\u05dd"})
    EXPECT_EQ(printable(text), text);
}

TEST(printable, controls_are_escaped) {
  EXPECT_EQ(printable("a\nb\r\tc\x1b[31m\x7f"), "a\\x0ab\\x0d\\x09c\\x1b[31m\\x7f");
  EXPECT_EQ(printable(std::string_view("\0", 1)), "\\x00");
  EXPECT_EQ(printable("\u0080\u009b31m\u009f\u00a0"), "\\u0080\\u009b31m\\u009f\u00a0");
}

TEST(printable, characters_that_turn_the_direction_of_text_or_end_a_line_are_escaped) {
  for (const auto& [code, escape] : {std::pair{"\u061c", "\\u061c"},
                                     {"\u200e", "\\u200e"},
                                     {"\u200f", "\\u200f"},
                                     {"\u202a", "\\u202a"},
                                     {"\u202e", "\\u202e"},
                                     {"\u2066", "\\u2066"},
                                     {"\u2069", "\\u2069"},
                                     {"\u2028", "\\u2028"},
                                     {"\u2029", "\\u2029"}})
    EXPECT_EQ(printable(code), escape);
  for (const char* const each : {"\u200d", "\u2030", "\u2065", "\u206a"}) EXPECT_EQ(printable(each), each);
}

TEST(printable, bytes_that_are_no_utf8_are_escaped_one_by_one) {
  EXPECT_EQ(printable("\x9b"), "\\x9b");                             // CSI of an 8-bit terminal
  EXPECT_EQ(printable("\xc0\xaf"), "\\xc0\\xaf");                    // overlong
  EXPECT_EQ(printable("\xe0\x80\xaf"), "\\xe0\\x80\\xaf");           // overlong
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");           // half of a surrogate pair
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");  // beyond Unicode
  EXPECT_EQ(printable("\xf0\x9f\x98"), "\\xf0\\x9f\\x98");           // cut off
  EXPECT_EQ(printable("\xe2\x82z"), "\\xe2\\x82z");
}

TEST(printable, the_first_character_has_its_size_and_code) {
  EXPECT_EQ(first_character("ab").size, 1U);
  EXPECT_EQ(first_character("\u00e9").code, U'\u00e9');
  EXPECT_EQ(first_character("\U0010FFFF").code, U'\U0010FFFF');
  EXPECT_EQ(first_character("\U0010FFFF").size, 4U);
  EXPECT_EQ(first_character("\xff").size, 0U);
  EXPECT_EQ(first_character("\xff").code, 0xffU);
  EXPECT_FALSE(first_character("\xff").printable);
}

TEST(print_diagnostic, prints_one_line_whatever_its_parts_hold) {
  EXPECT_EQ(printed({"error: ", "open \x1b]0;title\x07\nerror: forged", " \u202e"}),
            "error: open \\x1b]0;title\\x07\\x0aerror: forged \\u202e\n");
}

TEST(print_diagnostic, prints_a_line_of_any_length) {
  for (const std::size_t size : {0U, 1022U, 1023U, 1024U, 1025U, 5000U})
    EXPECT_EQ(printed({std::string(size, 'x'), "\n"}), std::string(size, 'x') + "\\x0a\n") << size;
}

TEST(print_diagnostic, loses_lines_that_standard_error_does_not_accept_and_says_how_many) {
  const auto said = gyre_test::in_child_process([] {
    const gyre_test::full_standard_error full;
    for (int i = 0; i < 3; ++i) gyre::print_diagnostic({"lost"});
    (void)full.read();
    gyre::print_diagnostic({"accepted"});
    gyre::print_diagnostic({"accepted, too"});
    return full.read();
  });
  EXPECT_EQ(said.text, "gyre: 3 messages on standard error were lost\naccepted\naccepted, too\n");
}

TEST(print_diagnostic, loses_the_whole_of_a_long_line) {
  const auto said = gyre_test::in_child_process([] {
    const gyre_test::full_standard_error full;
    gyre::print_diagnostic({std::string(10'000, 'x')});
    (void)full.read();
    gyre::print_diagnostic({"accepted"});
    return full.read();
  });
  EXPECT_EQ(said.text, "gyre: 1 message on standard error was lost\naccepted\n");
}

TEST(print_diagnostic, ends_a_line_that_was_torn) {
  const auto said = gyre_test::in_child_process([] {
    const gyre_test::full_standard_error half;  // then it has room for the first piece of a line
    (void)half.read();
    gyre::print_diagnostic({std::string(10'000, 'x')});
    std::string text = half.read();
    gyre::print_diagnostic({"accepted"});
    text += half.read();
    text.erase(0, text.find_first_not_of('x'));
    return text;
  });
  EXPECT_EQ(said.text, "\ngyre: 1 message on standard error was lost\naccepted\n");
}

TEST(print_diagnostic, goes_on_when_the_reader_of_standard_error_is_gone) {
  const auto said = gyre_test::in_child_process([] {
    const gyre_test::full_standard_error full;
    full.leave();
    gyre::print_diagnostic({"lost"});
    return std::string(gyre::write_diagnostic("lost\n") ? "written" : "not written");
  });
  EXPECT_EQ(said.text, "not written");
}

TEST(print_diagnostic, goes_on_when_standard_error_is_closed_or_full) {
  const auto said = gyre_test::in_child_process([] {
    ::close(STDERR_FILENO);
    gyre::print_diagnostic({"lost"});
    ::dup2(::open("/dev/full", O_WRONLY), STDERR_FILENO);
    gyre::print_diagnostic({"lost"});
    return std::string("goes on");
  });
  EXPECT_EQ(said.text, "goes on");
}
