// tests/http/base64_test.cpp: bytes as text of 64 characters, and back. The pairs are those of RFC 4648 §10.
#include <gyre/http/base64.hpp>

#include <gtest/gtest.h>

#include <string_view>
#include <utility>

namespace http = gyre::http;

namespace {

constexpr std::pair<std::string_view, std::string_view> bytes_and_text[] = {
    {"", ""}, {"f", "Zg=="}, {"fo", "Zm8="}, {"foo", "Zm9v"}, {"foob", "Zm9vYg=="}, {"\xff\xfe\xfd\xf8", "//79+A=="},
};

}  // namespace

TEST(base64, text_is_padded_to_groups_of_four) {
  for (const auto& [bytes, text] : bytes_and_text) EXPECT_EQ(http::encode_base64(bytes), text);
}

TEST(base64, decoded_text_is_the_bytes_that_were_encoded) {
  for (const auto& [bytes, text] : bytes_and_text) EXPECT_EQ(http::decode_base64(text), bytes);
}

TEST(base64, malformed_text_has_no_bytes) {
  for (const char* bad :
       {"Z", "Zg", "Zg=", "Zm9", "Zh==", "Zm9=", "Zg==Zg==", "====", "=", "Z===", "Zm 9v", "Zm9v\n", "Zm_v"})
    EXPECT_FALSE(http::decode_base64(bad)) << bad;
}
