// tests/growth/cookie_jar_growth_test.cpp: keeping cookies, and finding those for a request.
#include <gyre/client/cookie_jar.hpp>

#include "tests/growth/growth.hpp"

#include <vector>

namespace http = gyre::http;
using namespace gyre_test;

TEST(growth_of_cookie_jars, with_the_cookies_that_they_keep) {
  constexpr http::unix_seconds now = 1'800'000'000;
  const http::url one("https://a.example.org/x/y");
  expect_linear("cookies of one host", [&](std::size_t n) {  // of which at most 180 are kept
    http::cookie_jar jar;
    return steps_of([&] {
      for (std::size_t i = 0; i < n; ++i) jar.store(one, "name" + std::to_string(i) + "=value; Path=/", now);
    });
  });
  expect_linear("the same cookie", [&](std::size_t n) {
    http::cookie_jar jar;
    return steps_of([&] {
      for (std::size_t i = 0; i < n; ++i) jar.store(one, "name=" + std::to_string(i), now);
    });
  });
  for (const char* const scheme : {"https://", "http://"})
    for (const std::size_t size : {700UL, 4000UL})  // below and above the limit of a jar
      expect_linear(
          "cookies of many hosts",
          [&](std::size_t n) {
            std::vector<http::url> hosts;
            hosts.reserve(n);
            for (std::size_t i = 0; i < n; ++i)
              hosts.emplace_back(scheme + ("h" + std::to_string(i) + ".example.org/"));
            http::cookie_jar jar;
            return steps_of([&] {
              for (const http::url& each : hosts) jar.store(each, "name=value", now);
            });
          },
          size);
  expect_linear_work(
      "attributes", [](std::size_t n) { return "a=b" + repeated("; Path=/x; Expires=1 2 3", n); },
      [&](const std::string& text) {
        http::cookie_jar jar;
        jar.store(one, text, now);
      });
  expect_linear(
      "requests to many hosts",
      [&](std::size_t n) {
        std::vector<http::url> hosts;
        hosts.reserve(n);
        http::cookie_jar jar;
        for (std::size_t i = 0; i < n; ++i) {
          hosts.emplace_back("https://h" + std::to_string(i) + ".example.org/");
          jar.store(hosts.back(), "name=value", now);
        }
        return steps_of([&] {
          std::string out;
          for (const http::url& each : hosts) jar.append_for(each, now, out);
        });
      },
      700);
}
