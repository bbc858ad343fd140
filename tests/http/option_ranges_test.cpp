// tests/http/option_ranges_test.cpp: options of servers and middleware that have no meaning are refused when they are
// given.
#include <gyre/http.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

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
    {"limits.head.size", [] { make([](http::server_options& o) { o.limits.head.size = 0; }); }},
    {"limits.head.target", [] { make([](http::server_options& o) { o.limits.head.target = 0; }); }},
    {"limits.head.fields", [] { make([](http::server_options& o) { o.limits.head.fields = 0; }); }},
    {"timeouts.head", [] { make([](http::server_options& o) { o.timeouts.head = -1ns; }); }},
    {"timeouts.handshake", [] { make([](http::server_options& o) { o.timeouts.handshake = -1ns; }); }},
    {"timeouts.idle", [] { make([](http::server_options& o) { o.timeouts.idle = -1ns; }); }},
    {"timeouts.body", [] { make([](http::server_options& o) { o.timeouts.body = -1ns; }); }},
    {"timeouts.write", [] { make([](http::server_options& o) { o.timeouts.write = -1ns; }); }},
    {"timeouts.handler", [] { make([](http::server_options& o) { o.timeouts.handler = -1ns; }); }},
    {"timeouts.half_closed", [] { make([](http::server_options& o) { o.timeouts.half_closed = -1ns; }); }},
    {"timeouts.drain", [] { make([](http::server_options& o) { o.timeouts.drain = -1ns; }); }},
    {"timeouts.last_request", [] { make([](http::server_options& o) { o.timeouts.last_request = -1ns; }); }},
    {"name", [] { make([](http::server_options& o) { o.name = "a\nb"; }); }},
    {"backlog",
     [] {
       http::server_options options = with([](http::server_options& o) { o.socket.backlog = -1; });
       options.listen = "127.0.0.1:0";
       const http::server made(std::move(options));
     }},
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
    {"rate", [] { (void)http::rate_limit({.rate = std::numeric_limits<double>::quiet_NaN()}); }},
    {"rate", [] { (void)http::rate_limit({.rate = std::numeric_limits<double>::infinity()}); }},
    {"burst", [] { (void)http::rate_limit({.burst = std::numeric_limits<double>::quiet_NaN()}); }},
    {"burst", [] { (void)http::rate_limit({.burst = 0}); }},
    {"key", [] { (void)http::rate_limit({.keys = 0}); }},
    {"field", [] { (void)http::request_id({.field = "a b"}); }},
    {"buffer is 0", [] { const http::access_log made(2, {.buffer = 0}); }},
    {"max_value_size is 0", [] { const http::access_log made(2, {.max_value_size = 0}); }},
    {"index", [] { const http::static_files made("/", {.index = "a/index.html"}); }},
    {"fallback", [] { const http::static_files made("/", {.fallback = "/index.html"}); }},
    {"fallback", [] { const http::static_files made("/", {.fallback = "a/../../index.html"}); }},
    {"cache_control", [] { const http::static_files made("/", {.cache_control = "a\r\nb"}); }},
    {"header is 0", [] { const http::multipart_decoder made("x", {.header = 0}); }},
    {"parts is 0", [] { const http::multipart_decoder made("x", {.parts = 0}); }},
    {"line or trailer is 0", [] { const http::chunked_decoder made({.line = 0}); }},
    {"line or trailer is 0", [] { const http::chunked_decoder made({.trailer = 0}); }},
    {"head_limits", [] { const http::head_parser made(http::head_parser::kind::request, {.target = 0}); }},
    {"head_limits", [] { const http::head_parser made(http::head_parser::kind::response, {.fields = 0}); }},
    {"head_limits", [] { const http::head_parser made(http::head_parser::kind::request, {.size = 0}); }},
    {"keep_alive",
     [] {
       const auto send = [](http::event_writer&) -> gyre::task<> { co_return; };
       (void)http::event_stream(send, {.keep_alive = 0ns});
     }},
};

}  // namespace

TEST(http_options, meaningless_values_are_refused_with_a_reason) {
  for (const refused_option& each : all) {
    try {
      each.use();
      ADD_FAILURE() << each.name << " is accepted";
    } catch (const std::invalid_argument& refusal) {
      EXPECT_NE(std::string(refusal.what()).find(each.name), std::string::npos) << refusal.what();
    }
  }
}

TEST(http_options, zero_is_accepted_where_it_has_a_meaning) {
  EXPECT_NO_THROW(make([](http::server_options& o) {
    o.limits.body = 0;
    o.timeouts.drain = o.timeouts.last_request = o.timeouts.half_closed = 0ns;
    o.threads = 0;
  }));
  EXPECT_NO_THROW((void)http::multipart_decoder("x", {.preamble = 0}));
  EXPECT_NO_THROW((void)http::chunked_decoder({.overhead = 0}));
  EXPECT_NO_THROW((void)http::static_files("/", {.index = "", .fallback = "..a/b"}));
  EXPECT_NO_THROW((void)http::cors({.origins = {"https://a.test"}, .max_age = 0s}));
}
