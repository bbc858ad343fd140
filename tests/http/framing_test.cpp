// tests/http/framing_test.cpp: the meaning of the fields of a message, and attempts at request smuggling. RFC 9112
// §6-11.
#include <gyre/http/characters.hpp>
#include <gyre/http/field.hpp>
#include <gyre/http/framing.hpp>

#include "tests/http/feed.hpp"

using namespace gyre_test;
using http::body_kind;
using http::parse_error;

namespace {

struct understood {
  parse_error error;
  http::framing framing;
};

// The framing refers to `text`, which outlives it.
understood understand(const std::string& text) {
  http::head_parser parser(http::head_parser::kind::request);
  EXPECT_EQ(parser.parse(text), http::parse_state::complete) << text;
  understood result{};
  result.error = http::understand_request(parser, result.framing);
  return result;
}
parse_error error_with(const std::string& fields, const std::string& start = "POST / HTTP/1.1") {
  const std::string text = start + "\r\nHost: a\r\n" + fields + "\r\n";
  return understand(text).error;
}
http::framing framing_with(const std::string& fields, const std::string& start = "POST / HTTP/1.1") {
  static std::string text;
  text = start + "\r\nHost: a\r\n" + fields + "\r\n";
  const understood result = understand(text);
  EXPECT_EQ(result.error, parse_error::none) << text;
  return result.framing;
}
understood understand_response(const std::string& text, std::string_view method,
                               http::head_parser::kind kind = http::head_parser::kind::response) {
  http::head_parser parser(kind);
  EXPECT_EQ(parser.parse(text), http::parse_state::complete) << text;
  understood result{};
  result.error = http::understand_response(parser, method, result.framing);
  return result;
}

}  // namespace

TEST(framing, a_body_is_sized_chunked_or_not_there) {
  EXPECT_EQ(framing_with("").body, body_kind::none);
  EXPECT_EQ(framing_with("Content-Length: 0\r\n").body, body_kind::none);
  EXPECT_EQ(framing_with("Content-Length: 17\r\n").body, body_kind::sized);
  EXPECT_EQ(framing_with("content-LENGTH: 17\r\n").length, 17U);
  EXPECT_EQ(framing_with("Transfer-Encoding: chunked\r\n").body, body_kind::chunked);
  EXPECT_EQ(framing_with("Transfer-Encoding: CHUNKED\r\n").body, body_kind::chunked);
  EXPECT_EQ(framing_with("Transfer-Encoding: , chunked ,\r\n").body, body_kind::chunked);
}

TEST(framing, both_a_length_and_an_encoding_are_refused) {
  EXPECT_EQ(error_with("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n"), parse_error::length_and_encoding);
  EXPECT_EQ(error_with("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n"), parse_error::length_and_encoding);
}

TEST(framing, a_length_is_a_number_said_once) {
  for (const char* bad :
       {"", "-1", "+1", "1 2", "1,1", "0x10", "1.0", "9223372036854775808", "99999999999999999999", "1a"})
    EXPECT_EQ(error_with("Content-Length: " + std::string(bad) + "\r\n"), parse_error::bad_content_length) << bad;
  EXPECT_EQ(error_with("Content-Length: 5\r\nContent-Length: 5\r\n"), parse_error::bad_content_length);
  EXPECT_EQ(error_with("Content-Length: 5\r\nContent-Length: 6\r\n"), parse_error::bad_content_length);
  EXPECT_EQ(framing_with("Content-Length: 9223372036854775807\r\n").length, 9223372036854775807U);
  EXPECT_EQ(framing_with("Content-Length: 007\r\n").length, 7U);
}

