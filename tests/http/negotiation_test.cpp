// tests/http/negotiation_test.cpp: Accept and Accept-Encoding.
#include <gyre/http/negotiation.hpp>

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace http = gyre::http;
using texts = std::vector<std::string_view>;

namespace {

std::string_view coding(std::string_view accept_encoding, const texts& offered = {"br", "gzip"}) {
  const std::vector<http::field> fields = {{"Host", "a"}, {"Accept-Encoding", accept_encoding}};
  return http::choose_coding(fields, offered);
}

std::string_view media_type(std::string_view accept, const texts& offered) {
  const std::vector<http::field> fields = {{"Accept-Encoding", "*;q=0"}, {"Accept", accept}};
  return http::choose_media_type(fields, offered);
}

}  // namespace

TEST(parse_weight, has_up_to_three_digits_behind_the_point) {
  EXPECT_EQ(http::parse_weight("0"), 0);
  EXPECT_EQ(http::parse_weight("1"), 1000);
  EXPECT_EQ(http::parse_weight("0."), 0);
  EXPECT_EQ(http::parse_weight("1.000"), 1000);
  EXPECT_EQ(http::parse_weight("0.5"), 500);
  EXPECT_EQ(http::parse_weight("0.25"), 250);
  EXPECT_EQ(http::parse_weight("0.001"), 1);
  EXPECT_EQ(http::parse_weight("0.999"), 999);
  EXPECT_EQ(http::parse_weight(".2"), 200) << "as old Java has it";
  for (const char* bad : {"", ".", "1.1", "1.001", "2", "-1", "0.0000", "1.0000", "0,5", "0.x", "0 ", " 0", "00", "10",
                          "0.5.5", "+0", "1e0", "\"1\"", ".1234"})
    EXPECT_EQ(http::parse_weight(bad), std::nullopt) << bad;
}

// RFC 9110 §12.5.3.
TEST(choose_coding, the_examples_of_the_standard_are_understood) {
  EXPECT_EQ(coding("compress, gzip"), "gzip");
  EXPECT_EQ(coding(""), "identity");
  EXPECT_EQ(coding("*"), "br");
  EXPECT_EQ(coding("compress;q=0.5, gzip;q=1.0"), "gzip");
  EXPECT_EQ(coding("gzip;q=1.0, identity; q=0.5, *;q=0"), "gzip");
  EXPECT_EQ(coding("gzip;q=1.0, identity; q=0.5, *;q=0", {"br"}), "identity");
}

TEST(choose_coding, the_greatest_weight_wins_and_the_first_offer_among_equals) {
  EXPECT_EQ(coding("gzip, deflate, br, zstd"), "br");
  EXPECT_EQ(coding("gzip, br", {"gzip", "br"}), "gzip");
  EXPECT_EQ(coding("gzip;q=0.9, br;q=0.8"), "gzip");
  EXPECT_EQ(coding("GZIP;Q=0.9 , br ; q=0.8"), "gzip");
  EXPECT_EQ(coding("x-gzip"), "gzip");
  EXPECT_EQ(coding("br;q=0.1, *;q=0.5"), "gzip");
}

TEST(choose_coding, identity_is_the_last_resort_unless_it_is_liked_better) {
  EXPECT_EQ(coding("gzip;q=0.001"), "gzip");
  EXPECT_EQ(coding("identity, gzip;q=0.5"), "identity");
  EXPECT_EQ(coding("identity;q=0.5, gzip;q=0.5"), "gzip");
  EXPECT_EQ(coding("deflate"), "identity");
  EXPECT_EQ(coding("gzip;q=0, br;q=0"), "identity");
  EXPECT_EQ(coding("gzip;q=0.1, *;q=0.5", {"gzip"}), "identity");
  EXPECT_EQ(coding("gzip", {}), "identity");
  EXPECT_EQ(http::choose_coding({}, texts{"gzip"}), "identity") << "without the field";
}

TEST(choose_coding, nothing_when_identity_is_refused_too) {
  EXPECT_EQ(coding("*;q=0"), "");
  EXPECT_EQ(coding("identity;q=0"), "");
  EXPECT_EQ(coding("deflate, identity;q=0"), "");
  EXPECT_EQ(coding("identity;q=0, gzip"), "gzip");
  EXPECT_EQ(coding("*;q=0, identity;q=0.1"), "identity");
}

TEST(choose_coding, a_malformed_element_is_skipped) {
  EXPECT_EQ(coding("gzip;q=x, br;q=2"), "identity");
  EXPECT_EQ(coding("gzip;q=\"1\", br;q, , ;q=1, ;;;"), "identity");
  EXPECT_EQ(coding("br;q =1, gzip"), "gzip");
  EXPECT_EQ(coding("gzip, gzip;q=0"), "gzip") << "the first counts";
  EXPECT_EQ(coding("gzi p, \"gzip\""), "identity");
}

