// tests/client/option_ranges_test.cpp: options of a client that have no meaning are refused when it is made.
#include <gyre/client.hpp>
#include <gyre/testing/run_test.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <stdexcept>
#include <string>

namespace http = gyre::http;
using namespace std::chrono_literals;

namespace {

struct refused_option {
  const char* name;
  void (*set)(http::client_options&);
};
constexpr refused_option all[] = {
    {"limits.head.size", [](http::client_options& o) { o.limits.head.size = 0; }},
    {"limits.head.fields", [](http::client_options& o) { o.limits.head.fields = 0; }},
    {"limits.head.target", [](http::client_options& o) { o.limits.head.target = 0; }},
    {"user_agent", [](http::client_options& o) { o.user_agent = "a\r\nb"; }},
    {"accept", [](http::client_options& o) { o.accept = "a\nb"; }},
    {"unix_socket", [](http::client_options& o) { o.unix_socket = std::string(200, 'x'); }},
    {"limits.expansion", [](http::client_options& o) { o.limits.expansion = 0; }},
    {"limits.connections_per_origin", [](http::client_options& o) { o.limits.connections_per_origin = 0; }},
    {"limits.idle", [](http::client_options& o) { o.limits.idle = -1ns; }},
    {"limits.age", [](http::client_options& o) { o.limits.age = -1ns; }},
    {"limits.names", [](http::client_options& o) { o.limits.names = -1ns; }},
    {"timeouts.queue", [](http::client_options& o) { o.timeouts.queue = -1ns; }},
    {"timeouts.connect", [](http::client_options& o) { o.timeouts.connect = -1ns; }},
    {"timeouts.tls", [](http::client_options& o) { o.timeouts.tls = -1ns; }},
    {"timeouts.first_byte", [](http::client_options& o) { o.timeouts.first_byte = -1ns; }},
    {"timeouts.between_bytes", [](http::client_options& o) { o.timeouts.between_bytes = -1ns; }},
    {"timeouts.expect", [](http::client_options& o) { o.timeouts.expect = -1ns; }},
    {"timeouts.total", [](http::client_options& o) { o.timeouts.total = -1ns; }},
    {"retries.attempts", [](http::client_options& o) { o.retries.attempts = 0; }},
    {"retries.backoff", [](http::client_options& o) { o.retries.backoff = -1ns; }},
    {"retries.max_backoff", [](http::client_options& o) { o.retries.max_backoff = -1ns; }},
    {"retries.max_retry_after", [](http::client_options& o) { o.retries.max_retry_after = -1ns; }},
    {"connecting.attempt_delay", [](http::client_options& o) { o.connecting.attempt_delay = -1ns; }},
};

}  // namespace

TEST(client_options, options_without_a_meaning_are_refused_by_their_names) {
  gyre::testing::run_test([]() -> gyre::task<> {
    for (const refused_option& each : all) {
      http::client_options options;
      each.set(options);
      try {
        const http::client client(options);
        ADD_FAILURE() << each.name << " is accepted";
      } catch (const std::invalid_argument& refusal) {
        EXPECT_NE(std::string(refusal.what()).find(each.name), std::string::npos) << refusal.what();
      }
    }
    EXPECT_THROW((void)http::circuit_breaker({.pause = -1ns}), std::invalid_argument);
    co_return;
  });
}

TEST(client_options, options_of_0_where_that_has_a_meaning_are_accepted) {
  gyre::testing::run_test([]() -> gyre::task<> {
    http::client_options options;
    options.limits.body = 0;
    options.limits.decompressed = 0;
    options.limits.idle_connections = 0;
    options.limits.idle_connections_per_origin = 0;
    options.limits.names = 0ns;
    options.redirects.max = 0;
    options.retries.budget_percent = 0;
    EXPECT_NO_THROW(const http::client client(options));
    co_return;
  });
}
