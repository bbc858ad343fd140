// tests/http/request_test.cpp: the accessors of a request.
#include <gyre/http/request.hpp>

#include "tests/http/http_client.hpp"
#include "tests/http/lines.hpp"
#include "tests/http/owned_fields.hpp"

using namespace gyre_test;
using http::response;

namespace {

response show_cookies(http::request& r) {
  std::string text;
  for (const http::cookie& each : r.cookies()) text.append(each.name).append("=").append(each.value).append("|");
  return response::text(std::move(text));
}

response show_upgrade(http::request& r) { return response::text("[" + std::string(r.upgrade()) + "]"); }

/// The output of the handler for requests with these fields, one after another.
std::vector<std::string> shown(http::handler shows, const std::vector<owned_fields>& requests) {
  std::vector<std::string> all;
  run_virtual([&]() -> gyre::task<> {
    http_test_client app(std::move(shows));
    for (const owned_fields& each : requests) {
      const auto answer = co_await app.request("GET", "/", each, "");
      all.push_back(answer.body);
    }
  });
  return all;
}

}  // namespace

TEST(request, gives_all_cookies_in_their_order) {
  const std::vector<owned_fields> requests = {{}, {{"Cookie", "a=1; b=\"2\"; bad; a=3"}, {"cookie", "c=4"}}};
  EXPECT_EQ(shown(show_cookies, requests), (lines{"", "a=1|b=2|a=3|c=4|"}));
}

TEST(request, shows_the_protocols_of_all_fields_that_ask_for_another_one) {
  const std::vector<owned_fields> requests = {
      {{"Connection", "upgrade"}, {"Upgrade", "h2c"}, {"upgrade", "websocket, x/1"}},
      {{"Connection", "upgrade"}, {"Upgrade", ""}, {"Upgrade", "websocket"}},
      {{"Connection", "upgrade"}, {"Upgrade", "h2c"}},
      {}};
  EXPECT_EQ(shown(show_upgrade, requests), (lines{"[h2c, websocket, x/1]", "[websocket]", "[h2c]", "[]"}));
}

TEST(request, shows_no_protocols_that_are_not_for_this_connection) {
  const std::vector<owned_fields> requests = {{{"Upgrade", "a"}, {"Upgrade", "b"}}, {{"Upgrade", "a"}}};
  EXPECT_EQ(shown(show_upgrade, requests), (lines{"[]", "[]"}));
}

TEST(request, a_query_with_too_many_fields_is_refused_with_this_reason) {
  run_virtual([]() -> gyre::task<> {
    http_test_client app{
        http::handler([](http::request& r) { return response::text(std::to_string(r.query_parameters().size())); })};
    std::string target = "/?a";
    for (int i = 1; i < 1000; ++i) target += "&a";
    const auto most = co_await app.get(target);
    EXPECT_EQ(most.body, "1000");
    const auto too_many = co_await app.get(target + "&a");
    EXPECT_EQ(too_many.status, 400);
    EXPECT_EQ(too_many.body, "too many query parameters\n");
  });
}