TEST(choose_coding, a_list_may_come_in_several_fields) {
  const std::vector<http::field> fields = {{"accept-encoding", "gzip;q=0.5"}, {"Accept-Encoding", "br;q=0.6"}};
  EXPECT_EQ(http::choose_coding(fields, texts{"gzip", "br"}), "br");
}

// RFC 9110 §12.5.1.
TEST(choose_media_type, the_examples_of_the_standard_are_understood) {
  EXPECT_EQ(media_type("audio/*; q=0.2, audio/basic", {"audio/mpeg", "audio/basic"}), "audio/basic");
  EXPECT_EQ(media_type("audio/*; q=0.2, audio/basic", {"audio/mpeg", "text/html"}), "audio/mpeg");
  constexpr const char* four = "text/plain; q=0.5, text/html, text/x-dvi; q=0.8, text/x-c";
  EXPECT_EQ(media_type(four, {"text/plain", "text/x-dvi"}), "text/x-dvi");
  EXPECT_EQ(media_type(four, {"text/plain", "text/x-c", "text/html"}), "text/x-c");
}

// The table of RFC 9110 §12.5.1: weights 1, 0.7, 0.3, 0.5, 0.4, 0.7.
TEST(choose_media_type, the_most_exact_range_gives_the_weight) {
  constexpr const char* accept =
      "text/*;q=0.3, text/plain;q=0.7, text/plain;format=flowed, text/plain;format=fixed;q=0.4, */*;q=0.5";
  const texts in_order = {"text/plain;format=flowed", "text/plain", "image/jpeg", "text/plain;format=fixed",
                          "text/html"};
  for (std::size_t i = 0; i < in_order.size(); ++i) {
    const texts rest(in_order.rbegin(), in_order.rend() - static_cast<std::ptrdiff_t>(i));
    EXPECT_EQ(media_type(accept, rest), in_order[i]);
  }
  EXPECT_EQ(media_type(accept, {"text/html;level=3", "image/jpeg", "text/plain;a=b"}), "text/plain;a=b");
}

TEST(choose_media_type, the_first_offer_wins_among_equals) {
  EXPECT_EQ(media_type("*/*", {"text/html", "application/json"}), "text/html");
  EXPECT_EQ(media_type("application/json, text/html", {"text/html", "application/json"}), "text/html");
  EXPECT_EQ(
      media_type("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", {"application/json", "text/html"}),
      "text/html");
  EXPECT_EQ(media_type("", {"a/b", "c/d"}), "a/b");
  EXPECT_EQ(http::choose_media_type({}, texts{"a/b", "c/d"}), "a/b");
  EXPECT_EQ(http::choose_media_type({}, {}), "");
  EXPECT_EQ(media_type("*/*", {}), "");
}

TEST(choose_media_type, nothing_when_none_is_acceptable) {
  EXPECT_EQ(media_type("application/json", {"text/html"}), "");
  EXPECT_EQ(media_type("text/html;q=0, */*", {"text/html"}), "");
  EXPECT_EQ(media_type("text/html;level=1", {"text/html"}), "");
  EXPECT_EQ(media_type("tex/*, text/htm, */html, t*/*, text*", {"text/html"}), "");
}

TEST(choose_media_type, parameters_are_compared_by_their_meaning) {
  EXPECT_EQ(media_type("text/html; CHARSET=\"UTF-\\8\"", {"text/html; charset=utf-8"}), "text/html; charset=utf-8");
  EXPECT_EQ(media_type("text/html;a=b;c=d", {"text/html;c=d;a=b"}), "text/html;c=d;a=b");
  EXPECT_EQ(media_type("text/html;a=\"b, c;q=0\";q=0.5, text/html;q=0", {"text/html;a=\"b, c;q=0\""}),
            "text/html;a=\"b, c;q=0\"");
  EXPECT_EQ(media_type("text/html;q=0.5;a=b", {"text/html"}), "text/html") << "behind the weight stands no parameter";
}

TEST(choose_media_type, a_malformed_element_is_skipped) {
  EXPECT_EQ(media_type("text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2", {"application/json"}),
            "application/json");
  EXPECT_EQ(media_type("text/html;q=9, application/json;q=0.1", {"text/html", "application/json"}), "application/json");
  EXPECT_EQ(media_type("text/html; q=\"0.5, text/html", {"text/html"}), "text/html") << "nothing is left to choose by";
  EXPECT_EQ(media_type(std::string(1000, ','), {"text/html"}), "text/html");
}
