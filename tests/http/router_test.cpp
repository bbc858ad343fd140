// tests/http/router_test.cpp: which route answers which request.
#include <gyre/http/router.hpp>

#include "tests/http/router_answers.hpp"

using namespace gyre_test;

namespace {

std::string route_refusal(std::string_view pattern, std::string_view method = "GET") {
  return message_of<std::invalid_argument>([&] { http::router().add(method, pattern, says("")); });
}

}  // namespace

TEST(router, a_segment_that_is_spelled_out_goes_before_a_parameter_and_that_before_a_rest) {
  http::router routes;
  routes.get("/{rest...}", says("rest")).get("/users/{id}", says("parameter")).get("/users/me", says("spelled"));
  EXPECT_EQ(answers(std::move(routes), {"GET /users/me", "GET /users/7", "GET /users/7/x", "GET /", "GET /other"}),
            (lines{"200 spelled", "200 parameter", "200 rest", "200 rest", "200 rest"}));
}

TEST(router, goes_back_when_a_better_segment_leads_nowhere) {
  http::router routes;
  routes.get("/a/b/c", says("spelled"))
      .get("/{x}/b/d", says("parameter first"))
      .get("/a/{y}/e", says("parameter second"))
      .get("/a/{rest...}", says("rest of a"));
  EXPECT_EQ(answers(std::move(routes), {"GET /a/b/c", "GET /a/b/d", "GET /a/b/e", "GET /a/b/f", "GET /b/b/f"}),
            (lines{"200 spelled", "200 rest of a", "200 parameter second", "200 rest of a", "404 Not Found\n"}));
}

TEST(router, values_of_an_alternative_that_was_left_are_forgotten) {
  http::router routes;
  routes.get("/{a}/{b}/x", shows({"a", "b"})).get("/{a}/{rest...}", shows({"a", "rest"}));
  EXPECT_EQ(answers(std::move(routes), {"GET /1/2/x", "GET /1/2/y"}), (lines{"200 [1][2]", "200 [1][2/y]"}));
}

TEST(router, compares_segments_decoded_and_a_slash_that_is_encoded_does_not_separate) {
  http::router routes;
  routes.get("/caf\xc3\xa9/x", says("coffee")).get("/a/b", says("two")).get("/{one}", shows({"one"}));
  EXPECT_EQ(answers(std::move(routes), {"GET /caf%C3%A9/%78", "GET /a%2Fb", "GET /a/b", "GET /50%25"}),
            (lines{"200 coffee", "200 [a/b]", "200 two", "200 [50%]"}));
}

TEST(router, a_parameter_that_is_encoded_wrongly_is_answered_with_400) {
  http::router routes;
  routes.get("/{one}", shows({"one"}));
  const std::string malformed = "400 the path has an invalid percent-encoding\n";
  EXPECT_EQ(answers(std::move(routes), {"GET /%zz", "GET /%4"}), (lines{malformed, malformed}));
}

TEST(router, a_rest_may_be_empty_and_has_its_slashes) {
  http::router routes;
  routes.get("/files/{path...}", shows({"path"}));
  EXPECT_EQ(answers(std::move(routes), {"GET /files", "GET /files/", "GET /files/a/b%20c/", "GET /files//a"}),
            (lines{"200 []", "200 []", "200 [a/b c/]", "200 [/a]"}));
}

TEST(router, a_rest_is_not_that_of_the_request_before) {
  http::router routes;
  const auto rest = [](http::request& r) { return http::response::text(std::string(r.rest_of_path())); };
  routes.get("/files/{path...}", rest).not_found(rest);
  run_client(options_for(std::move(routes)), [&](memory_client& client) -> gyre::task<> {
    for (const auto& [target, expected] : {std::pair{"/files/a", "/a"}, {"/other", "/other"}}) {
      const auto answer = co_await client.ask("GET " + std::string(target) + " HTTP/1.1\r\nHost: a\r\n\r\n");
      EXPECT_EQ(answer.body, expected);
    }
  });
}

TEST(router, a_slash_at_the_end_makes_another_path_and_a_parameter_is_not_empty) {
  http::router routes;
  routes.get("/a", says("a")).get("/b/", says("b/")).get("/c/{x}", says("c"));
  EXPECT_EQ(answers(std::move(routes), {"GET /a", "GET /a/", "GET /b", "GET /b/", "GET /c/", "GET //a"}),
            (lines{"200 a", "404 Not Found\n", "404 Not Found\n", "200 b/", "404 Not Found\n", "404 Not Found\n"}));
}

TEST(router, the_query_is_no_part_of_the_path) {
  http::router routes;
  routes.get("/a/{x}", shows({"x"}));
  EXPECT_EQ(answers(std::move(routes), {"GET /a/1?b=/2", "GET http://test/a/2?c"}), (lines{"200 [1]", "200 [2]"}));
}

