// tests/client/url_test.cpp: parsing, normal form and resolution of URLs.
#include <gyre/client/proxy_options.hpp>
#include <gyre/client/url.hpp>

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <string_view>

namespace http = gyre::http;

namespace {

std::string normal(std::string_view text) {
  const auto parsed = http::url::parse(text);
  return parsed ? parsed->string() : parsed.error();
}
std::string resolved(std::string_view base, std::string_view reference) {
  const auto result = http::url(base).resolve(reference);
  return result ? result->string() : result.error();
}
std::string reason(std::string_view text) {
  const auto parsed = http::url::parse(text);
  if (parsed) return "accepted as " + parsed->string();
  const std::size_t end = parsed.error().rfind("\": ");
  return parsed.error().substr(end + 3);
}

}  // namespace

TEST(url, the_parts_of_a_url_are_available) {
  const http::url all("HTTPS://ann:s%20cret@Example.ORG:8443/a/b;c?x=1&y=%20#top");
  EXPECT_EQ(all.scheme(), "https");
  EXPECT_EQ(all.host(), "example.org");
  EXPECT_EQ(all.port(), 8443);
  EXPECT_EQ(all.authority(), "example.org:8443");
  EXPECT_EQ(all.origin(), "https://example.org:8443");
  EXPECT_EQ(all.path(), "/a/b;c");
  EXPECT_EQ(all.query(), "x=1&y=%20");
  EXPECT_EQ(all.target(), "/a/b;c?x=1&y=%20");
  EXPECT_EQ(all.fragment(), "top");
  EXPECT_EQ(all.user(), "ann");
  EXPECT_EQ(all.password(), "s cret");
}

TEST(url, a_password_is_in_no_text) {
  const http::url all("http://ann:secret@a/");
  EXPECT_EQ(all.string(), "http://a/");
  EXPECT_EQ(all.origin(), "http://a");
}

TEST(url, the_last_at_sign_ends_the_user) {
  const http::url all("http://a.test@b.test@c.test/");
  EXPECT_EQ(all.host(), "c.test");
  EXPECT_EQ(all.user(), "a.test@b.test");
}

TEST(url, a_path_is_never_empty_and_the_default_port_is_left_out) {
  EXPECT_EQ(normal("http://a"), "http://a/");
  EXPECT_EQ(normal("http://a:80?x"), "http://a/?x");
  EXPECT_EQ(normal("https://a:443#f"), "https://a/#f");
  EXPECT_EQ(normal("https://a:80/"), "https://a:80/");
  EXPECT_EQ(normal("http://a:/"), "http://a/");
  EXPECT_EQ(http::url("http://a").port(), 80);
  EXPECT_EQ(http::url("https://a").port(), 443);
}

TEST(url, an_ipv6_address_stands_in_brackets) {
  const http::url all("http://[2001:DB8::1]:8080/x");
  EXPECT_EQ(all.host(), "2001:db8::1");
  EXPECT_EQ(all.authority(), "[2001:db8::1]:8080");
  EXPECT_EQ(all.port(), 8080);
  EXPECT_EQ(http::url("http://[::1]/").authority(), "[::1]");
  EXPECT_EQ(reason("http://[::1/"), "the bracket of the IPv6 address is not closed");
  EXPECT_EQ(reason("http://[1.2.3.4]/"), "there is no IPv6 address between the brackets");
  EXPECT_EQ(reason("http://[::1%25eth0]/"), "an IPv6 address with a zone is not supported");
  EXPECT_EQ(reason("http://[::1]x/"), "there is no IPv6 address between the brackets");
  EXPECT_EQ(reason("http://::1/"), "it has no host");
}