TEST(framing, an_encoding_is_chunked_once_and_last) {
  EXPECT_EQ(error_with("Transfer-Encoding: chunked, chunked\r\n"), parse_error::bad_transfer_encoding);
  EXPECT_EQ(error_with("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"),
            parse_error::bad_transfer_encoding);
  EXPECT_EQ(error_with("Transfer-Encoding: chunked, gzip\r\n"), parse_error::bad_transfer_encoding);
  EXPECT_EQ(error_with("Transfer-Encoding:\r\n"), parse_error::bad_transfer_encoding);
  EXPECT_EQ(error_with("Transfer-Encoding: gzip, chunked\r\n"), parse_error::unknown_transfer_encoding);
  for (const char* without_end : {"gzip", "identity", "xchunked", "gzip, deflate"})
    EXPECT_EQ(error_with("Transfer-Encoding: " + std::string(without_end) + "\r\n"), parse_error::bad_transfer_encoding)
        << without_end;
  EXPECT_EQ(error_with("Transfer-Encoding: chunked\r\n", "POST / HTTP/1.0"), parse_error::bad_transfer_encoding);
}

TEST(framing, there_is_one_host) {
  EXPECT_EQ(understand("GET / HTTP/1.1\r\n\r\n").error, parse_error::missing_host);
  EXPECT_EQ(understand("GET / HTTP/1.0\r\n\r\n").error, parse_error::none);
  EXPECT_EQ(error_with("Host: a\r\n"), parse_error::repeated_host);
  for (const char* good :
       {"a", "a:80", "a:", "127.0.0.1:8080", "[::1]", "[::1]:80", "a-b.example_c%20", "a:65535", "a:0"})
    EXPECT_EQ(understand("GET / HTTP/1.1\r\nHost: " + std::string(good) + "\r\n\r\n").error, parse_error::none) << good;
  for (const char* bad :
       {"a b", "a/b", "a@b", "a:80:90", "a:8x", "[::1",  "[]:80",   "[g::]",   "a?b",  "a\"", "a:1234567",
        ":80", ":",   "a%",  "a%4",     "a%zz", "%4g.b", "a:65536", "a:99999", "a:+1", "a:-1"})
    EXPECT_EQ(understand("GET / HTTP/1.1\r\nHost: " + std::string(bad) + "\r\n\r\n").error, parse_error::bad_host)
        << bad;
}

// RFC 9110 §4.2.1: a recipient rejects an http URI without a host.
TEST(framing, an_empty_host_is_refused_unless_the_target_names_one) {
  for (const char* line : {"GET / HTTP/1.1", "GET //a HTTP/1.1", "OPTIONS * HTTP/1.1", "GET / HTTP/1.0"})
    for (const char* host : {"Host:", "Host:  \t", "hOST: "})
      EXPECT_EQ(understand(std::string(line) + "\r\n" + host + "\r\n\r\n").error, parse_error::empty_host) << line;
  for (const char* line : {"GET http://a/ HTTP/1.1", "CONNECT a:443 HTTP/1.1"})
    EXPECT_EQ(understand(std::string(line) + "\r\nHost:\r\n\r\n").error, parse_error::none) << line;
  EXPECT_EQ(http::status_for(parse_error::empty_host), 400);
}

TEST(framing, a_target_has_the_form_that_its_method_wants) {
  for (const char* good : {"GET /", "GET /a?b=c", "OPTIONS *", "GET http://a/b", "GET https://a", "CONNECT a:443",
                           "CONNECT [::1]:443", "GET HTTP://a:80/?x", "GET //a"})
    EXPECT_EQ(error_with("", std::string(good) + " HTTP/1.1"), parse_error::none) << good;
  for (const char* bad :
       {"GET *", "GET a", "GET a/b", "GET http://", "GET http:///b", "GET ftp://a/", "CONNECT /", "CONNECT a",
        "CONNECT :80", "CONNECT :", "CONNECT a:", "CONNECT a:0", "CONNECT a:65536", "CONNECT [::1]",
        "CONNECT [::1]:", "GET http://:80/x", "GET http://:/", "GET http://a b", "GET ?a"})
    if (std::string_view(bad).find(' ') == std::string_view(bad).rfind(' '))
      EXPECT_EQ(error_with("", std::string(bad) + " HTTP/1.1"), parse_error::bad_target) << bad;
}

