// tests/http/option_ranges_test.cpp: options of servers and middleware that have no meaning are refused when they are
// given.
#include <gyre/http.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <stdexcept>
#include <string>

namespace http = gyre::http;
using namespace std::chrono_literals;

namespace {

struct refused_option {
  const char* name;
  void (*use)();
};

http::server_options with(void (*set)(http::server_options&)) {
  http::server_options options{.listen = "", .routes = [](http::request&) { return http::response::text(""); }};
  set(options);
  return options;
}
void make(void (*set)(http::server_options&)) { const http::server made(with(set)); }

constexpr refused_option all[] = {
    {"connections", [] { make([](http::server_options& o) { o.limits.connections = 0; }); }},
    {"connections_per_address", [] { make([](http::server_options& o) { o.limits.connections_per_address = 0; }); }},
    {"handshakes", [] { make([](http::server_options& o) { o.limits.handshakes = 0; }); }},
    {"requests_per_connection", [] { make([](http::server_options& o) { o.limits.requests_per_connection = 0; }); }},
    {"head", [] { make([](http::server_options& o) { o.limits.head.size = 0; }); }},
    {"head", [] { make([](http::server_options& o) { o.limits.head.target = 0; }); }},
    {"time-out", [] { make([](http::server_options& o) { o.timeouts.head = -1ns; }); }},
    {"time-out", [] { make([](http::server_options& o) { o.timeouts.handshake = -1ns; }); }},
    {"time-out", [] { make([](http::server_options& o) { o.timeouts.idle = -1ns; }); }},
    {"time-out", [] { make([](http::server_options& o) { o.timeouts.body = -1ns; }); }},
    {"time-out", [] { make([](http::server_options& o) { o.timeouts.write = -1ns; }); }},
    {"time-out", [] { make([](http::server_options& o) { o.timeouts.handler = -1ns; }); }},
    {"time-out", [] { make([](http::server_options& o) { o.timeouts.half_closed = -1ns; }); }},
    {"time-out", [] { make([](http::server_options& o) { o.timeouts.drain = -1ns; }); }},
    {"time-out", [] { make([](http::server_options& o) { o.timeouts.last_request = -1ns; }); }},
    {"name", [] { make([](http::server_options& o) { o.name = "a\nb"; }); }},
    {"gzip_level is 0", [] { (void)http::compress({.gzip_level = 0}); }},
    {"gzip_level is 10", [] { (void)http::compress({.gzip_level = 10}); }},
    {"brotli_quality is -1", [] { (void)http::compress({.brotli_quality = -1}); }},
    {"brotli_quality is 12", [] { (void)http::compress({.brotli_quality = 12}); }},
    {"zstd_level is 0", [] { (void)http::compress({.zstd_level = 0}); }},
    {"zstd_level is 20", [] { (void)http::compress({.zstd_level = 20}); }},
    {"max_age", [] { (void)http::cors({.origins = {"https://a.test"}, .max_age = -1s}); }},
    {"limit", [] { (void)http::handler_timeout({.limit = -1ns}); }},
    {"status", [] { (void)http::handler_timeout({.status = 1000}); }},
    {"rate", [] { (void)http::rate_limit({.rate = 0}); }},
    {"burst", [] { (void)http::rate_limit({.burst = 0}); }},
    {"key", [] { (void)http::rate_limit({.keys = 0}); }},
    {"field", [] { (void)http::request_id({.field = "a b"}); }},
    {"keep_alive",
     [] {
       const auto send = [](http::event_writer&) -> gyre::task<> { co_return; };
       (void)http::event_stream(send, {.keep_alive = 0ns});
     }},
};

}  // namespace

TEST(http_options, without_a_meaning_are_refused_with_a_reason) {
  for (const refused_option& each : all) {
    try {
      each.use();
      ADD_FAILURE() << each.name << " is accepted";
    } catch (const std::invalid_argument& refusal) {
      EXPECT_NE(std::string(refusal.what()).find(each.name), std::string::npos) << refusal.what();
    }
  }
}
