// tests/http/request_id_test.cpp: the source of a request's ID, and the places that show it.
#include <gyre/http/request_id.hpp>

#include <gyre/http/router.hpp>
#include <gyre/http/status_error.hpp>

#include "tests/http/http_client.hpp"
#include "tests/http/owned_fields.hpp"

#include <gtest/gtest.h>

#include <set>

using namespace gyre_test;
using gyre::task;

namespace {

http::router identified_routes(http::middleware around) {
  http::router routes;
  routes.use(std::move(around));
  routes.get("/", [](http::request& r) { return http::response::text(r.attribute("request_id")); });
  routes.get("/broken", [](http::request&) -> http::response { throw std::runtime_error("broken"); });
  routes.get("/gone", [](http::request&) -> http::response { throw http::status_error(410, "it was here"); });
  return routes;
}

task<http_answer> get_with_id(http_test_client& app, std::string id) {
  owned_fields fields = {{"x-request-id", std::move(id)}};
  co_return co_await app.request("GET", "/", std::move(fields), "");
}

}  // namespace

TEST(request_id, made_ones_differ_and_are_valid) {
  std::set<std::string> all;
  for (int i = 0; i < 1000; ++i) {
    const std::string id = http::make_request_id();
    EXPECT_EQ(id.size(), 32u);
    EXPECT_TRUE(http::is_request_id(id));
    all.insert(id);
  }
  EXPECT_EQ(all.size(), 1000u);
}

TEST(request_id, a_harmful_text_is_no_request_id) {
  EXPECT_TRUE(http::is_request_id("0af7651916cd43dd8448eb211c80319c"));
  EXPECT_TRUE(http::is_request_id(std::string(128, 'a')));
  EXPECT_FALSE(http::is_request_id(std::string(129, 'a')));
  for (const char* bad : {"", " ", "a b", "a\"b", "a\\b", "a,b", "\xc3\xa4"})
    EXPECT_FALSE(http::is_request_id(bad)) << bad;
}

TEST(request_id, letters_of_both_cases_and_digits_are_one_and_what_lies_around_them_is_not) {
  EXPECT_TRUE(http::is_request_id("azAZ09-._~+/=:@"));
  for (const char* bad : {"{", "}", "`", "[", "^", "|", "%"}) EXPECT_FALSE(http::is_request_id(bad)) << bad;
}

TEST(request_id, handler_and_client_see_the_same) {
  run_virtual([]() -> task<> {
    http_test_client app(identified_routes(http::request_id()));
    const auto first = co_await app.get("/");
    EXPECT_EQ(first.body.size(), 32u);
    EXPECT_EQ(first.field("X-Request-Id"), first.body);
    const auto second = co_await app.get("/");
    EXPECT_NE(first.body, second.body);
    const auto brought = co_await get_with_id(app, "mine");
    EXPECT_NE(brought.body, "mine") << "nobody said that clients are trusted";
  });
}

TEST(request_id, a_trusted_client_may_bring_one) {
  run_virtual([]() -> task<> {
    http_test_client app(identified_routes(http::request_id({.trust_client = true})));
    const auto brought = co_await get_with_id(app, "trace/7");
    EXPECT_EQ(brought.body, "trace/7");
    EXPECT_EQ(brought.field("X-Request-Id"), "trace/7");
    const auto bad = co_await get_with_id(app, "a \"b\"");
    EXPECT_EQ(bad.body.size(), 32u);
  });
}

TEST(request_id, errors_have_it_too) {
  run_virtual([]() -> task<> {
    http_test_client app(identified_routes(http::request_id({.field = "Trace"})));
    const auto gone = co_await app.get("/gone");
    EXPECT_EQ(gone.status, 410);
    EXPECT_EQ(gone.body, "it was here\n");
    EXPECT_EQ(gone.field("Trace").size(), 32u);
    const auto missing = co_await app.get("/nowhere");
    EXPECT_EQ(missing.status, 404);
    EXPECT_EQ(missing.field("Trace").size(), 32u);
  });
}

TEST(request_id, a_field_must_be_a_token) {
  EXPECT_THROW((void)http::request_id({.field = "a b"}), std::invalid_argument);
}

TEST(request_id, is_on_the_answer_of_a_handler_that_has_failed) {
  run_virtual([]() -> task<> {
    gyre::event_loop::current().set_exception_handler([](auto&, void*) noexcept {}, nullptr);
    http_test_client app(identified_routes(http::request_id()));
    const auto answer = co_await app.request("GET", "/broken");
    EXPECT_EQ(answer.status, 500);
    EXPECT_TRUE(http::is_request_id(answer.field("X-Request-ID")));
  });
}
