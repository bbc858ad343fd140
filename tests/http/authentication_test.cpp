// tests/http/authentication_test.cpp: valid and invalid credentials.
#include <gyre/http/authentication.hpp>

#include <gyre/http/router.hpp>

#include "tests/http/http_client.hpp"
#include "tests/http/owned_fields.hpp"

#include <gtest/gtest.h>

using namespace gyre_test;
using gyre::task;

namespace {

http::response greet(http::request& r) { return http::response::text("hello " + std::string(r.attribute("user"))); }

bool is_aladdin(std::string_view user, std::string_view password) {
  return user == "Aladdin" && http::equal_secrets(password, "open sesame");
}
task<bool> is_aladdin_later(std::string_view user, std::string_view password) {
  co_await gyre::sleep(std::chrono::milliseconds(1));
  co_return is_aladdin(user, password);
}

http::router greeting_routes(http::middleware around) {
  http::router routes;
  routes.use(std::move(around));
  routes.get("/", greet);
  return routes;
}

task<http_answer> get_with_authorization(http_test_client& app, std::string authorization) {
  owned_fields fields;
  if (!authorization.empty()) fields.emplace_back("Authorization", std::move(authorization));
  co_return co_await app.request("GET", "/", std::move(fields), "");
}

}  // namespace

TEST(equal_secrets, only_the_same_bytes_are_equal) {
  EXPECT_TRUE(http::equal_secrets("", ""));
  EXPECT_TRUE(http::equal_secrets("abc", "abc"));
  for (const char* other : {"", "ab", "abd", "xbc", "abcd"}) EXPECT_FALSE(http::equal_secrets("abc", other)) << other;
}

TEST(basic_credentials, are_split_at_the_first_colon) {
  const auto aladdin = http::parse_basic_credentials("bAsIc  QWxhZGRpbjpvcGVuIHNlc2FtZQ==");
  ASSERT_TRUE(aladdin.has_value());
  EXPECT_EQ(aladdin->user, "Aladdin");
  EXPECT_EQ(aladdin->password, "open sesame");
  EXPECT_EQ(http::parse_basic_credentials("Basic YTpiOmM=")->password, "b:c");
  EXPECT_EQ(http::parse_basic_credentials("Basic Og==")->user, "");
  for (const char* bad : {"", "Basic", "Basic ", "Bearer YTpi", "BasicYTpi", "Basic YWI=", "Basic YTpi YTpi",
                          "Basic YTpiCg==", "Basic AGE6"})
    EXPECT_FALSE(http::parse_basic_credentials(bad)) << bad;
}

TEST(basic_authentication, lets_the_right_one_in) {
  run_virtual([]() -> task<> {
    http_test_client app(greeting_routes(http::basic_authentication("a \"cave\"", is_aladdin)));
    const auto nobody = co_await get_with_authorization(app, "");
    EXPECT_EQ(nobody.status, 401);
    EXPECT_EQ(nobody.field("WWW-Authenticate"), "Basic realm=\"a \\\"cave\\\"\", charset=\"UTF-8\"");
    const auto good = co_await get_with_authorization(app, "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==");
    EXPECT_EQ(good.status, 200);
    EXPECT_EQ(good.body, "hello Aladdin");
    EXPECT_EQ((co_await get_with_authorization(app, "Basic QWxhZGRpbjpvcGVu")).status, 401);
    EXPECT_EQ((co_await get_with_authorization(app, "Bearer QWxhZGRpbg")).status, 401);
  });
}

TEST(basic_authentication, the_check_may_wait) {
  run_virtual([]() -> task<> {
    http_test_client app(greeting_routes(http::basic_authentication("cave", is_aladdin_later)));
    EXPECT_EQ((co_await get_with_authorization(app, "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==")).body, "hello Aladdin");
    EXPECT_EQ((co_await get_with_authorization(app, "Basic QWxhZGRpbjpvcGVu")).status, 401);
  });
}

TEST(basic_authentication, two_fields_are_as_good_as_none) {
  run_virtual([]() -> task<> {
    http_test_client app(greeting_routes(http::basic_authentication("cave", is_aladdin)));
    owned_fields two = {{"Authorization", "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="}, {"Authorization", "Basic YTpi"}};
    EXPECT_EQ((co_await app.request("GET", "/", std::move(two), "")).status, 401);
  });
}

TEST(challenge, an_error_is_quoted_and_adds_no_parameter) {
  const http::challenge bearer = http::challenge::bearer("api");
  EXPECT_EQ(bearer.refuse("no \"token\", realm=\"\\other").field("WWW-Authenticate"),
            "Bearer realm=\"api\", error=\"no \\\"token\\\", realm=\\\"\\\\other\"");
  EXPECT_THROW((void)bearer.refuse("a\r\nSet-Cookie: a=b"), std::invalid_argument);
}

TEST(basic_authentication, a_realm_with_a_line_end_is_refused) {
  EXPECT_THROW((void)http::basic_authentication("a\r\nb", is_aladdin), std::invalid_argument);
}

TEST(bearer_authentication, each_refusal_says_why) {
  run_virtual([]() -> task<> {
    const auto check = [](std::string_view token) -> std::optional<std::string> {
      if (!http::equal_secrets(token, "mF_9.B5f-4.1JqM=")) return std::nullopt;
      return "jasmine";
    };
    http_test_client app(greeting_routes(http::bearer_authentication("api", check)));
    EXPECT_EQ((co_await get_with_authorization(app, "Bearer mF_9.B5f-4.1JqM=")).body, "hello jasmine");
    const auto none = co_await get_with_authorization(app, "");
    EXPECT_EQ(none.status, 401);
    EXPECT_EQ(none.field("WWW-Authenticate"), "Bearer realm=\"api\"");
    const auto wrong = co_await get_with_authorization(app, "bearer mF_9");
    EXPECT_EQ(wrong.status, 401);
    EXPECT_EQ(wrong.field("WWW-Authenticate"), "Bearer realm=\"api\", error=\"invalid_token\"");
    for (const char* malformed : {"Bearer", "Bearer a b", "Bearer =", "Bearer a=b", "Bearer \"a\""}) {
      const auto answer = co_await get_with_authorization(app, malformed);
      EXPECT_EQ(answer.status, 400) << malformed;
      EXPECT_EQ(answer.field("WWW-Authenticate"), "Bearer realm=\"api\", error=\"invalid_request\"") << malformed;
    }
  });
}

TEST(bearer_authentication, a_check_that_gives_no_name_sets_none) {
  run_virtual([]() -> task<> {
    const auto check = [](std::string_view token) { return token == "t"; };
    http_test_client app(greeting_routes(http::bearer_authentication("api", check)));
    EXPECT_EQ((co_await get_with_authorization(app, "Bearer t")).body, "hello ");
  });
}