TEST(url, dot_segments_of_a_path_are_removed) {
  EXPECT_EQ(normal("http://a/b/../c/./d"), "http://a/c/d");
  EXPECT_EQ(normal("http://a/../../x"), "http://a/x");
  EXPECT_EQ(normal("http://a/b/.."), "http://a/");
  EXPECT_EQ(normal("http://a/b/c/.."), "http://a/b/");
  EXPECT_EQ(normal("http://a/b/."), "http://a/b/");
  EXPECT_EQ(normal("http://a/b/%2e%2E/c"), "http://a/c");
  EXPECT_EQ(normal("http://a/.b/..c/d."), "http://a/.b/..c/d.");
  EXPECT_EQ(normal("http://a//b//../c"), "http://a//b/c");
  EXPECT_EQ(normal("http://a/.."), "http://a/");
}

TEST(url, other_characters_are_percent_encoded) {
  EXPECT_EQ(normal("http://a/b c/ä?q=\"<>\"#x y"), "http://a/b%20c/%C3%A4?q=%22%3C%3E%22#x%20y");
  EXPECT_EQ(normal("http://a/b\\c"), "http://a/b%5Cc");
}

TEST(url, percent_signs_stay_as_they_are) {
  for (const char* const each :
       {"http://a/%41%zz", "http://a/100%", "http://a/%?q=100%&b=%5#%", "http://a/%2", "http://a/%%"})
    EXPECT_EQ(normal(each), each);
  EXPECT_EQ(resolved("http://a/", "/100%"), "http://a/100%");
  EXPECT_EQ(normal("http://a/b/%2/../%2e%2E/%2"), "http://a/%2");
  EXPECT_EQ(normal("http://a%zz:b@c/"),
            "url \"http://…@c/\": a percent sign in the user name or password is not "
            "followed by two digits");
}

TEST(url, text_that_is_not_one_is_refused_with_a_sentence) {
  EXPECT_EQ(normal("htp://a"), "url \"htp://a\": the scheme is not http or https");
  EXPECT_EQ(reason("a.test/x"), "it does not begin with http:// or https://");
  EXPECT_EQ(reason(""), "it does not begin with http:// or https://");
  EXPECT_EQ(reason("http:/a"), "it does not begin with http:// or https://");
  EXPECT_EQ(reason("http://"), "it has no host");
  EXPECT_EQ(reason("http:///x"), "it has no host");
  EXPECT_EQ(reason("http://a:b/"), "the port is not a number");
  EXPECT_EQ(reason("http://a:65536/"), "the port is larger than 65535");
  EXPECT_EQ(reason("http://a:0/"), "the port is 0");
  EXPECT_EQ(reason("http://a b/"), "the host contains a forbidden character");
  EXPECT_EQ(reason("http://a%2fb/"), "the host contains a forbidden character");
  EXPECT_EQ(reason("http://a\\@b/"), "there is a backslash in or before the host");
  EXPECT_EQ(reason("http://bücher.test/"),
            "host names in other scripts are not supported: write the name in its ASCII form, xn--…");
  EXPECT_EQ(reason("http://a:b:c@x/"), "accepted as http://x/");
  EXPECT_EQ(reason("http://a%3Ab:c@x/"), "the user name contains a colon");
}

TEST(url, the_sentence_shows_no_password) {
  for (const char* const each : {"htp://ann:secret@a/", "http://ann:sec/ret@a:b/", "http://ann:secret@a b",
                                 "ann:secret@a", "http//ann:secret@a", "http://ann:sec@ret@[a/"}) {
    const std::string sentence = http::url::parse(each).error();
    EXPECT_EQ(sentence.find("ret"), std::string::npos) << sentence;
    EXPECT_EQ(sentence.find("ann"), std::string::npos) << sentence;
    EXPECT_NE(sentence.find("@"), std::string::npos) << sentence;
  }
  EXPECT_EQ(normal("htp://ann:secret@a/"), "url \"htp://…@a/\": the scheme is not http or https");
  EXPECT_EQ(resolved("http://a/", "//ann:secret@b c/"), "url \"…@b c/\": the host contains a forbidden character");
  const auto proxy = http::proxy_options::parse("https://ann:secret@p:1");
  EXPECT_EQ(proxy.error(), "proxy \"https://p:1\": expected http://, socks5:// or socks5h://");
}

