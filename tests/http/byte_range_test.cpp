// tests/http/byte_range_test.cpp: Range and Content-Range.
#include <gyre/http/byte_range.hpp>

#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <string>
#include <vector>

namespace http = gyre::http;
using ranges = std::vector<http::byte_range>;

namespace {

constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();

void expect_partial(const std::string& value, std::uint64_t size, const ranges& expected) {
  const http::range_request request = http::parse_range(value, size);
  EXPECT_EQ(request.kind, http::range_kind::partial) << value;
  EXPECT_EQ(request.ranges, expected) << value;
}

void expect_kind(const std::string& value, std::uint64_t size, http::range_kind kind) {
  const http::range_request request = http::parse_range(value, size);
  EXPECT_EQ(request.kind, kind) << value;
  EXPECT_TRUE(request.ranges.empty()) << value;
}

}  // namespace

// RFC 9110 §14.1.2, for a representation of 10000 bytes.
TEST(parse_range, the_examples_of_the_standard_are_understood) {
  expect_partial("bytes=0-499", 10'000, {{0, 500}});
  expect_partial("bytes=500-999", 10'000, {{500, 500}});
  expect_partial("bytes=-500", 10'000, {{9500, 500}});
  expect_partial("bytes=9500-", 10'000, {{9500, 500}});
  expect_partial("bytes=0-0,-1", 10'000, {{0, 1}, {9999, 1}});
  expect_partial("bytes= 0-999, 4500-5499, -1000", 10'000, {{0, 1000}, {4500, 1000}, {9000, 1000}});
  expect_partial("bytes=500-600,601-999", 10'000, {{500, 500}});
  expect_partial("bytes=500-700,601-999", 10'000, {{500, 500}});
}

TEST(parse_range, a_range_beyond_the_end_is_clamped) {
  expect_partial("bytes=0-1000", 100, {{0, 100}});
  expect_partial("bytes=99-99999999999999999999999", 100, {{99, 1}});
  expect_partial("bytes=-1000", 100, {{0, 100}});
  expect_partial("bytes=-99999999999999999999999", 100, {{0, 100}});
  expect_partial("bytes=0-", most, {{0, most}});
  expect_partial("bytes=18446744073709551614-18446744073709551615", most, {{most - 1, 1}});
}

TEST(parse_range, a_range_that_begins_beyond_the_end_is_unsatisfiable) {
  for (const char* value :
       {"bytes=100-", "bytes=100-200", "bytes=-0", "bytes=100-,200-300", "bytes=-00", "bytes=99999999999999999999999-"})
    expect_kind(value, 100, http::range_kind::unsatisfiable);
  expect_partial("bytes=100-,5-6,-0", 100, {{5, 2}});
}

TEST(parse_range, the_last_bytes_of_an_empty_file_are_the_whole) {
  expect_kind("bytes=-5", 0, http::range_kind::whole);
  expect_kind("bytes=0-", 0, http::range_kind::unsatisfiable);
  expect_kind("bytes=0-0", 0, http::range_kind::unsatisfiable);
}

TEST(parse_range, the_unit_ignores_case_and_others_are_ignored) {
  expect_partial("BYTES=0-0", 100, {{0, 1}});
  for (const char* value : {"seconds=0-1", "byte=0-1", "bytess=0-1", "=0-1", "bytes =0-1", " bytes=0-1", "none"})
    expect_kind(value, 100, http::range_kind::whole);
}

TEST(parse_range, a_malformed_field_is_ignored_as_a_whole) {
  for (const char* value : {"",
                            "bytes",
                            "bytes=",
                            "bytes=,",
                            "bytes=-",
                            "bytes=a-b",
                            "bytes=1",
                            "bytes=1-2-3",
                            "bytes=2-1",
                            "bytes=+1-2",
                            "bytes=1 - 2",
                            "bytes=0x1-2",
                            "bytes=--1",
                            "bytes=1--2",
                            "bytes=0-1;2-3",
                            "bytes=\"0-1\"",
                            "bytes=0-1,x",
                            "bytes==0-1",
                            "bytes=0-1,5-4",
                            "bytes=1.0-2",
                            "bytes=0-1\t2",
                            "bytes=*/10",
                            "bytes=\"0-1,2-3"})
    expect_kind(value, 100, http::range_kind::whole);
  expect_kind(std::string("bytes=0-1\0", 10), 100, http::range_kind::whole);
}

TEST(parse_range, empty_elements_are_skipped) { expect_partial("bytes=,0-1, ,,\t4-5,", 100, {{0, 2}, {4, 2}}); }

TEST(parse_range, ranges_that_touch_become_one_in_the_place_of_the_first) {
  expect_partial("bytes=50-59,0-9,60-69", 100, {{50, 20}, {0, 10}});
  expect_partial("bytes=60-69,0-9,50-59", 100, {{50, 20}, {0, 10}});
  expect_partial("bytes=0-9,20-29,10-19", 100, {{0, 30}});
  expect_partial("bytes=90-99,0-9,-5", 100, {{90, 10}, {0, 10}});
  expect_partial("bytes=0-9,11-19", 100, {{0, 10}, {11, 9}});
}

TEST(parse_range, more_than_two_that_overlap_are_ignored) {
  expect_partial("bytes=0-9,5-14", 100, {{0, 15}});
  expect_kind("bytes=0-9,5-14,10-19", 100, http::range_kind::whole);
  expect_kind("bytes=0-9,20-29,5-25", 100, http::range_kind::whole);
  expect_kind("bytes=0-,0-,0-", 100, http::range_kind::whole);
}

TEST(parse_range, many_ranges_are_ignored) {
  std::string value = "bytes=";
  for (int i = 0; i < 16; ++i) value += std::to_string(i * 2) + "-" + std::to_string(i * 2) + ",";
  EXPECT_EQ(http::parse_range(value, 100).ranges.size(), 16U);
  expect_kind(value + "90-91", 100, http::range_kind::whole);
  expect_kind(value + "900-901", 100, http::range_kind::whole);
  EXPECT_EQ(http::parse_range(value, 100, 15).kind, http::range_kind::whole);
  EXPECT_EQ(http::parse_range("bytes=0-1", 100, 0).kind, http::range_kind::whole);
}

TEST(parse_range, exactly_the_bytes_asked_for_are_covered) {
  std::mt19937 random(7);
  for (int round = 0; round < 20'000; ++round) {
    const std::uint64_t size = 1 + random() % 40;
    std::vector<bool> wanted(size, false);
    std::string value = "bytes=";
    for (unsigned n = 1 + random() % 4; n > 0; --n) {
      const std::uint64_t first = random() % 50;
      const std::uint64_t last = first + random() % 8;
      value += std::to_string(first) + "-" + std::to_string(last) + ",";
      for (std::uint64_t i = first; i <= last && i < size; ++i) wanted[i] = true;
    }
    const http::range_request request = http::parse_range(value, size);
    if (request.kind == http::range_kind::whole) continue;
    std::vector<bool> given(size, false);
    for (const http::byte_range range : request.ranges)
      for (std::uint64_t i = range.first; i < range.first + range.length; ++i) {
        ASSERT_LT(i, size) << value;
        ASSERT_FALSE(given[i]) << value;
        given[i] = true;
      }
    ASSERT_EQ(given, wanted) << value;
  }
}

TEST(content_range, names_the_first_the_last_and_all) {
  EXPECT_EQ(http::content_range({0, 500}, 1234), "bytes 0-499/1234");
  EXPECT_EQ(http::content_range({734, 500}, 1234), "bytes 734-1233/1234");
  EXPECT_EQ(http::content_range({0, most}, most), "bytes 0-18446744073709551614/18446744073709551615");
  EXPECT_EQ(http::unsatisfied_range(1234), "bytes */1234");
}
