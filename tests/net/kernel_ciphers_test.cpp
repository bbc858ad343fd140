// tests/net/kernel_ciphers_test.cpp: the drivers of /proc/crypto.
#include "src/net/kernel_ciphers.hpp"

#include <gtest/gtest.h>

namespace {

constexpr std::string_view table =
    "name         : gcm(aes)\n"
    "driver       : gcm_base(ctr(aes-generic),ghash-generic)\n"
    "module       : gcm\n"
    "priority     : 100\n"
    "\n"
    "name         : gcm(aes)\n"
    "driver       : generic-gcm-aesni\n"
    "priority     : 400\n"
    "\n"
    "name         : rfc4106(gcm(aes))\n"
    "driver       : rfc4106-gcm-aesni\n"
    "priority     : 900\n"
    "\n"
    "name         : sha1\n"
    "driver       : sha1-generic\n"
    "priority     : 100";

}  // namespace

TEST(fastest_driver, has_the_highest_priority_of_its_name) {
  EXPECT_EQ(gyre::fastest_driver(table, "gcm(aes)"), "generic-gcm-aesni");
}

TEST(fastest_driver, is_found_in_a_last_entry_without_an_end_of_line) {
  EXPECT_EQ(gyre::fastest_driver(table, "sha1"), "sha1-generic");
}

TEST(fastest_driver, is_empty_for_a_cipher_that_is_not_loaded) {
  EXPECT_EQ(gyre::fastest_driver(table, "gcm"), "");
  EXPECT_EQ(gyre::fastest_driver("", "gcm(aes)"), "");
  EXPECT_EQ(gyre::fastest_driver("\n\nname\n: \nname:\n", "gcm(aes)"), "");
}

TEST(fastest_driver, that_is_written_in_c_is_not_made_for_the_processor) {
  EXPECT_FALSE(gyre::is_made_for_processor("gcm_base(ctr(aes-generic),ghash-generic)"));
  EXPECT_FALSE(gyre::is_made_for_processor("rfc7539(chacha20-generic,poly1305-generic)"));
  EXPECT_TRUE(gyre::is_made_for_processor("generic-gcm-aesni"));
  EXPECT_TRUE(gyre::is_made_for_processor("gcm-aes-ce"));
}
