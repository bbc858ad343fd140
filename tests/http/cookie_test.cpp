// tests/http/cookie_test.cpp: Cookie and Set-Cookie.
#include <gyre/http/cookie.hpp>

#include <gtest/gtest.h>

#include <ranges>
#include <stdexcept>
#include <string>
#include <vector>

namespace http = gyre::http;
using cookies = std::vector<http::cookie>;

namespace {

cookies all_of(std::string_view value) {
  cookies all;
  while (const auto each = http::next_cookie(value)) all.push_back(*each);
  return all;
}

void expect_refused(const http::set_cookie& cookie, const char* why) {
  try {
    ADD_FAILURE() << http::format_set_cookie(cookie);
  } catch (const std::invalid_argument& error) {
    EXPECT_NE(std::string(error.what()).find(why), std::string::npos) << error.what();
  }
}

}  // namespace

// RFC 6265 §3.1.
TEST(next_cookie, the_examples_of_the_standard_are_understood) {
  EXPECT_EQ(all_of("SID=31d4d96e407aad42"), (cookies{{"SID", "31d4d96e407aad42"}}));
  EXPECT_EQ(all_of("SID=31d4d96e407aad42; lang=en-US"), (cookies{{"SID", "31d4d96e407aad42"}, {"lang", "en-US"}}));
}

TEST(next_cookie, values_may_be_empty_and_hold_equals_signs) {
  EXPECT_EQ(all_of("a=; b=c=d==; e==\t"), (cookies{{"a", ""}, {"b", "c=d=="}, {"e", "="}}));
  EXPECT_EQ(all_of("a=1;b=2;;  c=3 ;"), (cookies{{"a", "1"}, {"b", "2"}, {"c", "3"}}));
  EXPECT_TRUE(all_of("").empty());
  EXPECT_TRUE(all_of(" ; ;; ").empty());
}

TEST(next_cookie, quotes_around_a_value_do_not_belong_to_it) {
  EXPECT_EQ(all_of("a=\"b\"; c=\"\""), (cookies{{"a", "b"}, {"c", ""}}));
  EXPECT_EQ(all_of("a=\"; b=b\"c; d=\"\"\"; e=\"f; g=h\""),
            (cookies{{"a", "\""}, {"b", "b\"c"}, {"d", "\""}, {"e", "\"f"}, {"g", "h\""}}));
}

TEST(next_cookie, nothing_hides_in_the_value_of_another) {
  EXPECT_EQ(all_of("a=\"x; session=evil; y\"; b=1"), (cookies{{"a", "\"x"}, {"session", "evil"}, {"b", "1"}}))
      << "a semicolon separates, as it does for every other reader of RFC 6265";
  EXPECT_EQ(all_of("a=\\\"b; c=d\\; e=1"), (cookies{{"a", "\\\"b"}, {"c", "d\\"}, {"e", "1"}}));
  EXPECT_EQ(all_of("$Version=1; a=1; $Path=/"), (cookies{{"$Version", "1"}, {"a", "1"}, {"$Path", "/"}}));
}

TEST(next_cookie, a_malformed_cookie_is_skipped) {
  for (const char* bad :
       {"a", "=a", "a b=c", "a =b", "\xc3\xa9=a", "a=\x01", "a=\x7f", "a\"=b", "(a)=b", "a,b=c", "@=1"}) {
    EXPECT_TRUE(all_of(bad).empty()) << bad;
    EXPECT_EQ(all_of(std::string(bad) + "; ok=1").size(), 1U) << bad;
  }
  EXPECT_TRUE(all_of(std::string("a=b\0c", 5)).empty());
}

TEST(next_cookie, values_are_read_as_browsers_send_them) {
  for (const char* value : {"b c", "b,c=d", "\xc3\xa9", "b\tc", "{\"theme\":\"dark\",\"sizes\":[1, 2]}",
                            "Sun, 06 Nov 1994 08:49:37 GMT", "a\\b", "it's"}) {
    EXPECT_EQ(all_of("x=" + std::string(value) + "; ok=1"), (cookies{{"x", value}, {"ok", "1"}})) << value;
  }
  EXPECT_EQ(all_of("a= b"), (cookies{{"a", "b"}})) << "browsers drop white space around a value";
  EXPECT_EQ(all_of("a=\"b, c\""), (cookies{{"a", "b, c"}}));
}

