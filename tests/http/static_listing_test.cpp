// tests/http/static_listing_test.cpp: the page of a directory without an index.
#include "tests/http/served_tree.hpp"

#include <fcntl.h>
#include <sys/stat.h>

using namespace gyre_test;

namespace {

class static_listing : public served_tree {
 protected:
  static_listing() { options_.listing = true; }

  /// The first letters of the names of a listing, in its order.
  [[nodiscard]] std::string order(const std::string& query) const {
    const std::string body = get("/" + query).body;
    std::string names;
    for (std::size_t at = 0; (at = body.find("href=\"./", at)) != std::string::npos; ++at) names += body[at + 8];
    return names;
  }
};

}  // namespace

TEST_F(static_listing, a_directory_without_an_index_is_listed_only_when_wanted) {
  write("docs/a.txt", "a");
  EXPECT_EQ(get("/docs/").status, 200);
  options_.listing = false;
  EXPECT_EQ(get("/docs/").status, 404);
}

TEST_F(static_listing, a_directory_with_an_index_outside_is_forbidden_and_not_listed) {
  write("../secret", "s");
  write("a/name");
  link("a/index.html", "../../secret");
  const auto answer = get("/a/");
  EXPECT_EQ(answer.status, 403);
  EXPECT_EQ(answer.body, "Forbidden\n");
}

TEST_F(static_listing, names_are_shown_as_text_and_links_work) {
  write("<script>alert(1)</script>/a");
  write("a\"b'c.txt", "x");
  const auto answer = get("/");
  EXPECT_EQ(answer.body.find("<script>alert"), std::string::npos);
  EXPECT_NE(answer.body.find("&lt;script&gt;alert(1)&lt;"), std::string::npos);
  EXPECT_NE(answer.body.find("href=\"./a%22b&#39;c.txt\""), std::string::npos) << answer.body;
  EXPECT_NE(answer.body.find("name=\"viewport\""), std::string::npos);
  EXPECT_NE(answer.field("Content-Security-Policy").find("default-src 'none'"), std::string::npos);
}

TEST_F(static_listing, the_query_gives_the_order) {
  write("a", "333");
  write("b", "1");
  write("c", "22");
  date_back("a", std::chrono::hours(3));
  date_back("b", std::chrono::hours(5));
  date_back("c", std::chrono::hours(4));
  for (const auto& [query, expected] : {std::pair{"", "abc"},
                                        {"?order=desc", "cba"},
                                        {"?sort=size", "bca"},
                                        {"?sort=size&order=desc", "acb"},
                                        {"?sort=time", "bca"},
                                        {"?sort=time&order=desc", "acb"},
                                        {"?sort=nonsense", "abc"}})
    EXPECT_EQ(order(query), expected) << query;
}

TEST_F(static_listing, sizes_and_days_are_shown_for_people) {
  write("small.txt", std::string(999, 'x'));
  write("middle.txt", std::string(4'200, 'x'));
  write("large.txt", std::string(25'000, 'x'));
  for (const auto& [name, second] : {std::pair{"small.txt", 1'000'000'000}, {"large.txt", 1'260'000'000}}) {
    const timespec times[2] = {{.tv_sec = second, .tv_nsec = 0}, {.tv_sec = second, .tv_nsec = 0}};
    EXPECT_EQ(::utimensat(AT_FDCWD, (root_ / name).c_str(), times, 0), 0);
  }
  const std::string page = get("/").body;
  for (const char* shown : {"999 B", "4.2 kB", "25 kB", "2001-09-09 01:46", "2009-12-05 08:00"})
    EXPECT_NE(page.find(shown), std::string::npos) << shown << page;
}

TEST_F(static_listing, programs_get_json) {
  write("a\"\n\xFF", "12");
  const auto answer = get("/", {{"Accept", "application/json"}});
  EXPECT_EQ(answer.field("Content-Type"), "application/json");
  EXPECT_NE(answer.body.find(R"("name":"a\"\u000a\ufffd","type":"file","size":2)"), std::string::npos) << answer.body;
}

TEST_F(static_listing, a_listing_leaves_out_files_that_would_not_be_served) {
  write("../secret", "s");
  write(".hidden");
  link("outside", "../secret");
  link("dangling", "nothing");
  ASSERT_EQ(::mkfifo((root_ / "pipe").c_str(), 0600), 0);
  EXPECT_EQ(get("/", {{"Accept", "application/json"}}).body, "[\n]\n");
}