TEST(url, line_ends_and_zero_bytes_are_refused_everywhere) {
  using namespace std::string_view_literals;
  for (const std::string_view each : {"http://a/\r\nX: y"sv, "http://a\r\n/"sv, "http://a/?\n"sv, "http://a/\0"sv,
                                      "http://u\r:p@a/"sv, "http://a/#\n"sv, "ht\ntp://a/"sv})
    EXPECT_EQ(reason(each), "it contains a control character; percent-encode it");
  EXPECT_EQ(resolved("http://a/", "/x\r\nSet: y").find("url \"/x\\x0d\\x0aSet: y\""), 0U);
}

TEST(url, text_that_is_no_url_makes_the_constructor_throw) {
  EXPECT_THROW(http::url("nonsense"), std::invalid_argument);
}

// RFC 3986 §5.4.1 and §5.4.2.
TEST(url, references_are_resolved_as_in_rfc_3986) {
  const std::string_view cases[][2] = {
      {"g", "http://a/b/c/g"},        {"./g", "http://a/b/c/g"},
      {"g/", "http://a/b/c/g/"},      {"/g", "http://a/g"},
      {"//g", "http://g/"},           {"?y", "http://a/b/c/d;p?y"},
      {"g?y", "http://a/b/c/g?y"},    {"#s", "http://a/b/c/d;p?q#s"},
      {"g#s", "http://a/b/c/g#s"},    {"g?y#s", "http://a/b/c/g?y#s"},
      {";x", "http://a/b/c/;x"},      {"g;x", "http://a/b/c/g;x"},
      {"", "http://a/b/c/d;p?q"},     {".", "http://a/b/c/"},
      {"./", "http://a/b/c/"},        {"..", "http://a/b/"},
      {"../", "http://a/b/"},         {"../g", "http://a/b/g"},
      {"../..", "http://a/"},         {"../../", "http://a/"},
      {"../../g", "http://a/g"},      {"../../../g", "http://a/g"},
      {"/./g", "http://a/g"},         {"/../g", "http://a/g"},
      {"g.", "http://a/b/c/g."},      {".g", "http://a/b/c/.g"},
      {"g..", "http://a/b/c/g.."},    {"./../g", "http://a/b/g"},
      {"./g/.", "http://a/b/c/g/"},   {"g/./h", "http://a/b/c/g/h"},
      {"g/../h", "http://a/b/c/h"},   {"g?y/./x", "http://a/b/c/g?y/./x"},
      {"https://b/x", "https://b/x"},
  };
  for (const auto& each : cases) EXPECT_EQ(resolved("http://a/b/c/d;p?q", each[0]), each[1]) << each[0];
}

TEST(url, a_reference_does_not_inherit_the_user) {
  const http::url base("http://ann:secret@a/");
  EXPECT_EQ(base.resolve("/x")->user(), "");
  EXPECT_EQ(base.resolve("//b/")->password(), "");
  EXPECT_EQ(base.resolve("http://bob@b/")->user(), "bob");
}

TEST(url, a_reference_with_another_scheme_is_refused) {
  EXPECT_EQ(resolved("http://a/", "ftp://b/"), "url \"ftp://b/\": the scheme is not http or https");
  EXPECT_EQ(resolved("http://a/", "javascript:alert(1)"),
            "url \"javascript:alert(1)\": it does not begin with http:// or https://");
}

TEST(url, queries_are_appended_encoded) {
  http::url grown("http://a/b#f");
  grown.add_query("x y", "1&2");
  EXPECT_EQ(grown.string(), "http://a/b?x%20y=1%262#f");
  grown.add_query("z", "+");
  EXPECT_EQ(grown.target(), "/b?x%20y=1%262&z=%2B");
  http::url empty("http://a/?");
  empty.add_query("a", "");
  EXPECT_EQ(empty.target(), "/?a=");
}
