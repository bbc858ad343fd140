// tests/net/host_port_test.cpp: splitting "host:port".
#include <gyre/net/host_port.hpp>

#include <gtest/gtest.h>

#include <string>

using gyre::host_port;

namespace {

// "host|port", or the error.
std::string split(std::string_view text) {
  const auto parts = host_port::parse(text);
  if (!parts) return parts.error().message();
  return std::string(parts->host) + "|" + std::to_string(parts->port);
}

}  // namespace

TEST(host_port, splits_names_and_numbers_alike) {
  EXPECT_EQ(split("localhost:80"), "localhost|80");
  EXPECT_EQ(split("www.example.org:0"), "www.example.org|0");
  EXPECT_EQ(split("127.0.0.1:65535"), "127.0.0.1|65535");
  EXPECT_EQ(split("xn--bcher-kva.example:443"), "xn--bcher-kva.example|443");
  EXPECT_EQ(split("b\xc3\xbc"
                  "cher:443"),
            "b\xc3\xbc"
            "cher|443");
}

TEST(host_port, takes_the_brackets_off) {
  EXPECT_EQ(split("[::1]:80"), "::1|80");
  EXPECT_EQ(split("[fe80::1%eth0]:80"), "fe80::1%eth0|80");
}

TEST(host_port, the_host_may_be_empty_or_a_star) {
  EXPECT_EQ(split(":80"), "|80");
  EXPECT_EQ(split("*:80"), "*|80");
}

TEST(host_port, rejects_a_text_that_is_not_exactly_of_that_form) {
  const std::string bad[] = {"",         "a",         ":",
                             "a:",       "a:+1",      "a:-1",
                             "a:01",     "a:00",      "a:65536",
                             "a: 1",     "a:1 ",      " a:1",
                             "a b:1",    "a\n:1",     "a\t:1",
                             "::1",      "::1:80",    "a:b:1",
                             "[]:1",     "[a]:1",     "[::1]",
                             "[::1]1",   "[::1:1",    "::1]:1",
                             "x[::1]:1", "[[::1]]:1", "[:1",
                             "a/b:1",    "user@a:1",  "http://a:1",
                             "\"a\":1",  "a\\b:1",    std::string("a\0:1", 4),
                             "a\x7f:1"};
  for (const std::string& text : bad) EXPECT_EQ(split(text), "Invalid argument") << text;
}

TEST(host_port, the_host_points_into_the_text) {
  const std::string text = "[::1]:80";
  EXPECT_EQ(host_port::parse(text)->host.data(), text.data() + 1);
}
