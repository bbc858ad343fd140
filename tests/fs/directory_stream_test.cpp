// tests/fs/directory_stream_test.cpp: the entries of a directory one by one.
#include <gyre/fs/directory_stream.hpp>
#include <gyre/fs/found_file.hpp>
#include <gyre/io/io_error.hpp>

#include "tests/fs/scratch.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>

namespace fs = gyre::fs;

TEST(directory_stream, gives_every_entry_with_its_facts) {
  const gyre_test::scratch scratch;
  const std::filesystem::path path = scratch.root();
  std::filesystem::create_directory(path / "below");
  std::ofstream(path / "a.txt") << "the file";
  std::filesystem::create_symlink("a.txt", path / "link");
  const gyre::owned_fd root = fs::open_root(path.string());
  for (int reading = 0; reading < 2; ++reading) {  // each begins at the first entry
    fs::directory_stream open(root.get());
    std::map<std::string, fs::file_kind> found;
    while (const char* const name = open.next()) {
      const auto facts = open.facts();
      ASSERT_TRUE(facts);
      found.emplace(name, facts->kind);
      EXPECT_TRUE(open.kind() == facts->kind || open.kind() == fs::file_kind::unknown);
    }
    const std::map<std::string, fs::file_kind> expected = {
        {"a.txt", fs::file_kind::regular}, {"below", fs::file_kind::directory}, {"link", fs::file_kind::symlink}};
    EXPECT_EQ(found, expected);
  }
}

TEST(directory_stream, has_no_facts_of_an_entry_that_is_gone) {
  const gyre_test::scratch scratch;
  const std::filesystem::path path = scratch.root();
  std::ofstream(path / "a.txt") << "the file";
  const gyre::owned_fd root = fs::open_root(path.string());
  fs::directory_stream open(root.get());
  ASSERT_NE(open.next(), nullptr);
  std::filesystem::remove(path / "a.txt");
  EXPECT_FALSE(open.facts());
  EXPECT_EQ(open.next(), nullptr);
  EXPECT_THROW(fs::directory_stream(-1), gyre::io_error);
}
