// tests/http/cors_test.cpp: the fields that tell browsers about requests from other origins.
#include <gyre/http/cors.hpp>

#include <gyre/http/router.hpp>
#include <gyre/http/status_error.hpp>

#include "tests/http/http_client.hpp"
#include "tests/http/owned_fields.hpp"

#include <gtest/gtest.h>

using namespace gyre_test;
using gyre::task;

namespace {

const std::string good_origin = "https://example.org";

http::router cors_routes(http::cors_options options, int* calls = nullptr) {
  http::router routes;
  routes.use(http::cors(std::move(options)));
  routes.any("/", [calls](http::request&) {
    if (calls != nullptr) ++*calls;
    return http::response::text("data");
  });
  routes.get("/private", [](http::request&) -> http::response { throw http::status_error(403); });
  routes.get("/broken", [](http::request&) -> http::response { throw std::runtime_error("broken"); });
  routes.get("/varied", [](http::request&) { return http::response::text("x").add_field("Vary", "Accept, origin"); });
  return routes;
}

task<http_answer> get_from(http_test_client& app, std::string target, std::string origin) {
  owned_fields fields = {{"Origin", std::move(origin)}};
  co_return co_await app.request("GET", std::move(target), std::move(fields), "");
}

task<http_answer> preflight(http_test_client& app, std::string origin, std::string method, std::string names,
                            std::string target = "/") {
  owned_fields fields = {{"Origin", std::move(origin)}, {"Access-Control-Request-Method", std::move(method)}};
  if (!names.empty()) fields.emplace_back("Access-Control-Request-Headers", std::move(names));
  co_return co_await app.request("OPTIONS", std::move(target), std::move(fields), "");
}

}  // namespace

TEST(cors, a_listed_origin_is_named_and_others_are_not) {
  run_virtual([]() -> task<> {
    http_test_client app(
        cors_routes({.origins = {good_origin, "http://localhost:3000"}, .exposed = {"X-Total", "Link"}}));
    const auto allowed = co_await get_from(app, "/", good_origin);
    EXPECT_EQ(allowed.body, "data");
    EXPECT_EQ(allowed.field("Access-Control-Allow-Origin"), good_origin);
    EXPECT_EQ(allowed.field("Access-Control-Expose-Headers"), "X-Total, Link");
    EXPECT_EQ(allowed.field("Access-Control-Allow-Credentials"), "");
    EXPECT_EQ(allowed.field("Vary"), "Origin");
    for (const char* other : {"https://evil.org", "http://example.org", "https://example.org.evil.org", "null",
                              "https://example.org:444", "HTTPS://EXAMPLE.ORG"}) {
      const auto answer = co_await get_from(app, "/", other);
      EXPECT_EQ(answer.status, 200) << other;
      EXPECT_EQ(answer.field("Access-Control-Allow-Origin"), "") << other;
      EXPECT_EQ(answer.field("Vary"), "Origin") << other;
    }
    const auto none = co_await app.get("/");
    EXPECT_EQ(none.field("Vary"), "Origin") << "or a cache would give this one to pages";
    EXPECT_EQ(none.field("Access-Control-Allow-Origin"), "");
  });
}

TEST(cors, any_origin_is_a_star_that_does_not_vary) {
  run_virtual([]() -> task<> {
    http_test_client app(cors_routes({.origins = {"*"}}));
    const auto answer = co_await get_from(app, "/", "https://whoever.net");
    EXPECT_EQ(answer.field("Access-Control-Allow-Origin"), "*");
    EXPECT_EQ(answer.field("Vary"), "");
  });
}

TEST(cors, a_star_is_sent_to_those_without_an_origin_too_as_a_cache_may_give_their_answer_to_a_page) {
  run_virtual([]() -> task<> {
    http_test_client app(cors_routes({.origins = {"*"}, .exposed = {"Link"}}));
    for (const char* target : {"/", "/private", "/nowhere"}) {
      const auto answer = co_await app.get(target);
      EXPECT_EQ(answer.field("Access-Control-Allow-Origin"), "*") << target;
      EXPECT_EQ(answer.field("Access-Control-Expose-Headers"), "Link") << target;
      EXPECT_EQ(answer.field("Vary"), "") << target;
    }
  });
}