TEST(framing, connections_stay_open_as_the_versions_say) {
  EXPECT_TRUE(framing_with("").keep_alive);
  EXPECT_FALSE(framing_with("Connection: close\r\n").keep_alive);
  EXPECT_FALSE(framing_with("Connection: foo, CLOSE\r\n").keep_alive);
  for (const char* spaced : {"close\t", "\tclose", "close \t", "close\t,foo", "foo,\tclose\t"})
    EXPECT_FALSE(framing_with("Connection:" + std::string(spaced) + "\r\n").keep_alive) << spaced;
  EXPECT_FALSE(framing_with("Connection: close\r\nConnection: keep-alive\r\n").keep_alive);
  EXPECT_FALSE(framing_with("", "GET / HTTP/1.0").keep_alive);
  EXPECT_TRUE(framing_with("Connection: Keep-Alive\r\n", "GET / HTTP/1.0").keep_alive);
}

TEST(framing, an_expectation_is_100_continue_or_refused) {
  EXPECT_TRUE(framing_with("Content-Length: 5\r\nExpect: 100-continue\r\n").expects_continue);
  EXPECT_TRUE(framing_with("Transfer-Encoding: chunked\r\nExpect: 100-Continue\r\n").expects_continue);
  EXPECT_FALSE(framing_with("Expect: 100-continue\r\n").expects_continue) << "there is no body to wait for";
  EXPECT_FALSE(framing_with("Content-Length: 5\r\nExpect: 100-continue\r\n", "POST / HTTP/1.0").expects_continue);
  EXPECT_EQ(error_with("Expect: miracles\r\n"), parse_error::unknown_expectation);
}

TEST(framing, every_expectation_of_all_fields_counts) {
  for (const char* fields :
       {"Expect: miracles\r\nExpect: 100-continue\r\n", "Expect: 100-continue\r\nExpect: miracles\r\n",
        "Expect: 100-continue, miracles\r\n", "Expect: miracles, 100-continue\r\n"})
    EXPECT_EQ(error_with(std::string(fields) + "Content-Length: 2\r\n"), parse_error::unknown_expectation) << fields;
  EXPECT_TRUE(framing_with("Content-Length: 5\r\nExpect: 100-continue\r\nExpect: 100-continue\r\n").expects_continue);
  EXPECT_FALSE(framing_with("Content-Length: 5\r\nExpect:\r\n").expects_continue);
}

TEST(framing, an_upgrade_needs_both_fields) {
  EXPECT_EQ(framing_with("Connection: Upgrade\r\nUpgrade: websocket\r\n").upgrade, "websocket");
  EXPECT_EQ(framing_with("Upgrade: websocket\r\n").upgrade, "");
  EXPECT_EQ(framing_with("Connection: upgrade\r\n").upgrade, "");
}

TEST(framing, it_says_that_there_are_several_fields_with_protocols) {
  EXPECT_FALSE(framing_with("Connection: Upgrade\r\nUpgrade: a, b\r\n").several_upgrades);
  EXPECT_TRUE(framing_with("Upgrade: a\r\nConnection: Upgrade\r\nUpgrade: b\r\n").several_upgrades);
  EXPECT_FALSE(framing_with("Upgrade: a\r\nUpgrade: b\r\n").several_upgrades) << "they are not for this connection";
}

