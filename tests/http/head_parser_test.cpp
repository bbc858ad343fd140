// tests/http/head_parser_test.cpp: the syntax of heads, RFC 9112 §2-5. Every input is fed in every split.
#include <gyre/http/head_parser.hpp>

#include "tests/http/feed.hpp"

#include <limits>

using namespace gyre_test;
using http::parse_error;
using http::parse_state;

namespace {

constexpr auto response_kind = http::head_parser::kind::response;

std::string with_field(std::string_view line) {
  return "GET / HTTP/1.1\r\nHost: a\r\n" + std::string(line) + "\r\n\r\n";
}

}  // namespace

TEST(head_parser, a_request_is_taken_apart) {
  // RFC 9112 §2.1, followed by a body.
  const auto head = parse_head(
      "GET /hello.txt HTTP/1.1\r\nUser-Agent: curl/7.64.1\r\nHost: www.example.com\r\nAccept-Language: en, "
      "mi\r\n\r\nbody");
  EXPECT_EQ(head.state, parse_state::complete);
  EXPECT_EQ(head.method, "GET");
  EXPECT_EQ(head.target, "/hello.txt");
  EXPECT_EQ(head.minor_version, 1);
  EXPECT_EQ(head.fields, (lines{"User-Agent: curl/7.64.1", "Host: www.example.com", "Accept-Language: en, mi"}));
  EXPECT_EQ(head.size, 100U);
}

TEST(head_parser, a_response_is_taken_apart) {
  const auto head = parse_head("HTTP/1.1 200 OK\r\nServer: Apache\r\nContent-Length: 51\r\n\r\n", response_kind);
  EXPECT_EQ(head.state, parse_state::complete);
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.target, "OK");
  EXPECT_EQ(head.fields, (lines{"Server: Apache", "Content-Length: 51"}));
}

TEST(head_parser, a_reason_may_be_empty_missing_or_several_words) {
  EXPECT_EQ(parse_head("HTTP/1.1 204 \r\n\r\n", response_kind).target, "");
  EXPECT_EQ(parse_head("HTTP/1.1 204\r\n\r\n", response_kind).state, parse_state::complete);
  EXPECT_EQ(parse_head("HTTP/1.0 404 Not Found\r\n\r\n", response_kind).target, "Not Found");
}

TEST(head_parser, white_space_around_a_value_is_not_part_of_it) {
  EXPECT_EQ(parse_head(with_field("A: \t b c \t")).fields.at(1), "A: b c");
  EXPECT_EQ(parse_head(with_field("A:b")).fields.at(1), "A: b");
  EXPECT_EQ(parse_head(with_field("A:")).fields.at(1), "A: ");
  EXPECT_EQ(parse_head(with_field("A:   ")).fields.at(1), "A: ");
}

TEST(head_parser, every_token_character_may_stand_in_a_name_and_every_visible_one_in_a_value) {
  EXPECT_EQ(parse_head(with_field("!#$%&'*+-.^_`|~09AZaz: \x80\xff !\"()[]{}\t~")).state, parse_state::complete);
}

TEST(head_parser, empty_lines_before_a_request_are_skipped) {
  EXPECT_EQ(parse_head("\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n").state, parse_state::complete);
}

TEST(head_parser, a_head_is_incomplete_until_its_end) {
  EXPECT_EQ(parse_head("").state, parse_state::incomplete);
  EXPECT_EQ(parse_head("GET / HTTP/1.1\r\nHost: a\r\n").state, parse_state::incomplete);
  EXPECT_EQ(parse_head("GET / HTTP/1.1\r\nHost: a\r\n\r").state, parse_state::incomplete);
}

TEST(head_parser, all_forms_of_versions) {
  EXPECT_EQ(parse_head("GET / HTTP/1.0\r\n\r\n").minor_version, 0);
  EXPECT_EQ(parse_head("GET / HTTP/1.7\r\n\r\n").minor_version, 1);
  EXPECT_EQ(error_of_head("GET / HTTP/2.0\r\n\r\n"), parse_error::unsupported_version);
  EXPECT_EQ(error_of_head("GET / HTTP/0.9\r\n\r\n"), parse_error::unsupported_version);
  for (const char* bad : {"GET / HTTP/1\r\n\r\n", "GET / HTTP/1.10\r\n\r\n", "GET / http/1.1\r\n\r\n",
                          "GET / HTTP/1.1 \r\n\r\n", "GET / HTTP/a.1\r\n\r\n", "GET /\r\n\r\n", "GET / \r\n\r\n"})
    EXPECT_NE(error_of_head(bad), parse_error::none) << bad;
}

