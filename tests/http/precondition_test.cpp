// tests/http/precondition_test.cpp: entity tags, conditions and their order.
#include <gyre/http/precondition.hpp>

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

namespace http = gyre::http;
using enum http::precondition;

namespace {

constexpr const char* date = "Sun, 06 Nov 1994 08:49:37 GMT";
constexpr const char* earlier = "Sun, 06 Nov 1994 08:49:36 GMT";
constexpr const char* later = "Sun, 06 Nov 1994 08:49:38 GMT";
constexpr http::unix_seconds seconds = 784'111'777;
constexpr http::unix_seconds now = seconds + 1000;

const http::resource_state present = {.etag = "\"a\"", .last_modified = seconds};
const http::resource_state missing = {.exists = false};

http::precondition judge(const char* method, const std::vector<http::field>& fields,
                         const http::resource_state& state = present) {
  return http::evaluate_preconditions(method, fields, state, now);
}

bool equal(const char* a, const char* b, bool strong) {
  const auto first = http::parse_entity_tag(a);
  const auto second = http::parse_entity_tag(b);
  return strong ? http::strongly_equal(first.value(), second.value())
                : http::weakly_equal(first.value(), second.value());
}

}  // namespace

TEST(entity_tag, weak_and_strong_ones_are_read) {
  EXPECT_EQ(http::parse_entity_tag("\"xyzzy\"").value().opaque, "xyzzy");
  EXPECT_FALSE(http::parse_entity_tag("\"xyzzy\"").value().weak);
  EXPECT_EQ(http::parse_entity_tag("W/\"xyzzy\"").value().opaque, "xyzzy");
  EXPECT_TRUE(http::parse_entity_tag("W/\"xyzzy\"").value().weak);
  EXPECT_EQ(http::parse_entity_tag("\"\"").value().opaque, "");
  EXPECT_EQ(http::parse_entity_tag("\"a,b\\\"").value().opaque, "a,b\\") << "a backslash escapes nothing";
  EXPECT_EQ(http::parse_entity_tag("\"\xc3\xa9\"").value().opaque, "\xc3\xa9");
}

TEST(entity_tag, a_malformed_tag_is_refused) {
  for (const char* bad : {"",       "a",        "\"",       "\"a",    "a\"",     "w/\"a\"",     "W/",
                          "W/a",    "W /\"a\"", "\"a b\"",  "\"a\"b", "\"a\"\"", "\"a\",\"b\"", " \"a\"",
                          "\"a\" ", "'a'",      "\"\x7f\"", "\"\t\"", "*",       "W/W/\"a\""})
    EXPECT_FALSE(http::parse_entity_tag(bad)) << bad;
}

// RFC 9110 §8.8.3.2.
TEST(entity_tag, they_are_compared_as_in_the_table_of_the_standard) {
  const auto expect = [](const char* a, const char* b, bool strong, bool weak) {
    EXPECT_EQ(equal(a, b, true), strong) << a << b;
    EXPECT_EQ(equal(a, b, false), weak) << a << b;
  };
  expect("W/\"1\"", "W/\"1\"", false, true);
  expect("W/\"1\"", "W/\"2\"", false, false);
  expect("W/\"1\"", "\"1\"", false, true);
  expect("\"1\"", "\"1\"", true, true);
  expect("\"a\"", "\"A\"", false, false);
}

