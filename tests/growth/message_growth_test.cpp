// tests/growth/message_growth_test.cpp: four times the input takes four times the steps, whatever a peer sends.
#include <gyre/http/byte_range.hpp>
#include <gyre/http/chunked_decoder.hpp>
#include <gyre/http/cookie.hpp>
#include <gyre/http/framing.hpp>
#include <gyre/http/head_parser.hpp>
#include <gyre/http/media_type.hpp>
#include <gyre/http/multipart_decoder.hpp>
#include <gyre/http/negotiation.hpp>
#include <gyre/http/precondition.hpp>
#include <gyre/http/target.hpp>

#include "tests/growth/growth.hpp"

#include <span>
#include <vector>

namespace http = gyre::http;
using namespace gyre_test;

namespace {

constexpr http::head_limits wide = {.target = 1U << 24U, .fields = 1U << 20U, .size = 1U << 26U};

void parse_head(const std::string& head) {
  http::head_parser parser(http::head_parser::kind::request, wide);
  ASSERT_EQ(parser.parse(head), http::parse_state::complete);
  http::framing framing;
  (void)http::understand_request(parser, framing);
}

// Each byte comes by itself.
void parse_head_slowly(const std::string& head) {
  http::head_parser parser(http::head_parser::kind::request, wide);
  http::parse_state state = http::parse_state::incomplete;
  for (std::size_t i = 1; i <= head.size(); ++i) state = parser.parse(std::string_view(head).substr(0, i));
  ASSERT_EQ(state, http::parse_state::complete);
}

std::string head_of(const std::string& fields) { return "GET / HTTP/1.1\r\nHost: a\r\n" + fields + "\r\n"; }

template <class Work>
void expect_linear_field(const char* what, std::string_view name, std::string_view element, Work work) {
  expect_linear_work(
      what, [&](std::size_t n) { return repeated(element, n); },
      [&](const std::string& value) {
        const std::vector<http::field> fields = {{name, value}};
        work(std::span<const http::field>(fields));
      });
}

void decode_chunks(std::string_view body, std::size_t piece) {
  http::chunked_decoder decoder({.line = 1U << 20U, .trailer = 1U << 26U, .overhead = 1U << 26U});
  http::chunked_decoder::state state = http::chunked_decoder::state::more;
  while (!body.empty()) {
    const auto step = decoder.next(body.substr(0, piece));
    state = step.what;
    ASSERT_NE(state, http::chunked_decoder::state::failed);
    body.remove_prefix(step.consumed);
  }
  EXPECT_EQ(decoder.next({}).what, http::chunked_decoder::state::complete);
  (void)decoder.trailers();
}

void decode_form(std::string_view body, std::size_t piece) {
  http::multipart_decoder decoder("b", {.header = 1U << 26U, .parts = 1U << 20U, .preamble = 1U << 26U});
  using state = http::multipart_decoder::state;
  for (state what = state::more; !body.empty();) {
    const auto step = decoder.next(body.substr(0, piece), piece >= body.size());
    what = step.what;
    ASSERT_NE(what, state::failed) << http::describe(decoder.error());
    body.remove_prefix(step.consumed);
  }
}

std::string form_of(const std::string& inside) { return "--b\r\n" + inside + "\r\n--b--\r\n"; }
constexpr std::string_view disposition = "Content-Disposition: form-data; name=a\r\n";

}  // namespace

TEST(growth_of_heads, with_fields_and_lists) {
  const auto fields = [](std::size_t n) { return head_of(numbered("Name", ": value\r\n", n)); };
  expect_linear_work("fields", fields, parse_head);
  expect_linear_work("fields, byte by byte", fields, parse_head_slowly);
  expect_linear_work(
      "one long field, byte by byte", [](std::size_t n) { return head_of("Name: " + std::string(n, 'a') + "\r\n"); },
      parse_head_slowly);
  expect_linear_work(
      "a long target, byte by byte",
      [](std::size_t n) { return "GET /" + std::string(n, 'a') + " HTTP/1.1\r\nHost: a\r\n\r\n"; }, parse_head_slowly);
  for (const std::string name : {"Connection", "Expect", "Upgrade", "Transfer-Encoding"}) {
    expect_linear_work(
        name.c_str(), [&](std::size_t n) { return head_of(name + ": " + repeated("a,", n) + "\r\n"); }, parse_head);
    expect_linear_work(name.c_str(), [&](std::size_t n) { return head_of(repeated(name + ": a\r\n", n)); }, parse_head);
  }
  expect_linear_work("empty lines", [](std::size_t n) { return repeated("\r\n", n) + head_of(""); }, parse_head);
  expect_linear_work(
      "a long host", [](std::size_t n) { return "GET / HTTP/1.1\r\nHost: " + repeated("a%41", n) + "\r\n\r\n"; },
      parse_head);
}

TEST(growth_of_fields, with_cookies) {
  for (const char* const each : {"a=b; ", "a; ", "=; ", ";", " "})
    expect_linear_field(each, "Cookie", each, [](std::span<const http::field> fields) {
      for (const http::cookie cookie : http::cookie_range(fields)) (void)cookie;
      EXPECT_FALSE(http::find_cookie(fields, "missing"));
    });
}

TEST(growth_of_fields, with_ranges) {
  for (const char* const each : {"0-1,", "9-,", "-5,", ",", " ,", "0-0 ,"})
    expect_linear_work(
        each, [&](std::size_t n) { return "bytes=" + std::string(n, '0') + "-1," + repeated(each, n); },
        [](const std::string& value) { (void)http::parse_range(value, 1000); });
}

