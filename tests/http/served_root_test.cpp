// tests/http/served_root_test.cpp: a directory that is replaced while its files are served.
#include "tests/http/served_tree.hpp"

using namespace gyre_test;

namespace {

/// Two releases of a site, and the link "current", which leads to the first.
class served_root : public served_tree {
 protected:
  void SetUp() override {
    write("1/a.txt", "first");
    write("2/a.txt", "second");
    std::filesystem::create_directory_symlink("1", root_ / "current");
  }
  /// Does "ln -s 2 new && mv -T new current".
  void link_to(const char* release) const {
    std::filesystem::create_directory_symlink(release, root_ / "new");
    std::filesystem::rename(root_ / "new", root_ / "current");
  }
  template <class Body>
  static void serve(const std::filesystem::path& root, Body body) {
    http::router routes;
    routes.get("/{path...}", http::static_files(root.string()));
    served_tree::serve(std::move(routes), std::move(body));
  }
};

}  // namespace

TEST_F(served_root, is_followed_within_a_second_when_its_link_leads_elsewhere) {
  serve(root_ / "current", [&](memory_server& here) -> gyre::task<> {
    EXPECT_EQ(co_await text_of(here, "/a.txt"), "200 first");
    link_to("2");
    co_await gyre::sleep(1001ms);
    EXPECT_EQ(co_await text_of(here, "/a.txt"), "200 second");
  });
}

TEST_F(served_root, is_followed_within_a_second_although_a_file_was_opened_just_before) {
  serve(root_ / "current", [&](memory_server& here) -> gyre::task<> {
    write("1/b.txt", "first b");
    write("2/b.txt", "second b");
    EXPECT_EQ(co_await text_of(here, "/a.txt"), "200 first");
    co_await gyre::sleep(900ms);
    EXPECT_EQ(co_await text_of(here, "/b.txt"), "200 first b");
    link_to("2");
    co_await gyre::sleep(101ms);
    EXPECT_EQ(co_await text_of(here, "/b.txt"), "200 second b");
  });
}

TEST_F(served_root, is_followed_at_once_when_the_old_one_is_removed) {
  serve(root_ / "current", [&](memory_server& here) -> gyre::task<> {
    EXPECT_EQ(co_await text_of(here, "/a.txt"), "200 first");
    link_to("2");
    std::filesystem::remove_all(root_ / "1");
    EXPECT_EQ(co_await text_of(here, "/a.txt"), "200 second");
  });
}

TEST_F(served_root, is_followed_when_it_is_removed_and_made_again) {
  serve(root_ / "1", [&](memory_server& here) -> gyre::task<> {
    EXPECT_EQ(co_await text_of(here, "/a.txt"), "200 first");
    std::filesystem::remove_all(root_ / "1");
    EXPECT_EQ(co_await text_of(here, "/a.txt"), "404");
    write("1/a.txt", "built");
    EXPECT_EQ(co_await text_of(here, "/a.txt"), "200 built");
  });
}

TEST_F(served_root, stays_in_use_as_long_as_its_path_leads_nowhere) {
  serve(root_ / "1", [&](memory_server& here) -> gyre::task<> {
    std::filesystem::rename(root_ / "1", root_ / "old");
    EXPECT_EQ(co_await text_of(here, "/a.txt"), "200 first");
    std::filesystem::rename(root_ / "2", root_ / "1");
    co_await gyre::sleep(1001ms);
    EXPECT_EQ(co_await text_of(here, "/a.txt"), "200 second");
  });
}

TEST_F(served_root, a_relative_root_is_resolved_at_construction) {
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(root_);
  serve("current", [&](memory_server& here) -> gyre::task<> {
    std::filesystem::current_path(root_ / "2");
    EXPECT_EQ(co_await text_of(here, "/a.txt"), "200 first");
    link_to("2");
    co_await gyre::sleep(1001ms);
    EXPECT_EQ(co_await text_of(here, "/a.txt"), "200 second");
  });
  std::filesystem::current_path(before);
}
