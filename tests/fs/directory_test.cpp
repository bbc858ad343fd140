// tests/fs/directory_test.cpp: the contents of a directory.
#include <gyre/fs/directory.hpp>

#include "tests/fs/scratch.hpp"
#include "tests/support/co_assert.hpp"

#include <algorithm>
#include <set>

using namespace gyre_test;
namespace fs = gyre::fs;

TEST(directory, lists_names_and_kinds) {
  run_in_scratch([](const scratch& dir) -> gyre::task<> {
    dir.put("file", "x");
    co_await fs::create_directory(dir.path("sub"));
    co_await fs::create_symlink("file", dir.path("link"));
    auto entries = co_await fs::list_directory(dir.root());
    std::ranges::sort(entries, {}, &fs::directory_entry::name);
    CO_ASSERT_EQ(entries.size(), 3U);
    const auto is = [&](std::size_t i, const char* name, fs::file_kind kind) {
      return entries[i].name == name && entries[i].kind == kind;
    };
    EXPECT_TRUE(is(0, "file", fs::file_kind::regular));
    EXPECT_TRUE(is(1, "link", fs::file_kind::symlink));
    EXPECT_TRUE(is(2, "sub", fs::file_kind::directory));
    const fs::status known = co_await fs::stat(dir.path("sub"));
    EXPECT_EQ(entries[2].inode, known.inode);
  });
}

TEST(directory, that_is_empty_has_no_entries) {
  run_in_scratch([](const scratch& dir) -> gyre::task<> {
    const auto entries = co_await fs::list_directory(dir.root());
    EXPECT_TRUE(entries.empty());
  });
}

TEST(directory, that_is_large_comes_in_batches_with_each_name_once) {
  run_in_scratch([](const scratch& dir) -> gyre::task<> {
    constexpr std::size_t count = 3'000;
    for (std::size_t i = 0; i < count; ++i) dir.put("a_rather_long_name_" + std::to_string(i), "");
    fs::directory opened = co_await fs::directory::open(dir.root());
    std::set<std::string> names;
    std::size_t batches = 0;
    for (;;) {
      const auto batch = co_await opened.read_some();
      if (batch.empty()) break;
      ++batches;
      for (const auto& each : batch) EXPECT_TRUE(names.insert(each.name).second) << each.name;
    }
    EXPECT_EQ(names.size(), count);
    EXPECT_GT(batches, 2U);
    const auto again = co_await opened.read_some();
    EXPECT_TRUE(again.empty());
  });
}

TEST(directory, refuses_more_entries_than_the_limit) {
  run_in_scratch([](const scratch& dir) -> gyre::task<> {
    for (int i = 0; i < 5; ++i) dir.put(std::to_string(i), "");
    const auto entries = co_await fs::list_directory(dir.root(), 5);
    EXPECT_EQ(entries.size(), 5U);
    co_await expect_error(fs::list_directory(dir.root(), 4),
                          "list_directory " + dir.root() + ": Value too large for defined data type");
  });
}

TEST(directory, refuses_a_path_that_is_no_directory) {
  run_in_scratch([](const scratch& dir) -> gyre::task<> {
    co_await expect_error(fs::list_directory(dir.put("a", "")), "open " + dir.path("a") + ": Not a directory");
    co_await expect_error(fs::list_directory(dir.path("b")), "open " + dir.path("b") + ": No such file or directory");
  });
}
