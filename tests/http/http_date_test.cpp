// tests/http/http_date_test.cpp: dates in the formats of HTTP, RFC 9110 §5.6.7.
#include <gyre/http/http_date.hpp>

#include <gtest/gtest.h>

#include <ctime>
#include <random>
#include <string>

namespace http = gyre::http;

namespace {

constexpr http::unix_seconds example = 784'111'777;         // the RFC's own
constexpr http::unix_seconds reading_time = 1'800'000'000;  // 2027

std::string date_text(http::unix_seconds when) {
  const auto text = http::format_date(when);
  return {text.data(), text.size()};
}

}  // namespace

TEST(http_date, the_examples_of_the_rfc_are_one_moment) {
  EXPECT_EQ(date_text(example), "Sun, 06 Nov 1994 08:49:37 GMT");
  EXPECT_EQ(http::parse_date("Sun, 06 Nov 1994 08:49:37 GMT", reading_time), example);
  EXPECT_EQ(http::parse_date("Sunday, 06-Nov-94 08:49:37 GMT", reading_time), example);
  EXPECT_EQ(http::parse_date("Sun Nov  6 08:49:37 1994", reading_time), example);
}

TEST(http_date, the_system_agrees_on_every_moment) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 20'000; ++i) {
    const auto when = static_cast<std::time_t>(random() % 253'402'300'800ULL);
    std::tm parts{};
    ::gmtime_r(&when, &parts);
    char expected[64];
    std::strftime(expected, sizeof(expected), "%a, %d %b %Y %H:%M:%S GMT", &parts);
    ASSERT_EQ(date_text(when), expected);
    ASSERT_EQ(http::parse_date(expected, reading_time), when);
    std::strftime(expected, sizeof(expected), "%a %b %e %H:%M:%S %Y", &parts);
    ASSERT_EQ(http::parse_date(expected, reading_time), when);
  }
}

TEST(http_date, years_out_of_range_become_the_nearest) {
  EXPECT_EQ(date_text(-1), "Wed, 31 Dec 1969 23:59:59 GMT");
  EXPECT_EQ(date_text(INT64_MAX), "Fri, 31 Dec 9999 23:59:59 GMT");
  EXPECT_EQ(date_text(INT64_MIN), "Sat, 01 Jan 0000 00:00:00 GMT");
}

TEST(http_date, two_digits_of_a_year_are_at_most_fifty_years_ahead) {
  const auto parse_year = [](const char* text) {
    return date_text(http::parse_date(text, reading_time).value()).substr(12, 4);
  };
  EXPECT_EQ(parse_year("Sunday, 06-Nov-77 08:49:37 GMT"), "2077");
  EXPECT_EQ(parse_year("Sunday, 06-Nov-78 08:49:37 GMT"), "1978");
}

TEST(http_date, a_text_that_is_no_date_gives_nothing) {
  for (const char* bad :
       {"", "0", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 UTC", "Sun, 6 Nov 1994 08:49:37 GMT",
        "Sun, 31 Feb 1994 08:49:37 GMT", "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 24:00:00 GMT",
        "Sun, 06 Nov 1994 08:60:37 GMT", "Sun, 06 Nov 1994 08:49:61 GMT", "Sun, 06 nov 1994 08:49:37 GMT",
        "Xxx, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 GMT ", "Sun, -6 Nov 1994 08:49:37 GMT",
        "Sun, 29 Feb 2100 00:00:00 GMT"})
    EXPECT_FALSE(http::parse_date(bad, reading_time).has_value()) << bad;
  EXPECT_TRUE(http::parse_date("Tue, 29 Feb 2000 00:00:00 GMT", reading_time).has_value());
}

TEST(http_date, days_that_no_month_has_and_texts_that_end_early_are_no_dates) {
  for (const char* bad :
       {"Sun, 32 Nov 1994 08:49:37 GMT", "Wed, 31 Nov 1994 08:49:37 GMT", "Sun, 0", "Sun, 0: Nov 1994"})
    EXPECT_FALSE(http::parse_date(bad, reading_time).has_value()) << bad;
}

TEST(http_date, the_first_day_of_the_calendar_is_read_as_it_is_written) {
  const auto first = http::parse_date("Sat, 01 Jan 0000 00:00:00 GMT", reading_time);
  ASSERT_TRUE(first.has_value());
  EXPECT_EQ(date_text(*first), "Sat, 01 Jan 0000 00:00:00 GMT");
}

TEST(date_cache, the_text_is_that_of_the_second) {
  http::date_cache cache;
  EXPECT_EQ(cache.text(example), "Sun, 06 Nov 1994 08:49:37 GMT");
  EXPECT_EQ(cache.text(example), "Sun, 06 Nov 1994 08:49:37 GMT");
  EXPECT_EQ(cache.text(example + 1), "Sun, 06 Nov 1994 08:49:38 GMT");
}
