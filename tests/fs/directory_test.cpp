// tests/fs/directory_test.cpp: the contents of a directory.
#include <gyre/fs/directory.hpp>

#include "tests/fs/scratch.hpp"

#include <algorithm>
#include <set>

using namespace gyre_test;
namespace fs = gyre::fs;

TEST(directory, it_lists_names_and_kinds) {
  run_test([]() -> gyre::task<> {
    const scratch dir;
    dir.put("file", "x");
    co_await fs::create_directory(dir.path("sub"));
    co_await fs::create_symlink("file", dir.path("link"));
    auto entries = co_await fs::list_directory(dir.root());
    std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
    EXPECT_EQ(entries.size(), 3U);
    if (entries.size() != 3) co_return;
    EXPECT_EQ(entries[0].name, "file");
    EXPECT_EQ(entries[0].kind, fs::file_kind::regular);
    EXPECT_EQ(entries[1].name, "link");
    EXPECT_EQ(entries[1].kind, fs::file_kind::symlink);
    EXPECT_EQ(entries[2].name, "sub");
    EXPECT_EQ(entries[2].kind, fs::file_kind::directory);
    const fs::status known = co_await fs::stat(dir.path("sub"));
    EXPECT_EQ(entries[2].inode, known.inode);
  });
}

TEST(directory, an_empty_one_has_nothing) {
  run_test([]() -> gyre::task<> {
    const scratch dir;
    const auto entries = co_await fs::list_directory(dir.root());
    EXPECT_TRUE(entries.empty());
  });
}

TEST(directory, a_large_one_comes_in_batches_each_name_once) {
  run_test([]() -> gyre::task<> {
    const scratch dir;
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

TEST(directory, more_than_the_limit_is_an_error) {
  run_test([]() -> gyre::task<> {
    const scratch dir;
    for (int i = 0; i < 5; ++i) dir.put(std::to_string(i), "");
    const auto entries = co_await fs::list_directory(dir.root(), 5);
    EXPECT_EQ(entries.size(), 5U);
    const std::string text = co_await error_of(fs::list_directory(dir.root(), 4));
    EXPECT_EQ(text, "list_directory " + dir.root() + ": Value too large for defined data type");
  });
}

TEST(directory, what_is_none_is_refused) {
  run_test([]() -> gyre::task<> {
    const scratch dir;
    std::string text = co_await error_of(fs::list_directory(dir.put("a", "")));
    EXPECT_EQ(text, "open " + dir.path("a") + ": Not a directory");
    text = co_await error_of(fs::list_directory(dir.path("b")));
    EXPECT_EQ(text, "open " + dir.path("b") + ": No such file or directory");
  });
}