TEST(find_cookie, the_first_of_the_name_is_found) {
  EXPECT_EQ(http::find_cookie("a=1; b=2; b=3", "b"), "2");
  EXPECT_EQ(http::find_cookie("ab=1; b=2", "a"), std::nullopt);
  EXPECT_EQ(http::find_cookie("A=1", "a"), std::nullopt) << "names have a case";
  EXPECT_EQ(http::find_cookie("a=", "a"), "");
  EXPECT_EQ(http::find_cookie("", ""), std::nullopt);
  EXPECT_EQ(http::find_cookie("=1", ""), std::nullopt);
}

TEST(find_cookie, every_field_is_looked_at) {
  const std::vector<http::field> fields = {{"Host", "b=0"}, {"Cookie", "a=1"}, {"cookie", "b=2"}};
  EXPECT_EQ(http::find_cookie(fields, "b"), "2");
  EXPECT_EQ(http::find_cookie(fields, "c"), std::nullopt);
}

// RFC 6265 §3.1, §4.1.
TEST(format_set_cookie, the_examples_of_the_standard_come_out) {
  EXPECT_EQ(http::format_set_cookie({.name = "SID", .value = "31d4d96e407aad42"}), "SID=31d4d96e407aad42");
  EXPECT_EQ(http::format_set_cookie(
                {.name = "SID", .value = "31d4d96e407aad42", .path = "/", .secure = true, .http_only = true}),
            "SID=31d4d96e407aad42; Path=/; Secure; HttpOnly");
  EXPECT_EQ(http::format_set_cookie({.name = "lang", .value = "en-US", .path = "/", .domain = "example.com"}),
            "lang=en-US; Path=/; Domain=example.com");
  EXPECT_EQ(http::format_set_cookie({.name = "lang", .expires = 784'111'777}),
            "lang=; Expires=Sun, 06 Nov 1994 08:49:37 GMT");
}