TEST(router, the_names_of_a_parameter_may_differ_from_route_to_route) {
  http::router routes;
  routes.get("/{id}", shows({"id"})).post("/{name}", shows({"name"})).get("/{user}/posts", shows({"user"}));
  EXPECT_EQ(answers(std::move(routes), {"GET /1", "POST /2", "GET /3/posts"}),
            (lines{"200 [1]", "200 [2]", "200 [3]"}));
}

TEST(router, a_parameter_that_is_no_number_where_one_is_wanted_is_answered_with_404) {
  http::router routes;
  routes.get("/{id}", [](http::request& r) {
    return http::response::text(std::to_string(r.path_parameter<std::uint8_t>("id") + 1));
  });
  EXPECT_EQ(answers(std::move(routes), {"GET /41", "GET /%34%31", "GET /256", "GET /-1", "GET /4x"}),
            (lines{"200 42", "200 42", "404 Not Found\n", "404 Not Found\n", "404 Not Found\n"}));
}

TEST(router, a_parameter_that_the_pattern_does_not_have_is_the_programs_error) {
  http::router routes;
  routes.get("/{id}", [](http::request& r) {
    return http::response::text(message_of<std::out_of_range>([&] { (void)r.path_parameter("name"); }));
  });
  EXPECT_EQ(answers(std::move(routes), {"GET /1"}),
            (lines{"200 path_parameter \"name\": the route has none of that name"}));
}

TEST(router, parameters_of_the_query_are_decoded_and_numbers_on_demand) {
  http::router routes;
  routes.get("/", [](http::request& r) {
    const auto text = r.query_parameter("q");
    const auto number = r.query_parameter<int>("n");
    return http::response::text(std::string(text.value_or("none")) + ' ' + std::to_string(number.value_or(-1)));
  });
  const std::string invalid = "400 the value of the query parameter \"n\" is invalid\n";
  EXPECT_EQ(answers(std::move(routes), {"GET /", "GET /?q=a%20b+c&n=7&q=d", "GET /?n=x", "GET /?q=%z"}),
            (lines{"200 none -1", "200 a b c 7", invalid, "200 %z -1"}));
}

TEST(router, head_is_answered_by_the_handler_of_get_also_beside_any) {
  http::router routes;
  routes.get("/a", says("from get")).any("/a", says("from any route")).post("/b", says("no get"));
  http::router same = std::move(routes);
  run_virtual([&]() -> gyre::task<> {
    http_test_client app(std::move(same));
    const auto head = co_await app.request("HEAD", "/a");
    EXPECT_EQ(head.status, 200);
    EXPECT_EQ(head.field("Content-Length"), "8") << "of the answer to GET";
    EXPECT_EQ(head.body, "");
    const auto none = co_await app.request("HEAD", "/b");
    EXPECT_EQ(none.status, 405);
  });
}

TEST(router, a_handler_of_head_goes_before_that_of_get) {
  http::router routes;
  routes.get("/a", says("12345")).add("HEAD", "/a", says("123"));
  EXPECT_EQ(answer_to(std::move(routes), "HEAD", "/a").field("Content-Length"), "3");
}

TEST(router, a_path_falls_through_to_the_next_route_that_takes_the_method) {
  http::router routes;
  routes.post("/login", says("log in"))
      .get("/users/{id}", shows({"id"}))
      .post("/users/search", says("search"))
      .del("/{a}/{b}", shows({"a", "b"}))
      .get("/{path...}", says("page"));
  EXPECT_EQ(
      answers(std::move(routes), {"POST /login", "GET /login", "GET /users/search", "POST /users/search",
                                  "DELETE /users/search", "GET /users", "GET /users/1/2"}),
      (lines{"200 log in", "200 page", "200 [search]", "200 search", "200 [users][search]", "200 page", "200 page"}));
}

TEST(router, head_falls_through_to_the_next_route_that_takes_head_or_get) {
  http::router routes;
  routes.post("/a", says("post")).get("/b", says("12345")).add("HEAD", "/{x}", says("123")).get("/{x...}", says("1"));
  run_virtual([&]() -> gyre::task<> {
    http_test_client app(std::move(routes));
    EXPECT_EQ((co_await app.request("HEAD", "/a")).field("Content-Length"), "3");
    EXPECT_EQ((co_await app.request("HEAD", "/b")).field("Content-Length"), "5") << "the nearest route that can answer";
    EXPECT_EQ((co_await app.request("HEAD", "/a/b")).field("Content-Length"), "1");
  });
}

TEST(router, any_takes_methods_that_nearer_routes_do_not_take) {
  http::router routes;
  routes.get("/a", says("get")).any("/{x...}", says("any"));
  EXPECT_EQ(answers(std::move(routes), {"GET /a", "POST /a", "OPTIONS /a"}), (lines{"200 get", "200 any", "200 any"}));
}

