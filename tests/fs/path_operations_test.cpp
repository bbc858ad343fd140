// tests/fs/path_operations_test.cpp: renaming and removing, and making directories and links.
#include <gyre/fs/path_operations.hpp>

#include "tests/fs/scratch.hpp"

using namespace gyre_test;
namespace fs = gyre::fs;

TEST(path_operations, rename_gives_another_name_and_replaces) {
  run_test([]() -> gyre::task<> {
    const scratch dir;
    dir.put("a", "new");
    dir.put("b", "old");
    co_await fs::rename(dir.path("a"), dir.path("b"));
    EXPECT_FALSE(dir.has("a"));
    EXPECT_EQ(dir.get("b"), "new");
    const std::string text = co_await error_of(fs::rename(dir.path("a"), dir.path("c")));
    EXPECT_EQ(text, "rename " + dir.path("a") + " to " + dir.path("c") + ": No such file or directory");
  });
}

TEST(path_operations, remove_takes_files_and_remove_directory_takes_directories) {
  run_test([]() -> gyre::task<> {
    const scratch dir;
    co_await fs::create_directory(dir.path("d"));
    dir.put("d/a", "x");
    std::string text = co_await error_of(fs::remove(dir.path("d")));
    EXPECT_EQ(text, "remove " + dir.path("d") + ": Is a directory");
    text = co_await error_of(fs::remove_directory(dir.path("d")));
    EXPECT_EQ(text, "remove_directory " + dir.path("d") + ": Directory not empty");
    text = co_await error_of(fs::remove_directory(dir.path("d/a")));
    EXPECT_EQ(text, "remove_directory " + dir.path("d/a") + ": Not a directory");
    co_await fs::remove(dir.path("d/a"));
    co_await fs::remove_directory(dir.path("d"));
    EXPECT_EQ(dir.entries(), 0U);
    text = co_await error_of(fs::remove(dir.path("d")));
    EXPECT_EQ(text, "remove " + dir.path("d") + ": No such file or directory");
  });
}

TEST(path_operations, create_directory_uses_the_permissions_and_minds_what_is_there) {
  run_test([]() -> gyre::task<> {
    const scratch dir;
    co_await fs::create_directory(dir.path("d"), 0700);
    const fs::status known = co_await fs::stat(dir.path("d"));
    EXPECT_EQ(known.kind, fs::file_kind::directory);
    EXPECT_EQ(known.permissions, 0700U);
    std::string text = co_await error_of(fs::create_directory(dir.path("d")));
    EXPECT_EQ(text, "create_directory " + dir.path("d") + ": File exists");
    text = co_await error_of(fs::create_directory(dir.path("x/y")));
    EXPECT_EQ(text, "create_directory " + dir.path("x/y") + ": No such file or directory");
  });
}

TEST(path_operations, a_symlink_says_where_to_look) {
  run_test([]() -> gyre::task<> {
    const scratch dir;
    dir.put("a", "12345");
    co_await fs::create_symlink("a", dir.path("link"));
    const fs::status behind = co_await fs::stat(dir.path("link"));
    EXPECT_EQ(behind.kind, fs::file_kind::regular);
    EXPECT_EQ(behind.size, 5U);
    const fs::status itself = co_await fs::stat_link(dir.path("link"));
    EXPECT_EQ(itself.kind, fs::file_kind::symlink);
    const std::string text = co_await error_of(fs::create_symlink("b", dir.path("link")));
    EXPECT_EQ(text, "create_symlink " + dir.path("link") + " to b: File exists");
    co_await fs::remove(dir.path("link"));
    EXPECT_TRUE(dir.has("a"));
  });
}

TEST(path_operations, relative_paths_begin_in_the_working_directory) {
  run_test([]() -> gyre::task<> {
    const scratch dir;
    const auto before = std::filesystem::current_path();
    std::filesystem::current_path(dir.root());
    co_await fs::create_directory("d");
    co_await fs::rename("d", "e");
    std::filesystem::current_path(before);
    EXPECT_TRUE(dir.has("e"));
  });
}

TEST(path_operations, an_operation_that_is_not_awaited_does_nothing) {
  run_test([]() -> gyre::task<> {
    const scratch dir;
    dir.put("a", "x");
    {
      [[maybe_unused]] const auto never = fs::remove(dir.path("a"));
    }
    EXPECT_TRUE(dir.has("a"));
    co_return;
  });
}

TEST(path_operations, operations_can_be_chained) {
  run_test([]() -> gyre::task<> {
    const scratch dir;
    co_await (fs::create_directory(dir.path("d")) && fs::rename(dir.path("d"), dir.path("e")));
    EXPECT_TRUE(dir.has("e"));
    const std::string text =
        co_await error_of(fs::create_directory(dir.path("e")) && fs::rename(dir.path("e"), dir.path("f")));
    EXPECT_EQ(text, "create_directory " + dir.path("e") + ": File exists");
    EXPECT_TRUE(dir.has("e"));
  });
}