TEST(make_entity_tag, a_version_that_is_not_settled_has_a_weak_tag_of_its_own) {
  const http::file_version version{.size = 5, .modified_ns = 10'000'000'000, .inode = 7};
  EXPECT_FALSE(http::is_settled(version, 10'000'000'000));
  EXPECT_FALSE(http::is_settled(version, 11'999'999'999));
  EXPECT_TRUE(http::is_settled(version, 12'000'000'000));
  const std::string weak = http::make_entity_tag(version, false);
  const std::string strong = http::make_entity_tag(version);
  EXPECT_TRUE(http::parse_entity_tag(weak).value().weak);
  EXPECT_FALSE(http::parse_entity_tag(strong).value().weak);
  EXPECT_FALSE(http::weakly_equal(*http::parse_entity_tag(weak), *http::parse_entity_tag(strong)));
}

TEST(make_entity_tag, each_version_of_a_file_has_its_own) {
  std::set<std::string> all;
  for (std::uint64_t size = 0; size < 10; ++size)
    for (std::int64_t when = -10; when < 10; ++when)
      for (std::uint64_t inode = 0; inode < 10; ++inode) all.insert(http::make_entity_tag({size, when, inode}));
  EXPECT_EQ(all.size(), 2000U);
  for (const std::string& each : all) {
    const auto tag = http::parse_entity_tag(each);
    ASSERT_TRUE(tag) << each;
    EXPECT_FALSE(tag->weak);
    EXPECT_LE(each.size(), 35U);
  }
  EXPECT_EQ(http::make_entity_tag({1, 2, 3}), http::make_entity_tag({1, 2, 3}));
}

TEST(if_match, proceeds_when_a_strong_tag_is_the_same) {
  EXPECT_EQ(judge("PUT", {{"If-Match", "\"a\""}}), proceed);
  EXPECT_EQ(judge("PUT", {{"if-match", "\"x\", ,\"a\" ,W/\"y\""}}), proceed);
  EXPECT_EQ(judge("PUT", {{"If-Match", "\"x\""}, {"If-Match", "\"a\""}}), proceed) << "a list over two fields";
  EXPECT_EQ(judge("GET", {{"If-Match", "\"x\""}}), failed);
  EXPECT_EQ(judge("PUT", {{"If-Match", "W/\"a\""}}), failed);
  EXPECT_EQ(judge("PUT", {{"If-Match", "W/\"a\""}}, {.etag = "W/\"a\""}), failed);
  EXPECT_EQ(judge("PUT", {{"If-Match", "\"a\""}}, {.etag = ""}), failed);
  EXPECT_EQ(judge("PUT", {{"If-Match", ""}}), failed);
}

TEST(if_match, a_star_stands_for_anything_that_exists) {
  EXPECT_EQ(judge("PUT", {{"If-Match", "*"}}), proceed);
  EXPECT_EQ(judge("PUT", {{"If-Match", "*"}}, {}), proceed) << "without a tag, too";
  EXPECT_EQ(judge("PUT", {{"If-Match", "*"}}, missing), failed);
  EXPECT_EQ(judge("PUT", {{"If-Match", "\"a\""}}, {.etag = "\"a\"", .exists = false}), failed);
}

TEST(if_match, a_list_that_cannot_be_read_fails) {
  for (const char* bad : {"a", "\"a\" \"b\"", "\"a\", b", "\"a\"x", "**", "\"a", "W/a", "\"a\";q=1"}) {
    EXPECT_EQ(judge("PUT", {{"If-Match", bad}}), failed) << bad;
    EXPECT_EQ(judge("PUT", {{"If-Match", "\"a\""}, {"If-Match", bad}}), failed) << bad;
  }
}

TEST(if_none_match, a_version_that_the_client_has_is_not_sent_again) {
  EXPECT_EQ(judge("GET", {{"If-None-Match", "\"a\""}}), not_modified);
  EXPECT_EQ(judge("HEAD", {{"If-None-Match", "W/\"a\""}}), not_modified) << "compared weakly";
  EXPECT_EQ(judge("GET", {{"If-None-Match", "\"x\",\"c\\\",\"a\""}}), not_modified);
  EXPECT_EQ(judge("GET", {{"If-None-Match", "*"}}), not_modified);
  EXPECT_EQ(judge("GET", {{"If-None-Match", "\"x\", \"y\""}}), proceed);
  EXPECT_EQ(judge("GET", {{"If-None-Match", ""}}), proceed);
  EXPECT_EQ(judge("GET", {{"If-None-Match", "*"}}, missing), proceed);
}

TEST(if_none_match, an_existing_resource_is_not_overwritten) {
  EXPECT_EQ(judge("PUT", {{"If-None-Match", "*"}}), failed);
  EXPECT_EQ(judge("PUT", {{"If-None-Match", "*"}}, missing), proceed);
  EXPECT_EQ(judge("DELETE", {{"If-None-Match", "\"a\""}}), failed);
  EXPECT_EQ(judge("get", {{"If-None-Match", "\"a\""}}), failed) << "methods have a case";
}

TEST(if_none_match, a_list_that_cannot_be_read_fails_what_writes_and_not_what_reads) {
  EXPECT_EQ(judge("GET", {{"If-None-Match", "a"}}), proceed);
  EXPECT_EQ(judge("GET", {{"If-None-Match", "\"a\", a"}}), proceed);
  EXPECT_EQ(judge("PUT", {{"If-None-Match", "a"}}), failed);
}

TEST(if_modified_since, counts_for_what_reads_without_if_none_match) {
  EXPECT_EQ(judge("GET", {{"If-Modified-Since", date}}), not_modified);
  EXPECT_EQ(judge("HEAD", {{"If-Modified-Since", later}}), not_modified);
  EXPECT_EQ(judge("GET", {{"If-Modified-Since", earlier}}), proceed);
  EXPECT_EQ(judge("POST", {{"If-Modified-Since", date}}), proceed);
  EXPECT_EQ(judge("GET", {{"If-Modified-Since", date}, {"If-None-Match", "\"x\""}}), proceed);
  EXPECT_EQ(judge("GET", {{"If-Modified-Since", earlier}, {"If-None-Match", "\"a\""}}), not_modified);
  EXPECT_EQ(judge("GET", {{"If-Modified-Since", "Sunday, 06-Nov-94 08:49:37 GMT"}}), not_modified);
}

TEST(if_modified_since, a_malformed_date_is_ignored) {
  EXPECT_EQ(judge("GET", {{"If-Modified-Since", "yesterday"}}), proceed);
  EXPECT_EQ(judge("GET", {{"If-Modified-Since", date}, {"If-Modified-Since", date}}), proceed);
  EXPECT_EQ(judge("GET", {{"If-Modified-Since", date}}, {.etag = "\"a\""}), proceed);
}

TEST(if_unmodified_since, fails_what_has_changed_since) {
  EXPECT_EQ(judge("PUT", {{"If-Unmodified-Since", date}}), proceed);
  EXPECT_EQ(judge("PUT", {{"If-Unmodified-Since", earlier}}), failed);
  EXPECT_EQ(judge("GET", {{"If-Unmodified-Since", earlier}}), failed);
  EXPECT_EQ(judge("PUT", {{"If-Unmodified-Since", earlier}, {"If-Match", "\"a\""}}), proceed) << "If-Match comes first";
  EXPECT_EQ(judge("PUT", {{"If-Unmodified-Since", "never"}}), proceed);
  EXPECT_EQ(judge("PUT", {{"If-Unmodified-Since", earlier}}, missing), proceed);
}

TEST(evaluate_preconditions, are_judged_in_the_order_of_the_standard) {
  EXPECT_EQ(judge("GET", {{"If-None-Match", "\"a\""}, {"If-Match", "\"x\""}}), failed);
  EXPECT_EQ(judge("GET", {{"If-None-Match", "\"a\""}, {"If-Match", "\"a\""}}), not_modified);
  EXPECT_EQ(judge("GET", {{"If-Modified-Since", date}, {"If-Unmodified-Since", date}}), not_modified);
  EXPECT_EQ(judge("GET", {{"If-Modified-Since", date}, {"If-Unmodified-Since", earlier}}), failed);
  EXPECT_EQ(judge("GET", {}), proceed);
  for (const char* method : {"CONNECT", "OPTIONS", "TRACE"})
    EXPECT_EQ(judge(method, {{"If-Match", "\"x\""}, {"If-None-Match", "*"}}), proceed) << method;
}

TEST(range_applies, to_the_very_same_bytes) {
  EXPECT_TRUE(http::range_applies("\"a\"", present, now));
  EXPECT_TRUE(http::range_applies(date, present, now));
  for (const char* other : {"\"b\"", "W/\"a\"", "", "*", "a", "\"a\", \"a\"", earlier, later})
    EXPECT_FALSE(http::range_applies(other, present, now)) << other;
  EXPECT_FALSE(http::range_applies("W/\"a\"", {.etag = "W/\"a\""}, now));
  EXPECT_FALSE(http::range_applies("\"a\"", {}, now));
  EXPECT_FALSE(http::range_applies(date, {.etag = "\"a\""}, now));
  EXPECT_FALSE(http::range_applies("\"a\"", {.etag = "\"a\"", .exists = false}, now));
}

TEST(range_applies, not_within_the_second_of_the_change) {
  EXPECT_FALSE(http::range_applies(date, present, seconds));
  EXPECT_FALSE(http::range_applies(date, present, seconds - 1));
  EXPECT_TRUE(http::range_applies(date, present, seconds + 1));
}