TEST(cors, credentials_name_the_origin) {
  run_virtual([]() -> task<> {
    http_test_client app(cors_routes({.origins = {good_origin}, .credentials = true}));
    const auto answer = co_await get_from(app, "/", good_origin);
    EXPECT_EQ(answer.field("Access-Control-Allow-Origin"), good_origin);
    EXPECT_EQ(answer.field("Access-Control-Allow-Credentials"), "true");
  });
  EXPECT_THROW((void)http::cors({.origins = {"*"}, .credentials = true}), std::invalid_argument);
}

TEST(cors, a_preflight_is_answered_without_the_handler) {
  run_virtual([]() -> task<> {
    int calls = 0;
    http_test_client app(cors_routes({.origins = {good_origin},
                                      .methods = {"PUT", "DELETE"},
                                      .fields = {"X-A", "X-B"},
                                      .max_age = std::chrono::hours(1)},
                                     &calls));
    const auto answer = co_await preflight(app, good_origin, "PUT", "x-a");
    EXPECT_EQ(answer.status, 204);
    EXPECT_EQ(answer.field("Access-Control-Allow-Origin"), good_origin);
    EXPECT_EQ(answer.field("Access-Control-Allow-Methods"), "PUT, DELETE");
    EXPECT_EQ(answer.field("Access-Control-Allow-Headers"), "X-A, X-B");
    EXPECT_EQ(answer.field("Access-Control-Max-Age"), "3600");
    const auto refused = co_await preflight(app, "https://evil.org", "PUT", "x-a");
    EXPECT_EQ(refused.status, 204);
    for (const auto& [name, value] : refused.fields) EXPECT_FALSE(name.starts_with("Access-Control")) << name;
    EXPECT_EQ(calls, 0);
    const auto plain = co_await app.request("OPTIONS", "/");
    EXPECT_EQ(plain.body, "data") << "an OPTIONS that is not a preflight is the handler's";
    EXPECT_EQ(calls, 1);
  });
}

TEST(cors, a_preflight_is_answered_by_the_group_of_the_route_that_it_is_about) {
  run_virtual([]() -> task<> {
    const auto data = [](http::request&) { return http::response::text("data"); };
    http::router mounted;
    mounted.use(http::cors({.origins = {good_origin}}));
    mounted.put("/{name}", data);
    http::router routes;
    auto group = routes.at("/group");
    group.use(http::cors({.origins = {good_origin}}));
    group.put("/{name}", data);
    routes.get("/group/{name}", data);
    routes.mount("/mounted", std::move(mounted));
    http_test_client app(std::move(routes));
    for (const char* target : {"/group/a", "/mounted/a"}) {
      const auto answer = co_await preflight(app, good_origin, "PUT", "", target);
      EXPECT_EQ(answer.status, 204) << target;
      EXPECT_EQ(answer.field("Access-Control-Allow-Origin"), good_origin) << target;
      const auto without_route = co_await preflight(app, good_origin, "DELETE", "", target);
      EXPECT_EQ(without_route.field("Access-Control-Allow-Origin"), good_origin) << "the page may read the 405";
    }
    const auto outside = co_await preflight(app, good_origin, "GET", "", "/group/a");
    EXPECT_EQ(outside.status, 204);
    EXPECT_EQ(outside.field("Access-Control-Allow-Origin"), "") << "the route of GET is not in the group";
    const auto plain = co_await app.request("OPTIONS", "/group/a");
    EXPECT_EQ(plain.field("Allow"), "GET, HEAD, OPTIONS, PUT");
  });
}

TEST(cors, a_preflight_is_answered_by_the_group_of_the_route_even_if_another_route_takes_every_method_and_path) {
  run_virtual([]() -> task<> {
    const auto data = [](http::request&) { return http::response::text("data"); };
    http::router routes;
    auto group = routes.at("/api");
    group.use(http::cors({.origins = {good_origin}}));
    group.put("/{name}", data);
    routes.any("/{path...}", data);
    http_test_client app(std::move(routes));
    const auto answer = co_await preflight(app, good_origin, "PUT", "", "/api/a");
    EXPECT_EQ(answer.status, 204);
    EXPECT_EQ(answer.field("Access-Control-Allow-Origin"), good_origin);
  });
}

