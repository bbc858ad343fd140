// tests/http/route_tree_test.cpp: the cost of a route search, in nodes visited.
#include <gyre/http/response.hpp>

#include "src/http/router/route_tree.hpp"
#include "tests/http/router_answers.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>

using namespace gyre_test;

namespace {

class route_tree_test : public testing::Test {
 protected:
  void add(const std::string& pattern) { tree_.add("GET", pattern, says(pattern), nullptr); }
  // The pattern that matches, or nothing.
  static std::string found(const http::route_search& search) {
    return search.found == nullptr ? std::string() : search.found->pattern;
  }
  http::router::tree tree_;
};

}  // namespace

TEST_F(route_tree_test, a_segment_is_decoded_once_for_a_thousand_routes) {
  for (int i = 0; i < 1000; ++i) add("/route" + std::to_string(i));
  const std::string path = "/" + std::string(8000, 'a') + "%61";
  http::route_search search(path, "GET");
  EXPECT_FALSE(http::find_route(tree_.root, search));
  EXPECT_EQ(search.path.count(), 1U);
  EXPECT_EQ(search.path.decoded_size(), 8001U);
  EXPECT_EQ(search.visited, 1U);
}

TEST_F(route_tree_test, a_segment_is_split_off_and_decoded_once_for_all_alternatives) {
  // Every prefix of {a, parameter}^10. None of them ends as the path does.
  for (int bits = 0; bits < 1024; ++bits) {
    std::string pattern;
    for (int i = 0; i < 10; ++i) pattern += (bits >> i & 1) != 0 ? "/{p" + std::to_string(i) + "}" : std::string("/a");
    add(pattern + "/end");
  }
  std::string path;
  for (int i = 0; i < 10; ++i) path += "/%61";
  path += "/%65nx";
  http::route_search search(path, "GET");
  EXPECT_FALSE(http::find_route(tree_.root, search));
  EXPECT_EQ(search.path.count(), 11U);
  EXPECT_EQ(search.path.decoded_size(), 10U + 3);
  EXPECT_EQ(search.visited, (1U << 11U) - 1);  // each node that can match is visited once
}

TEST_F(route_tree_test, a_path_is_not_followed_deeper_than_the_routes_are) {
  add("/{a}/{b}/x");
  add("/{a}/{rest...}");
  std::string path;
  for (int i = 0; i < 4000; ++i) path += "/b";
  http::route_search search(path, "GET");
  ASSERT_TRUE(http::find_route(tree_.root, search));
  EXPECT_EQ(found(search), "/{a}/{rest...}");
  EXPECT_EQ(search.path.count(), 3U);
  EXPECT_EQ(search.visited, 3U);
}

TEST_F(route_tree_test, a_route_has_any_number_of_segments) {
  std::string pattern;
  for (int i = 0; i < 100; ++i) pattern += "/segment" + std::to_string(i);
  add(pattern);
  std::string path = pattern;
  for (std::size_t at = path.find('t'); at != std::string::npos; at = path.find('t', at)) path.replace(at, 1, "%74");
  http::route_search search(path, "GET");
  ASSERT_TRUE(http::find_route(tree_.root, search));
  EXPECT_EQ(found(search), pattern);
  http::route_search other("/segment0/segment1", "GET");
  EXPECT_FALSE(http::find_route(tree_.root, other));
}

TEST_F(route_tree_test, a_segment_that_is_encoded_wrongly_is_none_that_is_spelled_out) {
  add("/a/%4");
  add("/a/b");
  add("/{p}/c");
  const auto finds = [this](const std::string& path) {
    http::route_search search(path, "GET");
    return http::find_route(tree_.root, search) ? found(search) : "nothing";
  };
  EXPECT_EQ(finds("/a/%4"), "nothing");
  EXPECT_EQ(finds("/a/%254"), "/a/%4");
  EXPECT_EQ(finds("/%4/c"), "/{p}/c");  // decoding the parameter later fails with 400
  EXPECT_EQ(finds("/%61%"), "nothing");
  EXPECT_EQ(finds("/a/%6"), "nothing");
  EXPECT_EQ(finds("/a/%62"), "/a/b");
}

TEST_F(route_tree_test, routes_that_share_their_size_are_told_apart) {
  for (const char* const each : {"/b", "/a", "/c", "/bb", "/", "/ab"}) add(each);
  for (const std::string path : {"/b", "/a", "/c", "/bb", "/", "/ab"}) {
    http::route_search search(path, "GET");
    EXPECT_TRUE(http::find_route(tree_.root, search));
    EXPECT_EQ(found(search), path);
  }
  for (const std::string path : {"/d", "/aa", "/ba", "/abc"}) {
    http::route_search search(path, "GET");
    EXPECT_FALSE(http::find_route(tree_.root, search)) << path;
  }
}
