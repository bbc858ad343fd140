// tests/http/value_from_text_test.cpp: numbers of parameters.
#include <gyre/http/value_from_text.hpp>

#include <gtest/gtest.h>

#include <cstdio>
#include <limits>
#include <string>

namespace http = gyre::http;

namespace {

// As many digits as tell two values apart.
template <class T>
std::string text_of(T value) {
  char text[64];
  const int size =
      std::snprintf(text, sizeof(text), "%.*g", std::numeric_limits<T>::max_digits10, static_cast<double>(value));
  return {text, static_cast<std::size_t>(size)};
}

template <class T>
void expect_finite_values_only() {
  constexpr T largest = std::numeric_limits<T>::max();
  EXPECT_EQ(http::value_from_text<T>(text_of(largest)), largest);
  EXPECT_EQ(http::value_from_text<T>(text_of(-largest)), -largest);
  EXPECT_EQ(http::value_from_text<T>("-1.5"), T(-1.5));
  for (const char* bad : {"1e309", "-1e309", "inf", "-inf", "nan", "infinity", "", "1.5x", " 1", "+1"})
    EXPECT_EQ(http::value_from_text<T>(bad), std::nullopt) << bad;
}

}  // namespace

TEST(value_from_text, a_real_number_is_finite) {
  expect_finite_values_only<float>();
  expect_finite_values_only<double>();
  for (const char* bad : {"1e39", "3.5e38", "-1e300", "3.4028236e38"})
    EXPECT_EQ(http::value_from_text<float>(bad), std::nullopt) << bad;
  EXPECT_EQ(http::value_from_text<float>("1e-50"), 0.0F);
}

TEST(value_from_text, an_integer_fits_its_type) {
  EXPECT_EQ(http::value_from_text<std::int8_t>("-128"), -128);
  EXPECT_EQ(http::value_from_text<std::int8_t>("-129"), std::nullopt);
  EXPECT_EQ(http::value_from_text<std::uint8_t>("255"), 255);
  EXPECT_EQ(http::value_from_text<std::uint8_t>("256"), std::nullopt);
  EXPECT_EQ(http::value_from_text<std::uint64_t>("18446744073709551615"), ~std::uint64_t{0});
  EXPECT_EQ(http::value_from_text<std::uint64_t>("18446744073709551616"), std::nullopt);
}

TEST(value_from_text, a_bool_is_a_word_or_a_digit) {
  EXPECT_EQ(http::value_from_text<bool>("true"), true);
  EXPECT_EQ(http::value_from_text<bool>("0"), false);
  EXPECT_EQ(http::value_from_text<bool>("2"), std::nullopt);
}