TEST(cors, a_group_allows_pages_to_read_errors_below_its_prefix) {
  run_virtual([]() -> task<> {
    http::router routes;
    auto group = routes.at("/api");
    group.use(http::cors({.origins = {good_origin}}));
    group.put("/a", [](http::request&) { return http::response::text("data"); });
    http_test_client app(std::move(routes));
    const std::vector<std::pair<std::string, std::string>> fields{{"Origin", good_origin}};
    for (const auto& [method, target, status] :
         {std::tuple{"GET", "/api/nothing", 404}, {"GET", "/api", 404}, {"GET", "/api/a", 405}}) {
      const auto answer = co_await app.request(method, target, fields, "");
      EXPECT_EQ(answer.status, status) << target;
      EXPECT_EQ(answer.field("Access-Control-Allow-Origin"), good_origin) << target;
    }
    const auto elsewhere = co_await app.request("GET", "/apis", fields, "");
    EXPECT_EQ(elsewhere.status, 404);
    EXPECT_EQ(elsewhere.field("Access-Control-Allow-Origin"), "");
  });
}

TEST(cors, a_star_for_methods_and_fields_says_what_was_asked_for) {
  run_virtual([]() -> task<> {
    http_test_client app(
        cors_routes({.origins = {good_origin}, .methods = {"*"}, .fields = {"*"}, .credentials = true}));
    const auto answer = co_await preflight(app, good_origin, "PURGE", "authorization,x-anything");
    EXPECT_EQ(answer.field("Access-Control-Allow-Methods"), "PURGE");
    EXPECT_EQ(answer.field("Access-Control-Allow-Headers"), "authorization,x-anything");
    const auto odd = co_await preflight(app, good_origin, "PUT", "a b, \"c\"");
    EXPECT_EQ(odd.field("Access-Control-Allow-Headers"), "");
  });
}

TEST(cors, errors_can_be_read_too) {
  run_virtual([]() -> task<> {
    http_test_client app(cors_routes({.origins = {good_origin}}));
    const auto refused = co_await get_from(app, "/private", good_origin);
    EXPECT_EQ(refused.status, 403);
    EXPECT_EQ(refused.field("Access-Control-Allow-Origin"), good_origin);
    const auto missing = co_await get_from(app, "/nowhere", good_origin);
    EXPECT_EQ(missing.status, 404);
    EXPECT_EQ(missing.field("Access-Control-Allow-Origin"), good_origin);
  });
}

TEST(cors, vary_names_the_origin_once) {
  run_virtual([]() -> task<> {
    http_test_client app(cors_routes({.origins = {good_origin}}));
    const auto answer = co_await get_from(app, "/varied", good_origin);
    int count = 0;
    for (const auto& [name, value] : answer.fields) count += name == "Vary";
    EXPECT_EQ(count, 1);
    EXPECT_EQ(answer.field("Vary"), "Accept, origin");
  });
}

TEST(cors, an_origin_that_can_never_match_is_refused) {
  for (const char* bad :
       {"example.org", "https://example.org/", "https://", "null", "", "https://*.example.org", "https://a\r\nb"})
    EXPECT_THROW((void)http::cors({.origins = {bad}}), std::invalid_argument) << bad;
  EXPECT_THROW((void)http::cors({.origins = {good_origin}, .methods = {"A B"}}), std::invalid_argument);
  EXPECT_THROW((void)http::cors({.origins = {good_origin}, .fields = {"A,B"}}), std::invalid_argument);
}

TEST(cors, a_scheme_that_is_no_token_is_no_origin) {
  for (const char* bad : {"ht tp://a", "://a", "http://", "http://a b", "http:/a"})
    EXPECT_THROW((void)http::cors({.origins = {bad}}), std::invalid_argument) << bad;
}

TEST(cors, a_page_may_read_that_a_handler_has_failed) {
  run_virtual([]() -> task<> {
    gyre::event_loop::current().set_exception_handler([](auto&, void*) noexcept {}, nullptr);
    http_test_client app(cors_routes({.origins = {good_origin}}));
    const auto answer = co_await get_from(app, "/broken", good_origin);
    EXPECT_EQ(answer.status, 500);
    EXPECT_EQ(answer.field("Access-Control-Allow-Origin"), good_origin);
  });
}