TEST(framing, a_response_has_the_body_that_its_request_allows) {
  EXPECT_EQ(understand_response("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", "GET").framing.body, body_kind::sized);
  EXPECT_EQ(understand_response("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", "HEAD").framing.body, body_kind::none);
  EXPECT_EQ(understand_response("HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n", "GET").framing.body,
            body_kind::none);
  EXPECT_EQ(understand_response("HTTP/1.1 204 No Content\r\n\r\n", "GET").framing.body, body_kind::none);
  EXPECT_EQ(understand_response("HTTP/1.1 100 Continue\r\n\r\n", "POST").framing.body, body_kind::none);
  EXPECT_EQ(understand_response("HTTP/1.1 200 OK\r\n\r\n", "CONNECT").framing.body, body_kind::none);
  const understood rest = understand_response("HTTP/1.1 200 OK\r\n\r\n", "GET");
  EXPECT_EQ(rest.framing.body, body_kind::until_end);
  EXPECT_FALSE(rest.framing.keep_alive);
  EXPECT_EQ(
      understand_response("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n", "GET").error,
      parse_error::length_and_encoding);
}

TEST(may_be_trailer, is_false_for_names_that_a_gateway_could_take_for_a_forbidden_one) {
  for (const std::string_view name :
       {"Content-Length", "content_length", "Content.Length", "Transfer_Encoding", "transfer~encoding", "Set_Cookie",
        "If-Match", "if_match", "If.X", "Host", "te", "HTTP2-Settings", "Origin", "Warning"})
    EXPECT_FALSE(http::may_be_trailer(name)) << name;
  for (const std::string_view name : {"Checksum", "X-Rows", "x_rows", "grpc-status", "Iffy", "Content-MD5",
                                      "ContentLength", "Server-Timing", "Digest", "Host2", "X-Host"})
    EXPECT_TRUE(http::may_be_trailer(name)) << name;
}

TEST(understand_request, a_host_is_checked_whatever_the_hosts_before_it_were) {
  const auto error_of = [](const std::string& host) {
    return understand("GET / HTTP/1.1\r\nHost: " + host + "\r\n\r\n").error;
  };
  const std::string long_name = std::string(60, 'a') + ".example";
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(error_of("a.example:8080"), parse_error::none);
    EXPECT_EQ(error_of("a.example:8o80"), parse_error::bad_host);
    EXPECT_EQ(error_of("a.example:80"), parse_error::none);
    EXPECT_EQ(error_of(long_name), parse_error::none);
    EXPECT_EQ(error_of(long_name + "/"), parse_error::bad_host);
    EXPECT_EQ(error_of(""), parse_error::empty_host);
  }
}

TEST(equal_ignoring_case, only_the_case_of_letters_is_ignored_wherever_they_stand) {
  for (const std::size_t size : {1U, 3U, 4U, 7U, 8U, 13U, 16U, 21U}) {
    for (std::size_t at = 0; at < size; ++at) {
      for (int a = 0; a < 256; ++a) {
        for (const int change : {0, 0x20, 0x40, 0x80, 0x21}) {
          std::string first(size, 'n');
          std::string second(size, 'N');
          first[at] = static_cast<char>(a);
          second[at] = static_cast<char>(a ^ change);
          const bool same = http::to_lower(first[at]) == http::to_lower(second[at]);
          ASSERT_EQ(http::equal_ignoring_case(first, second), same) << size << " " << at << " " << a << " " << change;
        }
      }
    }
  }
  EXPECT_TRUE(http::equal_ignoring_case("", ""));
  EXPECT_FALSE(http::equal_ignoring_case("Host", "Hos"));
}

TEST(next_in_list, elements_come_without_white_space_and_quoted_commas_stay) {
  std::string_view rest = " a , ,b;q=\"x,y\\\"\" ,, c";
  EXPECT_EQ(http::next_in_list(rest), "a");
  EXPECT_EQ(http::next_in_list(rest), "b;q=\"x,y\\\"\"");
  EXPECT_EQ(http::next_in_list(rest), "c");
  EXPECT_EQ(http::next_in_list(rest), "");
}

