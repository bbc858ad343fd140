// tests/fs/path_operations_test.cpp: renaming and removing, and making directories and links.
#include <gyre/fs/path_operations.hpp>

#include "tests/fs/scratch.hpp"

using namespace gyre_test;
namespace fs = gyre::fs;

TEST(path_operations, give_another_name_and_replace_by_rename) {
  run_in_scratch([](const scratch& dir) -> gyre::task<> {
    dir.put("a", "new");
    dir.put("b", "old");
    co_await fs::rename(dir.path("a"), dir.path("b"));
    EXPECT_FALSE(dir.has("a"));
    EXPECT_EQ(dir.get("b"), "new");
    co_await expect_error(fs::rename(dir.path("a"), dir.path("c")),
                          "rename " + dir.path("a") + " to " + dir.path("c") + ": No such file or directory");
  });
}

TEST(path_operations, remove_files_by_remove_and_directories_by_remove_directory) {
  run_in_scratch([](const scratch& dir) -> gyre::task<> {
    co_await fs::create_directory(dir.path("d"));
    dir.put("d/a", "x");
    co_await expect_error(fs::remove(dir.path("d")), "remove " + dir.path("d") + ": Is a directory");
    co_await expect_error(fs::remove_directory(dir.path("d")),
                          "remove_directory " + dir.path("d") + ": Directory not empty");
    co_await expect_error(fs::remove_directory(dir.path("d/a")),
                          "remove_directory " + dir.path("d/a") + ": Not a directory");
    co_await fs::remove(dir.path("d/a"));
    co_await fs::remove_directory(dir.path("d"));
    EXPECT_EQ(dir.entries(), 0U);
    co_await expect_error(fs::remove(dir.path("d")), "remove " + dir.path("d") + ": No such file or directory");
  });
}

TEST(path_operations, create_a_directory_with_its_permissions_unless_something_is_there) {
  run_in_scratch([](const scratch& dir) -> gyre::task<> {
    co_await fs::create_directory(dir.path("d"), 0700);
    const fs::status known = co_await fs::stat(dir.path("d"));
    EXPECT_EQ(known.kind, fs::file_kind::directory);
    EXPECT_EQ(known.permissions, 0700U);
    co_await expect_error(fs::create_directory(dir.path("d")), "create_directory " + dir.path("d") + ": File exists");
    co_await expect_error(fs::create_directory(dir.path("x/y")),
                          "create_directory " + dir.path("x/y") + ": No such file or directory");
  });
}

TEST(path_operations, follow_a_symlink_except_by_stat_link_and_remove) {
  run_in_scratch([](const scratch& dir) -> gyre::task<> {
    dir.put("a", "12345");
    co_await fs::create_symlink("a", dir.path("link"));
    const fs::status behind = co_await fs::stat(dir.path("link"));
    EXPECT_EQ(behind.kind, fs::file_kind::regular);
    EXPECT_EQ(behind.size, 5U);
    const fs::status itself = co_await fs::stat_link(dir.path("link"));
    EXPECT_EQ(itself.kind, fs::file_kind::symlink);
    co_await expect_error(fs::create_symlink("b", dir.path("link")),
                          "create_symlink " + dir.path("link") + " to b: File exists");
    co_await fs::remove(dir.path("link"));
    EXPECT_TRUE(dir.has("a"));
  });
}

TEST(path_operations, look_for_relative_paths_in_the_working_directory) {
  run_in_scratch([](const scratch& dir) -> gyre::task<> {
    const auto before = std::filesystem::current_path();
    std::filesystem::current_path(dir.root());
    co_await fs::create_directory("d");
    co_await fs::rename("d", "e");
    std::filesystem::current_path(before);
    EXPECT_TRUE(dir.has("e"));
  });
}

TEST(path_operations, do_nothing_when_they_are_not_awaited) {
  run_in_scratch([](const scratch& dir) -> gyre::task<> {
    dir.put("a", "x");
    {
      [[maybe_unused]] const auto never = fs::remove(dir.path("a"));
    }
    EXPECT_TRUE(dir.has("a"));
    co_return;
  });
}

TEST(path_operations, can_be_chained) {
  run_in_scratch([](const scratch& dir) -> gyre::task<> {
    co_await (fs::create_directory(dir.path("d")) && fs::rename(dir.path("d"), dir.path("e")));
    EXPECT_TRUE(dir.has("e"));
    const std::string text =
        co_await error_of(fs::create_directory(dir.path("e")) && fs::rename(dir.path("e"), dir.path("f")));
    EXPECT_EQ(text, "create_directory " + dir.path("e") + ": File exists");
    EXPECT_TRUE(dir.has("e"));
  });
}
