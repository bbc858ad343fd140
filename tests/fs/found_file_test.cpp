// tests/fs/found_file_test.cpp: files are found below a directory, and nowhere else.
#include <gyre/fs/found_file.hpp>
#include <gyre/io/io_error.hpp>
#include <gyre/runtime/run.hpp>

#include "tests/fs/scratch.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>

namespace fs = gyre::fs;

namespace {

/// A directory "tree" with a file, beside a file that does not belong to it.
struct tree {
  tree() : path(std::filesystem::path(scratch.root()) / "tree") {
    std::filesystem::create_directories(path / "below");
    std::ofstream(path / "below/a.txt") << "the file";
    std::ofstream(path.parent_path() / "outside.txt") << "another";
  }
  gyre_test::scratch scratch;
  std::filesystem::path path;
};

}  // namespace

TEST(found_file, is_open_and_has_its_facts) {
  const tree here;
  const gyre::owned_fd root = fs::open_root(here.path.string());
  const fs::found_file found = gyre::run(fs::find_below(root.get(), "below/a.txt"));
  ASSERT_EQ(found.error, 0);
  EXPECT_TRUE(found.descriptor);
  EXPECT_EQ(found.facts.kind, fs::file_kind::regular);
  EXPECT_EQ(found.facts.size, 8U);
  EXPECT_EQ(found.facts.links, 1U);
  EXPECT_EQ(found.facts.modified, found.facts.modified_ns / 1'000'000'000);
  EXPECT_EQ(fs::look_below(root.get(), "below").facts.kind, fs::file_kind::directory);
  EXPECT_EQ(fs::look_below(root.get(), "below/a.txt").facts.inode, found.facts.inode);
  std::filesystem::remove(here.path / "below/a.txt");
  const auto facts = fs::facts_of(found.descriptor.get());
  ASSERT_TRUE(facts);
  EXPECT_EQ(facts->links, 0U);
}

TEST(found_file, a_path_or_a_link_that_leads_out_of_the_directory_is_refused) {
  const tree here;
  std::filesystem::create_symlink("../outside.txt", here.path / "out");
  std::filesystem::create_symlink("below/a.txt", here.path / "in");
  const gyre::owned_fd root = fs::open_root(here.path.string());
  for (const char* const each : {"../outside.txt", "out", "below/../../outside.txt"}) {
    EXPECT_EQ(gyre::run(fs::find_below(root.get(), each)).error, EXDEV) << each;
    EXPECT_EQ(fs::look_below(root.get(), each).error, EXDEV) << each;
  }
  EXPECT_EQ(gyre::run(fs::find_below(root.get(), "in")).error, 0);
  EXPECT_EQ(gyre::run(fs::find_below(root.get(), "missing")).error, ENOENT);
  EXPECT_EQ(gyre::run(fs::find_anywhere((here.path / "out").string())).error, 0);
}

TEST(found_file, a_root_that_is_no_directory_is_refused) {
  const tree here;
  EXPECT_THROW((void)fs::open_root((here.path / "below/a.txt").string()), gyre::io_error);
  EXPECT_EQ(fs::facts_of(-1).error().value(), EBADF);
}