TEST(format_set_cookie, every_attribute_is_written) {
  EXPECT_EQ(http::format_set_cookie({.name = "a",
                                     .value = "b",
                                     .path = "/c d",
                                     .domain = "e-f.example",
                                     .max_age = 0,
                                     .expires = 0,
                                     .secure = true,
                                     .http_only = true,
                                     .same_site = http::same_site_policy::none}),
            "a=b; Path=/c d; Domain=e-f.example; Max-Age=0; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Secure; HttpOnly; "
            "SameSite=None");
  EXPECT_EQ(http::format_set_cookie({.name = "a", .same_site = http::same_site_policy::lax}), "a=; SameSite=Lax");
  EXPECT_EQ(http::format_set_cookie({.name = "a", .same_site = http::same_site_policy::strict}), "a=; SameSite=Strict");
  EXPECT_EQ(http::format_set_cookie({.name = "a", .max_age = 9'000'000'000}), "a=; Max-Age=9000000000");
}

TEST(format_set_cookie, names_and_values_that_would_be_read_otherwise_are_refused) {
  for (const char* bad : {"", "a b", "a=b", "a;b", "a\r\nb", "\xc3\xa9"}) expect_refused({.name = bad}, "not a token");
  for (const char* bad : {"a b", "a;b", "a,b", "\"a\"", "a\\b", "a\r\nSet-Cookie: b", "\t", "\x7f", "\xc3\xa9"})
    expect_refused({.name = "a", .value = bad}, "the value holds");
  expect_refused({.name = "a", .value = std::string_view("b\0", 2)}, "the value holds");
}

TEST(format_set_cookie, attributes_that_would_be_read_otherwise_are_refused) {
  for (const char* bad : {"a", "a/", "/;a", "/a\r\n", "/ ", "/\xc3\xa9", " /", "/\x7f"})
    expect_refused({.name = "a", .path = bad}, "the path");
  for (const char* bad : {".example.com", "a..b", "a.", "a;b", "a b", "-a", "a-", "a-.b", "a.-b", "[::1]", "a:80",
                          "a/b", "a_b", "\xc3\xa9", "a{", "a|b", "a[", "a@b"})
    expect_refused({.name = "a", .domain = bad}, "the domain");
  expect_refused({.name = "a", .max_age = -1}, "negative");
  expect_refused({.name = "a", .expires = -11'644'473'601}, "expires");
  expect_refused({.name = "a", .expires = 253'402'300'800}, "expires");
  expect_refused({.name = "a", .same_site = http::same_site_policy::none}, "SameSite=None");
}

TEST(format_set_cookie, a_domain_is_of_letters_of_both_cases_digits_and_hyphens) {
  EXPECT_EQ(http::format_set_cookie({.name = "a", .value = "b", .domain = "a-Z.0-9"}), "a=b; Domain=a-Z.0-9");
}

TEST(format_set_cookie, prefixes_of_names_keep_their_promise) {
  expect_refused({.name = "__Secure-a"}, "wants Secure");
  expect_refused({.name = "__host-a", .path = "/"}, "wants Secure");
  expect_refused({.name = "__Host-a", .secure = true}, "the path");
  expect_refused({.name = "__Host-a", .path = "/b", .secure = true}, "the path");
  expect_refused({.name = "__Host-a", .path = "/", .domain = "b", .secure = true}, "no domain");
  EXPECT_EQ(http::format_set_cookie({.name = "__Host-a", .path = "/", .secure = true}), "__Host-a=; Path=/; Secure");
  EXPECT_EQ(http::format_set_cookie({.name = "__Secure-a", .secure = true}), "__Secure-a=; Secure");
}

TEST(format_set_cookie, a_cookie_too_long_for_clients_is_refused) {
  const std::string long_value(4095, 'x');
  EXPECT_EQ(http::format_set_cookie({.name = "a", .value = long_value}).size(), 4097U);
  expect_refused({.name = "ab", .value = long_value}, "4096");
  const std::string long_path = "/" + std::string(1024, 'x');
  expect_refused({.name = "a", .path = long_path}, "1024");
  const std::string long_domain(254, 'x');
  expect_refused({.name = "a", .domain = long_domain}, "the domain");
}

TEST(format_set_cookie, a_cookie_that_was_set_is_found_again) {
  const std::string set =
      http::format_set_cookie({.name = "a!#$%&'*+-.^_`|~9", .value = "!#$%&'()*+-./:<=>?@[]^_`{|}~"});
  EXPECT_EQ(http::find_cookie(set, "a!#$%&'*+-.^_`|~9"), "!#$%&'()*+-./:<=>?@[]^_`{|}~");
}

TEST(cookie_range, gives_the_cookies_of_all_fields_in_their_order) {
  const std::vector<http::field> fields{
      {"Cookie", "a=1; b=2"}, {"X", "y=z"}, {"cookie", ""}, {"COOKIE", "@; a=3;;c=\"4\""}};
  const http::cookie_range range(fields);
  EXPECT_EQ(cookies(std::ranges::begin(range), std::ranges::next(range.begin(), range.end())),
            (cookies{{"a", "1"}, {"b", "2"}, {"a", "3"}, {"c", "4"}}));
}

TEST(cookie_range, is_a_forward_range_and_may_be_empty) {
  static_assert(std::ranges::forward_range<http::cookie_range>);
  const http::cookie_range none({});
  EXPECT_TRUE(none.begin() == none.end());
  const std::vector<http::field> fields{{"Cookie", "a=1; b=2"}};
  const http::cookie_range range(fields);
  auto first = range.begin();
  const auto again = range.begin();
  EXPECT_TRUE(first == again);
  EXPECT_EQ(first++->name, "a");
  EXPECT_FALSE(first == again);
  EXPECT_EQ(first->name, "b");
  EXPECT_EQ(again->name, "a");
}
