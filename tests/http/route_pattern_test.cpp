// tests/http/route_pattern_test.cpp: patterns that cannot be meant are refused, with what to write instead.
#include <gyre/http/router.hpp>

#include "tests/http/router_answers.hpp"

using namespace gyre_test;

namespace {

std::string pattern_refusal(std::string_view pattern) {
  return message_of<std::invalid_argument>([&] { http::router().get(pattern, says("")); });
}

std::string prefix_refusal(std::string_view prefix) {
  return message_of<std::invalid_argument>([&] { (void)http::router().at(prefix); });
}

std::string mount_refusal(std::string_view prefix) {
  return message_of<std::invalid_argument>([&] { http::router().mount(prefix, http::router()); });
}

}  // namespace

TEST(route_pattern, begins_with_a_slash) {
  EXPECT_EQ(pattern_refusal(""), "route \"\": it must begin with \"/\"");
  EXPECT_EQ(pattern_refusal("users"), "route \"users\": it must begin with \"/\": write \"/users\"");
}

TEST(route_pattern, has_no_empty_segments) {
  EXPECT_EQ(pattern_refusal("/a//b"), "route \"/a//b\": it has an empty segment: write \"/a/b\"");
  EXPECT_EQ(pattern_refusal("//"), "route \"//\": it has an empty segment: write \"/\"");
}

TEST(route_pattern, has_parameters_with_names) {
  EXPECT_EQ(pattern_refusal("/{}"), "route \"/{}\": a parameter needs a name");
  EXPECT_EQ(pattern_refusal("/{...}"), "route \"/{...}\": a parameter needs a name");
  EXPECT_EQ(pattern_refusal("/{a}/{a}"), "route \"/{a}/{a}\": two parameters have the same name");
  EXPECT_EQ(pattern_refusal("/{a b}"),
            "route \"/{a b}\": the name of a parameter consists of letters, digits, \"_\" and \"-\"");
}

TEST(route_pattern, has_parameters_that_are_whole_segments_and_a_rest_that_is_the_last) {
  EXPECT_EQ(pattern_refusal("/{a...}/b"), "route \"/{a...}/b\": \"{name...}\" must be the last segment");
  EXPECT_EQ(pattern_refusal("/a{b}"), "route \"/a{b}\": a parameter is a whole segment, \"{name}\"");
  EXPECT_EQ(pattern_refusal("/{a}{b}"), "route \"/{a}{b}\": a name has no braces: a parameter is a whole segment");
  EXPECT_NE(pattern_refusal("/a?b").find("a query"), std::string::npos);
}

TEST(route_pattern, is_told_how_to_write_the_parameters_of_other_routers) {
  EXPECT_EQ(pattern_refusal("/users/:id"), "route \"/users/:id\": write \"{id}\" for a parameter, not \":id\"");
  EXPECT_EQ(pattern_refusal("/users/<int:id>"),
            "route \"/users/<int:id>\": write \"{id}\" for a parameter, not \"<int:id>\"");
  EXPECT_EQ(pattern_refusal("/users/<id>"), "route \"/users/<id>\": write \"{id}\" for a parameter, not \"<id>\"");
  EXPECT_EQ(pattern_refusal("/users/{id:int}"),
            "route \"/users/{id:int}\": a parameter has no type: write \"{id}\", and in the handler "
            "path_parameter<int>(\"id\")");
  EXPECT_EQ(pattern_refusal("/users/{id:[0-9]+}").find("route \"/users/{id:[0-9]+}\": a parameter has no type"), 0U);
  EXPECT_EQ(pattern_refusal("/users/{id?}"),
            "route \"/users/{id?}\": a parameter is not optional: write \"{id}\", and add a route without it");
}

TEST(route_pattern, is_told_how_to_write_the_rest_of_the_path) {
  for (const char* const each : {"/d/{rest:path}", "/d/{*rest}", "/d/{**rest}", "/d/{rest:.*}"})
    EXPECT_EQ(pattern_refusal(each),
              "route \"" + std::string(each) + "\": write \"{rest...}\" for the rest of the path");
  EXPECT_EQ(pattern_refusal("/d/*rest"),
            "route \"/d/*rest\": write \"{rest...}\" for the rest of the path, not \"*rest\"");
  EXPECT_EQ(pattern_refusal("/d/*"), "route \"/d/*\": write \"{name...}\" for the rest of the path, not \"*\"");
}

TEST(route_pattern, matches_whole_paths_without_a_mark_at_the_end) {
  EXPECT_EQ(pattern_refusal("/d/{$}"), "route \"/d/{$}\": leave out \"{$}\": a pattern always matches the whole path");
}