TEST(growth_of_fields, with_lists_of_what_is_accepted) {
  constexpr std::string_view offered[] = {"text/html", "application/json;a=b;c=d"};
  for (const char* const each :
       {"text/plain,", "*/*;q=0.1,", "application/json;a=b;c=d,", ",", ";", "a/b;a=\"\\\"\",", "\""})
    expect_linear_field(each, "Accept", each,
                        [&](std::span<const http::field> fields) { (void)http::choose_media_type(fields, offered); });
  for (const char* const each : {";a=b", "; a=b ", " "})
    expect_linear_work(
        each, [&](std::size_t n) { return "application/json" + repeated(each, n) + ",text/html"; },
        [&](const std::string& value) {
          const std::vector<http::field> fields = {{"Accept", value}};
          (void)http::choose_media_type(fields, offered);
        });
  constexpr std::string_view codings[] = {"br", "gzip"};
  for (const char* const each : {"gzip,", "br;q=0,", "*,", "deflate;q=0.5,"})
    expect_linear_field(each, "Accept-Encoding", each,
                        [&](std::span<const http::field> fields) { (void)http::choose_coding(fields, codings); });
}

TEST(growth_of_fields, with_conditions_and_parameters) {
  for (const char* const each : {"\"a\",", "W/\"a\",", "\"", ",", "a"})
    for (const char* const name : {"If-None-Match", "If-Match"})
      expect_linear_field(each, name, each, [](std::span<const http::field> fields) {
        (void)http::evaluate_preconditions("GET", fields, {.etag = "\"tag\"", .last_modified = 1}, 1000);
      });
  for (const char* const each : {";a=b", "; a = b", ";", " ", ";a=\"\\\"\""})
    expect_linear_work(
        each, [&](std::size_t n) { return "multipart/form-data" + repeated(each, n) + ";boundary=b"; },
        [](const std::string& value) {
          (void)http::find_parameter(value, "boundary");
          (void)http::multipart_boundary(value);
        });
}

TEST(growth_of_targets, with_segments_parameters_and_escapes) {
  for (const char* const each : {"/a", "/..", "/a/..", "/./", "//", "/%41", "/%2e%2e", "%"})
    expect_linear_work(
        each, [&](std::size_t n) { return "/" + repeated("a/", n) + repeated(each, n); },
        [](const std::string& path) { (void)http::normalize_path(path); });
  for (const char* const each : {"a=b&", "&", "a&", "=", "%41", "%", "+"})
    expect_linear_work(
        each, [&](std::size_t n) { return repeated(each, n) + "a=b"; },
        [](const std::string& text) { (void)http::parse_form(text, 1U << 20U); });
}

TEST(growth_of_bodies, in_chunks) {
  for (const std::string each : {"1\r\na\r\n", "1;a=b\r\na\r\n", "1;a=\"\\\"\"\r\na\r\n"})
    for (const std::size_t piece : {1UL, 1UL << 20U})
      expect_linear_work(
          each.c_str(), [&](std::size_t n) { return repeated(each, n) + "0\r\n\r\n"; },
          [&](const std::string& body) { decode_chunks(body, piece); });
  for (const char* const each : {";a", "; a = b", ";a=\"\\\"\"", ";a "})
    for (const std::size_t piece : {1UL, 1UL << 20U})
      expect_linear_work(
          each, [&](std::size_t n) { return "1" + repeated(each, n) + ";a\r\na\r\n0\r\n\r\n"; },
          [&](const std::string& body) { decode_chunks(body, piece); });
  for (const std::size_t piece : {1UL, 1UL << 20U})
    expect_linear_work(
        "trailers", [](std::size_t n) { return "0\r\n" + numbered("Name", ": value\r\n", n) + "\r\n"; },
        [&](const std::string& body) { decode_chunks(body, piece); });
}

TEST(growth_of_bodies, of_forms) {
  const std::string part = std::string(disposition) + "\r\ndata\r\n--b\r\n";
  const std::string last = std::string(disposition) + "\r\n";
  for (const std::size_t piece : {1UL, 1UL << 20U}) {
    const auto decode = [&](const std::string& body) { decode_form(body, piece); };
    expect_linear_work("parts", [&](std::size_t n) { return form_of(repeated(part, n) + last); }, decode);
    expect_linear_work(
        "fields of a part", [&](std::size_t n) { return form_of(numbered("A", ": b\r\n", n) + last); }, decode);
    for (const char* const each : {";a=b", "; a=\"\\\"\"", ";", " ", ";a=%22"})
      expect_linear_work(
          each,
          [&](std::size_t n) {
            return form_of("Content-Disposition: form-data" + repeated(each, n) + ";name=a\r\n\r\n");
          },
          decode);
    for (const char* const each : {"a", "\r", "\n", "\r\n", "\r\n-", "\r\n--", "\r\n--\r\n--a", "-"})
      expect_linear_work(each, [&](std::size_t n) { return form_of(last + repeated(each, n) + "a"); }, decode);
    expect_linear_work(
        "a preamble", [&](std::size_t n) { return repeated("\r\n-", n) + "\r\n" + form_of(last); }, decode);
  }
  for (const char* const each : {"a", "/", "\\", ".", " ", "\r", "\xe2\x80\xae", "\xff"})
    expect_linear_work(
        each, [&](std::size_t n) { return repeated(each, n); },
        [](const std::string& name) { (void)http::harmless_file_name(name); });
}
