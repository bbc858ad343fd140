// tests/http/target_test.cpp: targets, percent-encoding, paths and forms.
#include <gyre/http/target.hpp>

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace http = gyre::http;
using fields = std::vector<http::form_field>;

TEST(target, each_form_is_taken_apart) {
  const auto expect = [](const char* target, const char* authority, const char* path, const char* query) {
    const http::target_parts parts = http::split_target(target);
    EXPECT_EQ(parts.authority, authority) << target;
    EXPECT_EQ(parts.path, path) << target;
    EXPECT_EQ(parts.query, query) << target;
  };
  expect("/a/b?c=d?e", "", "/a/b", "c=d?e");
  expect("/", "", "/", "");
  expect("/?", "", "/", "");
  expect("http://host:80/a?b", "host:80", "/a", "b");
  expect("https://host", "host", "/", "");
  expect("https://host?q", "host", "/", "q");
  expect("host:443", "host:443", "", "");
  expect("*", "", "*", "");
  expect("//a/b", "", "//a/b", "");
}

TEST(percent_decode, two_digits_stand_for_a_byte) {
  EXPECT_EQ(http::percent_decode("a%20b%41%ff+"), "a bA\xff+");
  EXPECT_EQ(http::percent_decode("%00"), std::string("\0", 1));
  EXPECT_EQ(http::percent_decode("%2525"), "%25") << "decoded twice";
  for (const char* bad : {"%", "%4", "%g0", "%0g", "a%", "%%41"}) EXPECT_FALSE(http::percent_decode(bad)) << bad;
}

TEST(percent_encode, every_byte_comes_back) {
  std::string all;
  for (int c = 0; c < 256; ++c) all += static_cast<char>(c);
  EXPECT_EQ(http::percent_decode(http::percent_encode(all, http::encode_for::path_segment)), all);
  const auto form = http::parse_form("a=" + http::percent_encode(all, http::encode_for::query));
  ASSERT_TRUE(form.has_value());
  EXPECT_EQ(*form, (fields{{"a", all}}));
  EXPECT_EQ(http::percent_encode("a b/c", http::encode_for::path_segment), "a%20b%2Fc");
  EXPECT_EQ(http::percent_encode("a+b&c=d", http::encode_for::query), "a%2Bb%26c%3Dd");
}

TEST(normalize_path, dots_and_empty_segments_are_resolved) {
  EXPECT_EQ(http::normalize_path("/"), "/");
  EXPECT_EQ(http::normalize_path("/a/b"), "/a/b");
  EXPECT_EQ(http::normalize_path("/a/b/"), "/a/b/");
  EXPECT_EQ(http::normalize_path("//a///b"), "/a/b");
  EXPECT_EQ(http::normalize_path("/a/./b/../c"), "/a/c");
  EXPECT_EQ(http::normalize_path("/a/b/.."), "/a/");
  EXPECT_EQ(http::normalize_path("/a/.."), "/");
  EXPECT_EQ(http::normalize_path("/."), "/");
  EXPECT_EQ(http::normalize_path("/a%20b/%C3%A9"), "/a b/\xc3\xa9");
  EXPECT_EQ(http::normalize_path("/.../..a"), "/.../..a");
}

TEST(normalize_path, a_path_that_leaves_its_root_or_is_ambiguous_is_refused) {
  for (const char* bad : {"", "a", "*", "/..", "/a/../..", "/%2e%2e", "/a/%2E./%2e.", "/a%2Fb", "/..%2f", "/a%00b",
                          "/%", "/%zz", "/./../a"})
    EXPECT_FALSE(http::normalize_path(bad)) << bad;
}

TEST(normalize_path, no_path_leads_out_whatever_it_is_made_of) {
  constexpr const char* pieces[] = {"/", "..", ".", "%2e", "%2f", "%5c", "\\", "a", "%", "%25", "%2e%2e", "//", "%00"};
  std::mt19937 random(11);
  for (int i = 0; i < 200'000; ++i) {
    std::string path = "/";
    for (unsigned n = random() % 8; n > 0; --n) path += pieces[random() % std::size(pieces)];
    const auto normal = http::normalize_path(path);
    if (!normal) continue;
    EXPECT_TRUE(normal->starts_with('/')) << path;
    EXPECT_EQ((*normal + "/").find("/../"), std::string::npos) << path;
    EXPECT_EQ((*normal + "/").find("/./"), std::string::npos) << path;
    EXPECT_EQ(normal->find('\0'), std::string::npos) << path;
  }
}

TEST(parse_form, names_and_values_are_decoded) {
  EXPECT_EQ(http::parse_form("a=1&b=two+words&c&=d&&e=%26=&f="),
            (fields{{"a", "1"}, {"b", "two words"}, {"c", ""}, {"", "d"}, {"e", "&="}, {"f", ""}}));
  EXPECT_EQ(http::parse_form(""), fields{});
  EXPECT_EQ(http::parse_form("&&"), fields{});
}

TEST(parse_form, a_percent_sign_that_encodes_nothing_is_one) {
  EXPECT_EQ(http::parse_form("a=100%&b=%u00e9&c=%4&%g1=%%41"),
            (fields{{"a", "100%"}, {"b", "%u00e9"}, {"c", "%4"}, {"%g1", "%A"}}));
}

TEST(parse_form, endless_ones_are_refused) {
  EXPECT_EQ(http::parse_form("a&b&c", 3)->size(), 3U);
  EXPECT_EQ(http::parse_form("a&b&c&d", 3).error(), http::form_error::too_many);
}
