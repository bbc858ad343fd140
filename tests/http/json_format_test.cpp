// tests/http/json_format_test.cpp: values as JSON, with functions of the program.
#include <gyre/http/json_format.hpp>

#include "tests/http/http_client.hpp"
#include "tests/http/owned_fields.hpp"

#include <charconv>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using namespace gyre_test;

namespace {

struct number {
  int value = 0;
};
struct written_only {};

}  // namespace

template <>
struct gyre::http::json_format<number> {
  static std::string write(const number& n) { return std::to_string(n.value); }
  static number read(std::string_view text) {
    number n;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n.value);
    if (error != std::errc() || end != text.data() + text.size()) throw std::runtime_error("secret of the library");
    if (n.value > 100) throw gyre::http::status_error(422, "too much");
    return n;
  }
};
template <>
struct gyre::http::json_format<written_only> {
  static std::string write(const written_only&) { return "{}"; }
};

namespace {

static_assert(http::json_writable<number> && http::json_readable<number>);
static_assert(http::json_writable<written_only> && !http::json_readable<written_only>);
static_assert(!http::json_writable<int>);

/// Posts a body. Returns the answer as "200 21".
std::string post_json(const std::string& type, const std::string& body) {
  http::router routes;
  routes.post("/", [](http::request& r) -> gyre::task<http::response> {
    number n = co_await r.json<number>();
    ++n.value;
    co_return http::response::json(n);
  });
  std::string result;
  run_virtual([&]() -> gyre::task<> {
    http_test_client app(std::move(routes));
    const owned_fields fields = {{"Content-Type", type}};  // named: g++ 12 does not compile it inside the await
    const http_answer answer = co_await app.request("POST", "/", fields, body);
    result = std::to_string(answer.status) + " " + answer.body;
    if (answer.status == 200) EXPECT_EQ(answer.field("Content-Type"), "application/json");
  });
  return result;
}

}  // namespace

TEST(json_format, a_value_is_read_from_a_body_and_written_as_one) {
  EXPECT_EQ(post_json("application/json", "20"), "200 21");
  EXPECT_EQ(post_json("Application/JSON; charset=utf-8", "20"), "200 21");
  EXPECT_EQ(post_json("application/vnd.api+json", "20"), "200 21");
}

TEST(json_format, a_body_of_another_type_is_415) {
  for (const char* const type : {"", "text/plain", "application/jsonp", "+json", "application/x-www-form-urlencoded"})
    EXPECT_EQ(post_json(type, "20"), "415 the request must have the media type application/json\n") << type;
}

TEST(json_format, a_body_that_the_format_cannot_read_is_400_without_its_reason) {
  for (const char* const body : {"", "x", "20 "})
    EXPECT_EQ(post_json("application/json", body), "400 invalid JSON for this resource\n") << body;
}

TEST(json_format, a_status_of_the_format_is_kept) { EXPECT_EQ(post_json("application/json", "101"), "422 too much\n"); }

TEST(json_format, a_body_that_is_too_large_is_413) {
  http::router routes;
  routes.post("/", [](http::request& r) -> gyre::task<http::response> {
    r.body().set_limit(3);
    const number n = co_await r.json<number>();
    co_return http::response::json(n);
  });
  run_virtual([&]() -> gyre::task<> {
    http_test_client app(std::move(routes));
    const owned_fields fields = {{"Content-Type", "application/json"}};
    const http_answer answer = co_await app.request("POST", "/", fields, "1234");
    EXPECT_EQ(answer.status, 413);
  });
}

TEST(json_format, text_is_sent_as_it_is) {
  EXPECT_EQ(http::response::json("[1]").body(), "[1]");
  EXPECT_EQ(http::response::json(std::string("[1]")).body(), "[1]");
  EXPECT_EQ(http::response::json(written_only()).body(), "{}");
}