TEST(route_pattern, is_written_decoded) {
  EXPECT_EQ(pattern_refusal("/f%20g"), "route \"/f%20g\": paths are compared decoded: write \"f g\", not \"f%20g\"");
  EXPECT_EQ(pattern_refusal("/a%2Fb"), "route \"/a%2Fb\": only a parameter matches an encoded slash: write \"{name}\"");
  http::router routes;
  routes.get("/100%", says("percent")).get("/f g", says("space"));
  EXPECT_EQ(answers(std::move(routes), {"GET /100%25", "GET /f%20g"}), (lines{"200 percent", "200 space"}));
}

TEST(route_pattern, has_no_dot_segments) {
  EXPECT_EQ(pattern_refusal("/a/../b"), "route \"/a/../b\": clients resolve \".\" and \"..\" before they send a path");
  EXPECT_EQ(pattern_refusal("/."), "route \"/.\": clients resolve \".\" and \"..\" before they send a path");
}

TEST(route_pattern, may_have_the_characters_of_those_notations_elsewhere) {
  http::router routes;
  routes.get("/v1/books:search", says("verb")).get("/a*b/...", says("star")).get("/:", says("colon"));
  EXPECT_EQ(answers(std::move(routes), {"GET /v1/books:search", "GET /a*b/...", "GET /:"}),
            (lines{"200 verb", "200 star", "200 colon"}));
}

TEST(route_pattern, the_prefix_of_a_group_is_empty_or_begins_with_a_slash) {
  http::router routes;
  auto a = routes.at("/a");
  EXPECT_EQ(message_of<std::invalid_argument>([&] { a.get("x", says("")); }),
            "route \"x\": it must begin with \"/\": write \"/x\"");
  a.get("", says("a")).get("/", says("a/"));
  EXPECT_EQ(message_of<std::invalid_argument>([&] { routes.at("").get("", says("")); }),
            "route \"\": it must begin with \"/\"");
  EXPECT_EQ(answers(std::move(routes), {"GET /a", "GET /a/"}), (lines{"200 a", "200 a/"}));
}

TEST(route_pattern, has_no_method_no_host_and_no_query) {
  const auto refusal = [](std::string_view method, std::string_view pattern) {
    return message_of<std::invalid_argument>([&] { http::router().add(method, pattern, says("")); });
  };
  EXPECT_EQ(refusal("GET", "GET /a"), "route \"GET /a\": a method is not part of it: write add(\"GET\", \"/a\", ...)");
  EXPECT_EQ(refusal("GET", "http://x/"), "route \"http://x/\": a scheme and a host are not part of it: write the path");
  for (const char* const pattern : {"/a?b=1", "/a#x"})
    EXPECT_EQ(refusal("GET", pattern), "route \"" + std::string(pattern) +
                                           "\": a query or a fragment is not part of a pattern: the handler reads "
                                           "query_parameter(\"name\")");
  EXPECT_EQ(refusal("get", "/a"), "route \"/a\": methods are case-sensitive: write \"GET\"");
}

TEST(route_prefix, begins_with_a_slash_and_does_not_end_with_one) {
  EXPECT_EQ(prefix_refusal("api"), "prefix \"api\": it must begin with \"/\": write \"/api\"");
  EXPECT_EQ(prefix_refusal("/b/"), "prefix \"/b/\": each pattern below it begins with \"/\": write \"/b\"");
  EXPECT_EQ(prefix_refusal("/"), "prefix \"/\": each pattern below it begins with \"/\": write \"\"");
  EXPECT_EQ(prefix_refusal("/a//b"), "prefix \"/a//b\": it has an empty segment: write \"/a/b\"");
  EXPECT_EQ(prefix_refusal(""), "nothing was thrown");
  EXPECT_EQ(prefix_refusal("/a/{b}"), "nothing was thrown");
}

TEST(route_prefix, has_the_notation_of_patterns_and_no_rest) {
  EXPECT_EQ(prefix_refusal("/a/:id"), "prefix \"/a/:id\": write \"{id}\" for a parameter, not \":id\"");
  EXPECT_EQ(prefix_refusal("/a/{b...}"), "prefix \"/a/{b...}\": \"{name...}\" must be the last segment");
}

TEST(route_prefix, mounts_and_nested_groups_have_the_same_checks) {
  EXPECT_EQ(mount_refusal("c"), "prefix \"c\": it must begin with \"/\": write \"/c\"");
  EXPECT_EQ(mount_refusal("/c/"), "prefix \"/c/\": each pattern below it begins with \"/\": write \"/c\"");
  EXPECT_EQ(mount_refusal("/"), "prefix \"/\": each pattern below it begins with \"/\": write \"\"");
  EXPECT_EQ(mount_refusal(""), "nothing was thrown");
  http::router routes;
  auto a = routes.at("/{a}");
  EXPECT_EQ(message_of<std::invalid_argument>([&] { (void)a.at("b"); }),
            "prefix \"b\": it must begin with \"/\": write \"/b\"");
  EXPECT_EQ(message_of<std::invalid_argument>([&] { (void)a.at("/{a}"); }),
            "prefix \"/{a}/{a}\": two parameters have the same name");
}
