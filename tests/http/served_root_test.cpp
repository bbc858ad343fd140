// tests/http/served_root_test.cpp: a directory that is replaced while its files are served.
#include <gyre/http/router.hpp>
#include <gyre/http/static_files.hpp>
#include <gyre/loop/sleep.hpp>

#include "tests/fs/scratch.hpp"
#include "tests/http/http_client.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

using namespace gyre_test;
using namespace std::chrono_literals;

namespace {

/// Two releases of a site, and the link "current", which leads to the first.
class served_root : public testing::Test {
 protected:
  void SetUp() override {
    write("1/a.txt", "first");
    write("2/a.txt", "second");
    std::filesystem::create_directory_symlink("1", place_ / "current");
  }
  void write(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories((place_ / path).parent_path());
    std::ofstream(place_ / path, std::ios::binary) << text;
  }
  /// Does "ln -s 2 new && mv -T new current".
  void link_to(const char* release) const {
    std::filesystem::create_directory_symlink(release, place_ / "new");
    std::filesystem::rename(place_ / "new", place_ / "current");
  }
  // "200 text"
  static gyre::task<std::string> get(memory_server& here, std::string target) {
    const http_answer answer = co_await here.get(std::move(target));
    co_return std::to_string(answer.status) + (answer.status == 200 ? " " + answer.body : "");
  }
  // A server that has no connection left closes its files, so one connection stays.
  template <class Body>
  static void serve(const std::filesystem::path& root, Body body) {
    http::router routes;
    routes.get("/{path...}", http::static_files(root.string()));
    run_in_memory(options_for(std::move(routes)), [&](memory_server& here) -> gyre::task<> {
      auto stays = here.connect();
      co_await stays.begin();
      co_await body(here);
    });
  }

  scratch scratch_;
  std::filesystem::path place_ = scratch_.root();
};

}  // namespace

TEST_F(served_root, is_followed_within_a_second_when_its_link_leads_elsewhere) {
  serve(place_ / "current", [&](memory_server& here) -> gyre::task<> {
    EXPECT_EQ(co_await get(here, "/a.txt"), "200 first");
    link_to("2");
    co_await gyre::sleep(1001ms);
    EXPECT_EQ(co_await get(here, "/a.txt"), "200 second");
  });
}

TEST_F(served_root, is_followed_within_a_second_although_a_file_was_opened_just_before) {
  serve(place_ / "current", [&](memory_server& here) -> gyre::task<> {
    write("1/b.txt", "first b");
    write("2/b.txt", "second b");
    EXPECT_EQ(co_await get(here, "/a.txt"), "200 first");
    co_await gyre::sleep(900ms);
    EXPECT_EQ(co_await get(here, "/b.txt"), "200 first b");
    link_to("2");
    co_await gyre::sleep(101ms);
    EXPECT_EQ(co_await get(here, "/b.txt"), "200 second b");
  });
}

TEST_F(served_root, is_followed_at_once_when_the_old_one_is_removed) {
  serve(place_ / "current", [&](memory_server& here) -> gyre::task<> {
    EXPECT_EQ(co_await get(here, "/a.txt"), "200 first");
    link_to("2");
    std::filesystem::remove_all(place_ / "1");
    EXPECT_EQ(co_await get(here, "/a.txt"), "200 second");
  });
}

TEST_F(served_root, is_followed_when_it_is_removed_and_made_again) {
  serve(place_ / "1", [&](memory_server& here) -> gyre::task<> {
    EXPECT_EQ(co_await get(here, "/a.txt"), "200 first");
    std::filesystem::remove_all(place_ / "1");
    EXPECT_EQ(co_await get(here, "/a.txt"), "404");
    write("1/a.txt", "built");
    EXPECT_EQ(co_await get(here, "/a.txt"), "200 built");
  });
}

TEST_F(served_root, stays_in_use_as_long_as_its_path_leads_nowhere) {
  serve(place_ / "1", [&](memory_server& here) -> gyre::task<> {
    std::filesystem::rename(place_ / "1", place_ / "old");
    EXPECT_EQ(co_await get(here, "/a.txt"), "200 first");
    std::filesystem::rename(place_ / "2", place_ / "1");
    co_await gyre::sleep(1001ms);
    EXPECT_EQ(co_await get(here, "/a.txt"), "200 second");
  });
}

TEST_F(served_root, a_relative_root_is_resolved_at_construction) {
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(place_);
  serve("current", [&](memory_server& here) -> gyre::task<> {
    std::filesystem::current_path(place_ / "2");
    EXPECT_EQ(co_await get(here, "/a.txt"), "200 first");
    link_to("2");
    co_await gyre::sleep(1001ms);
    EXPECT_EQ(co_await get(here, "/a.txt"), "200 second");
  });
  std::filesystem::current_path(before);
}
