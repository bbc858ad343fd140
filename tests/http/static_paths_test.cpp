// tests/http/static_paths_test.cpp: every file has exactly one path, the one that routes see.
#include <gyre/http/authentication.hpp>
#include <gyre/http/router.hpp>
#include <gyre/http/static_files.hpp>
#include <gyre/testing/http_test_client.hpp>

#include "tests/fs/scratch.hpp"
#include "tests/http/http_client.hpp"
#include "tests/support/virtual_run.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

namespace http = gyre::http;
using gyre::testing::http_answer;
using gyre_test::http_test_client;
using gyre_test::run_virtual;

namespace {

/// A public tree that contains a private one, which needs a password.
class static_paths : public testing::Test {
 protected:
  void SetUp() override {
    write("private/s.txt", "secret");
    write("private/ä b.txt", "secret");
    write("x/a.txt", "a");
    write("x/index.html", "<p>x");
  }
  void write(const std::string& path, const std::string& text) {
    std::filesystem::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path, std::ios::binary) << text;
  }
  [[nodiscard]] http::router routes() const {
    http::router all;
    auto inner = all.at("/private");
    inner.use(http::bearer_authentication("site", [](std::string_view) { return std::optional<std::string>(); }));
    inner.get("/{path...}", http::static_files((root_ / "private").string()));
    all.get("/tree/{path...}", http::static_files(root_.string(), {.listing = true}));
    all.get("/of/{tenant}/{path...}", http::static_files(root_.string(), {.listing = true}));
    all.get("/{path...}", http::static_files(root_.string()));
    return all;
  }
  [[nodiscard]] http_answer get(const std::string& target) const {
    http_answer answer;
    run_virtual([&]() -> gyre::task<> {
      http_test_client app(routes());
      answer = co_await app.get(target);
    });
    return answer;
  }

  gyre_test::scratch scratch_;
  std::filesystem::path root_ = std::filesystem::path(scratch_.root()) / "root";
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
  EXPECT_EQ(get("//private/s.txt").status, 308);
  EXPECT_EQ(get("//private/s.txt").field("Location"), "../../private/s.txt");
}

TEST_F(static_paths, a_slash_too_many_is_a_relative_redirect_to_the_path_without_it) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"//x/a.txt", "../../x/a.txt"},
      {"/x//a.txt", "../../x/a.txt"},
      {"///x///a.txt?v=1", "../../../../../x/a.txt?v=1"},
      {"/x//", "../../x/"},
      {"//", "../"},
      {"//example.org/", "../../example.org/"},  // "//example.org/" would name a host
      {"//%C3%A4%20b:c", "../%C3%A4%20b:c"},
      {"/tree//x/a.txt", "../../x/a.txt"},
      {"/tree/x//a.txt", "../../x/a.txt"}};
  for (const auto& [target, location] : cases) {
    const http_answer answer = get(target);
    EXPECT_EQ(answer.status, 308) << target;
    EXPECT_EQ(answer.field("Location"), location) << target;
  }
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
  for (const auto& [target, location] :
       {std::pair{"/tree", "./tree/"}, {"/tree?sort=size", "./tree/?sort=size"}, {"/of/a%20b", "./a%20b/"}}) {
    const http_answer answer = get(target);
    EXPECT_EQ(answer.status, 308) << target;
    EXPECT_EQ(answer.field("Location"), location) << target;
  }
  EXPECT_EQ(get("/tree/").status, 200);
  EXPECT_EQ(get("/of/a%20b/").status, 200);
}