TEST(head_parser, bad_methods_are_refused) {
  for (const char* bad : {" GET / HTTP/1.1\r\n\r\n", "G@T / HTTP/1.1\r\n\r\n", "GET\t/ HTTP/1.1\r\n\r\n", "GET\r\n\r\n",
                          "/ HTTP/1.1\r\n\r\n", "G\x80T / HTTP/1.1\r\n\r\n"})
    EXPECT_EQ(error_of_head(bad), parse_error::bad_method) << bad;
}

// RFC 9112 §3.
TEST(head_parser, a_method_that_is_longer_than_any_is_501) {
  const auto request = [](std::size_t size) { return std::string(size, 'M') + " / HTTP/1.1\r\n\r\n"; };
  EXPECT_EQ(parse_head(request(http::head_parser::max_method_size)).state, parse_state::complete);
  http::head_limits small;
  small.target = 10;
  for (const std::size_t size : {33U, 64U, 200U, 255U, 256U, 257U, 300U, 500U})
    EXPECT_EQ(error_of_head(request(size), small), parse_error::method_too_long) << size;
  EXPECT_EQ(error_of_head(std::string(500, 'M'), small), parse_error::method_too_long) << "it has no end";
  EXPECT_EQ(error_of_head(std::string(10'000, 'M')), parse_error::method_too_long);
  EXPECT_EQ(error_of_head("GET " + std::string(500, '/'), small), parse_error::target_too_long);
  EXPECT_EQ(http::status_for(parse_error::method_too_long), 501);
}

TEST(head_parser, bad_targets_are_refused) {
  for (const char* bad :
       {"GET  HTTP/1.1\r\n\r\n", "GET  / HTTP/1.1\r\n\r\n", "GET /a b HTTP/1.1\r\n\r\n", "GET /a\tb HTTP/1.1\r\n\r\n",
        "GET /\x7f HTTP/1.1\r\n\r\n", "GET /\x80 HTTP/1.1\r\n\r\n", "GET /#fragment HTTP/1.1\r\n\r\n",
        "GET /abcdefghijklmnopqrs\x01 HTTP/1.1\r\n\r\n", "GET /abcdefghijklmnopqrs\rtuv HTTP/1.1\r\n\r\n"})
    EXPECT_EQ(error_of_head(bad), parse_error::bad_target) << bad;
}

TEST(head_parser, line_ends_are_cr_lf_and_nothing_else) {
  for (const char* bad : {"GET / HTTP/1.1\nHost: a\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\n\r\n",
                          "\nGET / HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\n\n"})
    EXPECT_EQ(error_of_head(bad), parse_error::bare_line_feed) << bad;
  EXPECT_EQ(error_of_head(with_field("A: b\rc: d")), parse_error::bad_field_value);
  EXPECT_EQ(error_of_head(with_field("A: b\r")), parse_error::bad_field_value);
}

TEST(head_parser, a_line_that_hides_a_field_from_one_recipient_is_refused) {
  EXPECT_EQ(error_of_head(with_field("Content-Length : 5")), parse_error::space_before_colon);
  EXPECT_EQ(error_of_head(with_field("Content-Length\t: 5")), parse_error::space_before_colon);
  EXPECT_EQ(error_of_head(with_field(" Content-Length: 5")), parse_error::folded_line);
  EXPECT_EQ(error_of_head(with_field("A: b\r\n c")), parse_error::folded_line);
  EXPECT_EQ(error_of_head(with_field("A: b\r\n\tc")), parse_error::folded_line);
}

TEST(head_parser, bad_names_are_refused) {
  for (const char* bad : {": b", "no colon", "A(b): c", "A\x01: b", "A\x80: b", "A\"b: c", "=: b "}) {
    const parse_error error = error_of_head(with_field(bad));
    const bool refused = error == parse_error::bad_field_name || error == parse_error::space_before_colon;
    EXPECT_TRUE(refused) << bad;
  }
}

TEST(head_parser, control_characters_in_values_are_refused_wherever_they_stand) {
  for (int c = 1; c < 0x20; ++c) {
    if (c == '\t' || c == '\n') continue;
    for (const std::size_t before :
         {std::size_t{0}, std::size_t{7}, std::size_t{15}, std::size_t{16}, std::size_t{40}}) {
      const std::string value = std::string(before, 'x') + static_cast<char>(c) + "y";
      EXPECT_EQ(error_of_head(with_field("A: " + value)), parse_error::bad_field_value) << c << " behind " << before;
    }
  }
  EXPECT_EQ(error_of_head(with_field("A: a\x7f")), parse_error::bad_field_value);
  EXPECT_EQ(error_of_head(with_field(std::string("A: a\0b", 6))), parse_error::bad_field_value);
}

TEST(head_parser, a_bad_status_line_is_refused) {
  for (const char* bad :
       {"HTTP/1.1 20 OK\r\n\r\n", "HTTP/1.1 2000 OK\r\n\r\n", "HTTP/1.1  200 OK\r\n\r\n", "HTTP/1.1 099 OK\r\n\r\n",
        "HTTP/1.1 abc OK\r\n\r\n", "HTTP/1.1\r\n\r\n", "HTTP/1.1 200 O\x01K\r\n\r\n", "HTTP/1.1 200OK\r\n\r\n"})
    EXPECT_EQ(parse_head(bad, response_kind).error, parse_error::bad_status_line) << bad;
  EXPECT_EQ(parse_head("ICY 200 OK\r\n\r\n", response_kind).error, parse_error::bad_version);
  EXPECT_EQ(parse_head("\r\nHTTP/1.1 200 OK\r\n\r\n", response_kind).state, parse_state::failed);
}

TEST(head_parser, limits_hold_at_their_value_and_not_beyond) {
  http::head_limits limits;
  limits.target = 10;
  limits.fields = 2;
  limits.size = 600;
  EXPECT_EQ(error_of_head("GET /123456789 HTTP/1.1\r\n\r\n", limits), parse_error::none);
  EXPECT_EQ(error_of_head("GET /1234567890 HTTP/1.1\r\n\r\n", limits), parse_error::target_too_long);
  EXPECT_EQ(error_of_head("GET /" + std::string(400, 'x') + " HTTP/1.1\r\n\r\n", limits), parse_error::target_too_long);
  EXPECT_EQ(error_of_head("GET / HTTP/1.1\r\nA: 1\r\nB: 2\r\n\r\n", limits), parse_error::none);
  EXPECT_EQ(error_of_head("GET / HTTP/1.1\r\nA: 1\r\nB: 2\r\nC: 3\r\n\r\n", limits), parse_error::too_many_fields);
  EXPECT_EQ(error_of_head("GET / HTTP/1.1\r\nA: " + std::string(600 - 23, 'x') + "\r\n\r\n", limits),
            parse_error::none);
  EXPECT_EQ(error_of_head("GET / HTTP/1.1\r\nA: " + std::string(600 - 22, 'x') + "\r\n\r\n", limits),
            parse_error::head_too_large);
  EXPECT_EQ(error_of_head("GET / HTTP/1.1\r\nA: " + std::string(2000, 'x'), limits), parse_error::head_too_large);
}

TEST(head_parser, a_limit_may_be_the_largest_number) {
  constexpr std::size_t most = std::numeric_limits<std::size_t>::max();
  const http::head_limits none{.target = most, .fields = most, .size = most};
  EXPECT_EQ(error_of_head("GET / HTTP/1.1\r\nA: 1\r\n\r\n", none), parse_error::none);
  EXPECT_EQ(error_of_head("GET /" + std::string(400, 'x'), none), parse_error::none);
}

TEST(head_parser, messages_follow_each_other) {
  const std::string_view bytes = "GET /1 HTTP/1.1\r\nHost: a\r\n\r\nGET /2 HTTP/1.1\r\nHost: b\r\n\r\n";
  http::head_parser parser(http::head_parser::kind::request);
  ASSERT_EQ(parser.parse(bytes), parse_state::complete);
  EXPECT_EQ(parser.target(), "/1");
  const std::size_t first = parser.size();
  parser.reset();
  ASSERT_EQ(parser.parse(bytes.substr(first)), parse_state::complete);
  EXPECT_EQ(parser.target(), "/2");
  EXPECT_EQ(parser.fields().size(), 1U);
}

TEST(head_parser, after_an_error_it_stays_failed_until_it_is_reset) {
  http::head_parser parser(http::head_parser::kind::request);
  ASSERT_EQ(parser.parse("G@T\r\n"), parse_state::failed);
  ASSERT_EQ(parser.parse("G@T\r\n\r\n"), parse_state::failed);
  parser.reset();
  ASSERT_EQ(parser.parse("GET / HTTP/1.1\r\n\r\n"), parse_state::complete);
}

TEST(parse_error, each_has_a_status_and_words) {
  for (int i = 0; i <= static_cast<int>(parse_error::trailer_too_large); ++i) {
    const auto error = static_cast<parse_error>(i);
    EXPECT_GE(http::status_for(error), 400);
    EXPECT_NE(http::describe(error), "unknown");
  }
  EXPECT_EQ(http::status_for(parse_error::target_too_long), 414);
  EXPECT_EQ(http::status_for(parse_error::head_too_large), 431);
}

TEST(head_parser, a_version_is_two_digits_around_a_dot) {
  for (const char* bad : {"HTTP/-.1", "HTTP/1x1", "HTTP/1.x", "HTTP/1.", "HTTP/:.1"})
    EXPECT_EQ(parse_head("GET / " + std::string(bad) + "\r\nHost: a\r\n\r\n").error, parse_error::bad_version) << bad;
}

TEST(head_parser, a_target_has_a_limit_whatever_the_version) {
  const std::string longest(70'000, 'a');
  for (const char* version : {"HTTP/1.1", "HTTP/1.0"}) {
    http::head_parser parser(http::head_parser::kind::request, {.target = 1'000, .size = 100'000});
    EXPECT_EQ(parser.parse("GET /" + longest + " " + version + "\r\nHost: a\r\n\r\n"), parse_state::failed);
    EXPECT_EQ(parser.error(), parse_error::target_too_long) << version;
  }
}

TEST(head_parser, a_status_stands_behind_a_space_and_may_be_without_a_reason) {
  EXPECT_EQ(parse_head("HTTP/1.1 204\r\n\r\n", response_kind).status, 204);
  for (const char* bad : {"HTTP/1.1x200 OK", "HTTP/1.1 200OK", "HTTP/1.1 099 No", "HTTP/1.1 2:0 No"})
    EXPECT_EQ(parse_head(std::string(bad) + "\r\n\r\n", response_kind).error, parse_error::bad_status_line) << bad;
}

TEST(head_parser, a_lenient_one_takes_line_feeds_and_folded_lines_of_responses) {
  constexpr auto lenient = http::head_parser::kind::lenient_response;
  const auto head = parse_head("HTTP/1.1 200 OK\nA: b\nC: d\r\n e\n\tf\r\nG:\n h\n \nI:\n \n\nbody", lenient);
  EXPECT_EQ(head.state, parse_state::complete);
  EXPECT_EQ(head.target, "OK");
  EXPECT_EQ(head.fields, (lines{"A: b", "C: d\r\n e\n\tf", "G: h", "I: "}));
  for (const char* const bad : {"HTTP/1.1 200 OK\r\n A: b\r\n\r\n", "HTTP/1.1 200 OK\n\t\n\n"})
    EXPECT_EQ(parse_head(bad, lenient).error, parse_error::folded_line) << bad;
  for (const char* const bad : {"HTTP/1.1 200 OK\r\nA: b\r\r\n\r\n", "HTTP/1.1 200 OK\r\nA: b\r\n c\rd\r\n\r\n"})
    EXPECT_EQ(parse_head(bad, lenient).error, parse_error::bad_field_value) << bad;
  EXPECT_EQ(parse_head("HTTP/1.1 200 OK\r\nA: b\r\n c\r\n\r\n", response_kind).error, parse_error::folded_line);
}