TEST(framing, an_ipv6_address_is_a_host_with_or_without_a_port) {
  const auto error_of_host = [](const std::string& host) {
    return understand("GET / HTTP/1.1\r\nHost: " + host + "\r\n\r\n").error;
  };
  for (const char* good :
       {"[::1]", "[2001:db8::aBcF]:8080", "[::ffff:10.0.0.7]", "[fe80::1%25eth0]", "[v1.::]", "[::1]:"})
    EXPECT_EQ(error_of_host(good), parse_error::none) << good;
  for (const char* bad :
       {"[::g]", "[::G]", "[::1]8080", "[::1]:123456", "[::1]:80x", "[::1", "[]", "[:::::]", "[1.2.3.4]", "[v1]",
        "[v1.]", "[v.a]", "[vg.a]", "[1:2]", "[fe80::1%25]", "[fe80::1%eth0]", "[::1]:65536", "[a]"})
    EXPECT_EQ(error_of_host(bad), parse_error::bad_host) << bad;
}

TEST(framing, the_first_of_two_faults_is_named) {
  const std::string host_first = "Host: b\r\nContent-Length: 1\r\nContent-Length: 2\r\n";
  const std::string length_first = "Content-Length: 1\r\nContent-Length: 2\r\nHost: b\r\n";
  EXPECT_EQ(error_with(host_first), parse_error::repeated_host);
  EXPECT_EQ(error_with(length_first), parse_error::bad_content_length);
}

TEST(framing, a_field_whose_name_is_as_long_as_another_is_not_that) {
  const http::framing got = framing_with("Accept-Charset: 7\r\nAccept: 9\r\nReferer: a\r\nX-Something: close\r\n");
  EXPECT_EQ(got.body, body_kind::none);
  EXPECT_TRUE(got.keep_alive);
  EXPECT_TRUE(got.upgrade.empty());
}

TEST(framing, a_switch_of_protocols_is_one_only_when_the_connection_says_so) {
  const auto upgrade_of = [](const std::string& fields) {
    static std::string text;
    text = "HTTP/1.1 101 Switching Protocols\r\n" + fields + "\r\n";
    return std::string(understand_response(text, "GET").framing.upgrade);
  };
  EXPECT_EQ(upgrade_of("Connection: upgrade\r\nUpgrade: chat\r\n"), "chat");
  EXPECT_EQ(upgrade_of("Upgrade: chat\r\n"), "");
}

TEST(framing, an_answer_without_a_body_that_could_be_understood_in_two_ways_is_refused) {
  EXPECT_EQ(understand_response("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", "HEAD").error,
            parse_error::bad_content_length);
  EXPECT_EQ(
      understand_response("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", "HEAD").error,
      parse_error::length_and_encoding);
  EXPECT_EQ(understand_response("HTTP/1.1 100 Continue\r\n\r\n", "CONNECT").framing.body, body_kind::none);
}

TEST(framing, a_lenient_response_may_repeat_its_length) {
  const std::string start = "HTTP/1.1 200 OK\r\n";
  constexpr auto lenient = http::head_parser::kind::lenient_response;
  for (const char* const fields : {"Content-Length: 5\r\nContent-Length: 5\r\n", "Content-Length: 5, 5 ,5\r\n"}) {
    const auto found = understand_response(start + fields + "\r\n", "GET", lenient);
    EXPECT_EQ(found.error, parse_error::none) << fields;
    EXPECT_EQ(found.framing.length, 5U);
    EXPECT_EQ(understand_response(start + fields + "\r\n", "GET").error, parse_error::bad_content_length);
  }
  for (const char* const fields : {"Content-Length: 5\r\nContent-Length: 6\r\n", "Content-Length: 5, 6\r\n",
                                   "Content-Length: 5\r\nContent-Length: 5, 6\r\n", "Content-Length: ,\r\n",
                                   "Content-Length: 5\r\nContent-Length: 05\r\n", "Content-Length: \r\n"})
    EXPECT_EQ(understand_response(start + fields + "\r\n", "GET", lenient).error, parse_error::bad_content_length)
        << fields;
  EXPECT_EQ(
      understand_response(start + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n", "GET", lenient).error,
      parse_error::length_and_encoding);
}