TEST(router, the_methods_of_every_route_that_matches_the_path_are_allowed) {
  http::router routes;
  routes.post("/login", says("")).put("/{x}", says("")).get("/{path...}", says("")).del("/other", says(""));
  run_virtual([&]() -> gyre::task<> {
    http_test_client app(std::move(routes));
    const auto refused = co_await app.request("PATCH", "/login");
    EXPECT_EQ(refused.status, 405);
    EXPECT_EQ(refused.field("Allow"), "GET, HEAD, OPTIONS, POST, PUT");
    const auto options = co_await app.request("OPTIONS", "/login");
    EXPECT_EQ(options.status, 204);
    EXPECT_EQ(options.field("Allow"), "GET, HEAD, OPTIONS, POST, PUT");
  });
}

TEST(router, another_method_is_answered_with_405_and_the_methods_there_are) {
  http::router routes;
  routes.get("/a", says("")).del("/a", says("")).add("PURGE", "/a", says(""));
  const auto answer = answer_to(std::move(routes), "POST", "/a");
  EXPECT_EQ(answer.status, 405);
  EXPECT_EQ(answer.field("Allow"), "DELETE, GET, HEAD, OPTIONS, PURGE");
  EXPECT_EQ(answer.body, "Method Not Allowed\n");
}

TEST(router, options_is_answered_with_the_methods_there_are) {
  http::router routes;
  routes.put("/a", says(""));
  const auto answer = answer_to(std::move(routes), "OPTIONS", "/a");
  EXPECT_EQ(answer.status, 204);
  EXPECT_EQ(answer.field("Allow"), "OPTIONS, PUT");
}

TEST(router, any_takes_every_method_that_has_no_route_of_its_own) {
  http::router routes;
  routes.any("/a", says("any")).post("/a", says("post"));
  EXPECT_EQ(answers(std::move(routes), {"POST /a", "GET /a", "OPTIONS /a", "BREW /a"}),
            (lines{"200 post", "200 any", "200 any", "200 any"}));
}

TEST(router, methods_are_compared_with_their_case) {
  http::router routes;
  routes.get("/a", says("get"));
  EXPECT_EQ(answers(std::move(routes), {"get /a"}), (lines{"405 Method Not Allowed\n"}));
}

TEST(router, another_path_is_answered_by_not_found_or_with_404) {
  http::router routes;
  routes.get("/a", says("a"));
  EXPECT_EQ(answers(std::move(routes), {"GET /b"}), (lines{"404 Not Found\n"}));
  http::router polite;
  polite.not_found([](http::request& r) { return http::response::error(404, "nothing at " + std::string(r.path())); });
  EXPECT_EQ(answers(std::move(polite), {"GET /b"}), (lines{"404 nothing at /b\n"}));
}

TEST(router, connect_is_answered_with_501_where_nobody_opens_a_tunnel) {
  for (const bool with_page : {false, true}) {
    http::router routes;
    routes.get("/a", says("a"));
    routes.any("/{rest...}", says("anything"));
    if (with_page) routes.not_found([](http::request&) { return http::response::error(404); });
    EXPECT_EQ(answers(std::move(routes), {"CONNECT a:443"}), (lines{"501 Not Implemented\n"}));
  }
}

TEST(router, connect_is_answered_by_middleware_that_opens_tunnels) {
  http::router routes;
  routes.use([](http::request& r, http::next_handler next) -> gyre::task<http::response> {
    if (r.method() == "CONNECT" && r.host() == "b:1") co_return http::response::error(403);
    co_return co_await next(r);
  });
  EXPECT_EQ(answers(std::move(routes), {"CONNECT b:1", "CONNECT c:1"}),
            (lines{"403 Forbidden\n", "501 Not Implemented\n"}));
}

TEST(router, options_of_the_server_as_a_whole_is_not_for_not_found) {
  http::router routes;
  routes.not_found([](http::request&) { return http::response::error(404); });
  EXPECT_EQ(answers(std::move(routes), {"OPTIONS *"}), (lines{"204 "}));
}

TEST(router, refuses_methods_that_cannot_be_meant) {
  EXPECT_EQ(route_refusal("/a", "G T"), "route \"/a\": the method is not a token");
  EXPECT_EQ(route_refusal("/a", ""), "route \"/a\": the method is not a token");
  EXPECT_EQ(route_refusal("/a", std::string(33, 'M')), "route \"/a\": the method is longer than 32 bytes");
}

TEST(router, refuses_a_second_route_of_a_method_at_a_pattern_whatever_its_parameters_are_called) {
  http::router routes;
  routes.get("/{a}", says("")).post("/{a}", says(""));
  EXPECT_EQ(message_of<std::logic_error>([&] { routes.get("/{b}", says("")); }),
            "route \"/{b}\": there is one for GET already");
  http::router other;
  other.get("/{c}", says(""));
  EXPECT_EQ(message_of<std::logic_error>([&] { routes.mount("", std::move(other)); }),
            "route \"/{c}\": there is one for GET already");
}
