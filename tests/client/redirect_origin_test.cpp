// tests/client/redirect_origin_test.cpp: what a redirect to another scheme, host or port may take along.
#include "tests/client/mock_answers.hpp"
#include "tests/support/co_assert.hpp"
#include "tests/support/error_of.hpp"

#include <string>
#include <string_view>
#include <vector>

using gyre::testing::http_mock_request;
using namespace gyre_test;

namespace {

constexpr std::string_view credentials[] = {"Authorization", "Cookie", "Cookie2", "WWW-Authenticate",
                                            "Proxy-Authorization"};

http::client_options options_for(http_mock_server& server) {
  return {.redirects = {.to_plain_text = true}, .connector = server.connector()};
}

/// A request with everything that belongs to its origin, in any case.
http::client_request with_credentials(http::client& client, std::string_view method, std::string_view url) {
  auto request = client.request(method, url);
  request.header("authorization", "Bearer secret").header("COOKIE", "a=b").header("Cookie2", "c");
  request.header("Www-Authenticate", "x").header("Host", "named.test").header("X-Mine", "1");
  return request;
}

void expect_no_credentials(const http_mock_request& seen, std::string_view host) {
  for (const std::string_view name : credentials) EXPECT_EQ(seen.field(name), "") << name;
  EXPECT_EQ(seen.field("Host"), host);
  EXPECT_EQ(seen.field("X-Mine"), "1");
}

}  // namespace

TEST(client_redirect_origin, a_change_of_scheme_host_or_port_drops_the_credentials_for_good) {
  struct journey {
    std::string from, to, host;
  };
  for (const journey& each : std::vector<journey>{{"http://a.test:81/", "https://a.test:81/", "a.test:81"},
                                                  {"https://a.test:81/", "http://a.test:81/", "a.test:81"},
                                                  {"http://a.test/", "http://b.test/", "b.test"},
                                                  {"http://a.test/", "http://www.a.test/", "www.a.test"},
                                                  {"http://a.test/", "http://a.test:81/", "a.test:81"},
                                                  {"http://a.test/", "//b.test/", "b.test"}})
    for (const int status : {301, 302, 303, 307, 308})
      gyre::testing::run_test([&]() -> gyre::task<> {
        SCOPED_TRACE(each.from + " " + each.to + " " + std::to_string(status));
        http_mock_server server;
        server.reply(http::response::redirect(each.to, status)).reply(http::response::redirect("/second", status));
        server.reply(http::response::redirect(each.from, status)).reply(200, "home");
        http::client client(options_for(server));
        auto response = co_await with_credentials(client, "POST", each.from).body("text").send();
        const std::string text = co_await response.read_all();
        EXPECT_EQ(text, "home");
        const auto& seen = server.requests();
        CO_ASSERT_EQ(seen.size(), 4U);
        EXPECT_EQ(seen[0].field("Authorization"), "Bearer secret");
        EXPECT_EQ(seen[0].field("Cookie"), "a=b");
        EXPECT_EQ(seen[0].field("Host"), "named.test");
        expect_no_credentials(seen[1], each.host);
        expect_no_credentials(seen[2], each.host);
        expect_no_credentials(seen[3], http::url(each.from).authority());
        for (const auto& later : {seen[1], seen[2], seen[3]}) {
          EXPECT_EQ(later.method, status < 307 ? "GET" : "POST");
          EXPECT_EQ(later.body, status < 307 ? "" : "text");
        }
      });
}

TEST(client_redirect_origin, another_spelling_of_the_same_origin_keeps_the_credentials) {
  for (const std::string_view to : {"/x", "x", "?x", "http://a.test:80/x", "HTTP://A.Test/x", "//a.test:/x"})
    gyre::testing::run_test([&]() -> gyre::task<> {
      http_mock_server server;
      server.reply(http::response::redirect(to, 302)).reply(200, "home");
      http::client client(options_for(server));
      auto response = co_await with_credentials(client, "GET", "http://a.test/").send();
      CO_ASSERT_EQ(server.requests().size(), 2U);
      EXPECT_EQ(server.requests()[1].field("Authorization"), "Bearer secret") << to;
      EXPECT_EQ(server.requests()[1].field("Cookie"), "a=b") << to;
      EXPECT_EQ(server.requests()[1].field("Host"), "named.test") << to;
    });
}

TEST(client_redirect_origin, the_user_of_a_url_is_sent_within_its_origin_and_does_not_come_back) {
  gyre::testing::run_test([]() -> gyre::task<> {
    http_mock_server server;
    for (const std::string_view to : {"/within", "http://b.test/", "http://a.test/"})
      server.reply(http::response::redirect(to, 302));
    server.reply(200, "home");
    http::client client(options_for(server));
    auto response = co_await client.get("http://ann:secret@a.test/");
    CO_ASSERT_EQ(server.requests().size(), 4U);
    for (std::size_t n = 0; n < 4; ++n) EXPECT_EQ(server.requests()[n].field("Authorization") != "", n < 2) << n;
  });
}

TEST(client_redirect_origin, the_user_of_a_redirect_is_for_its_own_origin_only) {
  gyre::testing::run_test([]() -> gyre::task<> {
    http_mock_server server;
    server.reply(http::response::redirect("http://eve:x@b.test/", 302));
    server.reply(http::response::redirect("http://c.test/", 302)).reply(200, "there");
    http::client client(options_for(server));
    auto response = co_await client.get("http://a.test/");
    CO_ASSERT_EQ(server.requests().size(), 3U);
    EXPECT_EQ(server.requests()[1].field("Authorization"), "Basic ZXZlOng=");
    EXPECT_EQ(server.requests()[2].field("Authorization"), "");
    EXPECT_EQ(response.url().user(), "");
  });
}

TEST(client_redirect_origin, the_cookies_of_the_jar_are_chosen_anew_for_each_request) {
  gyre::testing::run_test([]() -> gyre::task<> {
    http_mock_server server;
    const auto redirect = [](std::string_view to, std::string_view cookie) {
      return http::response::redirect(to, 307).add_field("Set-Cookie", cookie);
    };
    server.reply(redirect("http://b.test/1", "of_a=1; Secure")).reply(redirect("https://a.test/2", "of_b=2"));
    server.reply(redirect("http://a.test/3", "plain=3")).reply(200, "there");
    auto options = options_for(server);
    options.cookies = true;
    http::client client(options);
    auto response = co_await client.get("https://a.test/");
    CO_ASSERT_EQ(server.requests().size(), 4U);
    EXPECT_EQ(server.requests()[0].field("Cookie"), "");
    EXPECT_EQ(server.requests()[1].field("Cookie"), "");
    EXPECT_EQ(server.requests()[2].field("Cookie"), "of_a=1");
    EXPECT_EQ(server.requests()[3].field("Cookie"), "plain=3");
  });
}

TEST(client_redirect_origin, a_redirect_from_https_to_http_is_refused_unless_it_is_allowed) {
  gyre::testing::run_test([]() -> gyre::task<> {
    http_mock_server server;
    server.reply(http::response::redirect("http://a.test/", 302)).reply(200, "plain");
    auto options = options_for(server);
    options.redirects.to_plain_text = false;
    http::client client(options);
    const std::string refused = co_await error_of(client.get("https://a.test/"));
    EXPECT_EQ(refused, "GET https://a.test/: the redirect is refused: it leads from https to http://a.test/");
    EXPECT_EQ(server.requests().size(), 1U);
    EXPECT_EQ(client.counts().in_use, 0U);
  });
}
