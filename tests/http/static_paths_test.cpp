// tests/http/static_paths_test.cpp: every file has exactly one path, the one that routes see.
#include <gyre/http/authentication.hpp>

#include "tests/http/served_tree.hpp"

#include <optional>

using namespace gyre_test;

namespace {

/// A public tree that contains a private one, which needs a password.
class static_paths : public served_tree {
 protected:
  void SetUp() override {
    write("private/s.txt", "secret");
    write("private/ä b.txt", "secret");
    write("x/a.txt", "a");
    write("x/index.html", "<p>x");
  }
  [[nodiscard]] http::router routes() const override {
    http::router all;
    auto inner = all.at("/private");
    inner.use(http::bearer_authentication("site", [](std::string_view) { return std::optional<std::string>(); }));
    inner.get("/{path...}", http::static_files((root_ / "private").string()));
    all.get("/tree/{path...}", http::static_files(root_.string(), {.listing = true}));
    all.get("/of/{tenant}/{path...}", http::static_files(root_.string(), {.listing = true}));
    all.get("/{path...}", http::static_files(root_.string()));
    return all;
  }
  void expect_redirects(const std::vector<std::pair<std::string, std::string>>& cases) const {
    for (const auto& [target, location] : cases) {
      const http_answer answer = get(target);
      EXPECT_EQ(answer.status, 308) << target;
      EXPECT_EQ(answer.field("Location"), location) << target;
    }
  }
};

}  // namespace

TEST_F(static_paths, no_spelling_gets_past_the_middleware_of_a_group) {
  for (const char* const target : {"/private/s.txt", "/%70rivate/s.txt", "/private//s.txt", "/private/./s.txt"})
    EXPECT_EQ(get(target).status, 401) << target;
  for (const char* const target :
       {"/./private/s.txt", "/x/../private/s.txt", "/%2e/private/s.txt", "/x/%2e%2e/private/s.txt",
        "/x/.%2E/private/s.txt", "//./private/s.txt", "/x//../private/s.txt", "/x/..//private/s.txt",
        "/private%2fs.txt", "/x/../private/", "/./private/%C3%A4%20b.txt", "/private/../x/../private/s.txt"}) {
    const http_answer answer = get(target);
    EXPECT_TRUE(answer.status == 404 || answer.status == 401) << target << " gave " << answer.status;
    EXPECT_EQ(answer.body.find("secret"), std::string::npos) << target;
  }
  expect_redirects({{"//private/s.txt", "../../private/s.txt"}});
}

TEST_F(static_paths, a_slash_too_many_is_a_relative_redirect_to_the_path_without_it) {
  expect_redirects({{"//x/a.txt", "../../x/a.txt"},
                    {"/x//a.txt", "../../x/a.txt"},
                    {"///x///a.txt?v=1", "../../../../../x/a.txt?v=1"},
                    {"/x//", "../../x/"},
                    {"//", "../"},
                    {"//example.org/", "../../example.org/"},  // "//example.org/" would name a host
                    {"//%C3%A4%20b:c", "../%C3%A4%20b:c"},
                    {"/tree//x/a.txt", "../../x/a.txt"},
                    {"/tree/x//a.txt", "../../x/a.txt"}});
}

TEST_F(static_paths, a_path_with_dots_is_not_there) {
  for (const char* const target :
       {"/x/./a.txt", "/x/../x/a.txt", "/x/%2e/a.txt", "/x/.%2e/x/a.txt", "/x/.", "/x/..", "/tree/../x/a.txt"})
    EXPECT_EQ(get(target).status, 404) << target;
}

TEST_F(static_paths, a_slash_at_the_end_stays_that_of_a_directory) {
  EXPECT_EQ(get("/x/").body, "<p>x");
  EXPECT_EQ(get("/x").field("Location"), "./x/");
  EXPECT_EQ(get("/x/a.txt/").status, 404);
}

TEST_F(static_paths, the_root_of_a_tree_below_a_prefix_is_a_directory_too) {
  expect_redirects({{"/tree", "./tree/"}, {"/tree?sort=size", "./tree/?sort=size"}, {"/of/a%20b", "./a%20b/"}});
  EXPECT_EQ(get("/tree/").status, 200);
  EXPECT_EQ(get("/of/a%20b/").status, 200);
}
