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

TEST(found_file, an_absolute_link_is_followed_if_it_leads_to_a_place_inside) {
  const tree here;
  const std::filesystem::path other = here.path.parent_path() / "tree2";  // begins with the name of the root
  std::filesystem::create_directories(other);
  std::ofstream(other / "a.txt") << "another";
  std::filesystem::create_symlink(here.path / "below/a.txt", here.path / "file");
  std::filesystem::create_directory_symlink(here.path / "below", here.path / "directory");
  std::filesystem::create_symlink("../tree/below/a.txt", here.path / "through the parent");
  std::filesystem::create_directory_symlink(here.path, here.path.parent_path() / "also the tree");
  std::filesystem::create_symlink(here.path.parent_path() / "also the tree/file", here.path / "by two links");
  std::filesystem::create_symlink(other / "a.txt", here.path / "beside");
  std::filesystem::create_directory_symlink(here.path.parent_path(), here.path / "parent");
  std::filesystem::create_directory_symlink(here.path, here.path / "itself");
  const gyre::owned_fd root = fs::open_root(here.path.string());
  for (const char* const each :
       {"file", "directory/a.txt", "through the parent", "by two links", "parent/tree/file", "itself/file"}) {
    const fs::found_file found = gyre::run(fs::find_below(root.get(), each));
    EXPECT_EQ(found.error, 0) << each;
    EXPECT_EQ(found.facts.size, 8U) << each;
    EXPECT_EQ(fs::look_below(root.get(), each).error, 0) << each;
  }
  for (const char* const each : {"beside", "parent", "parent/outside.txt", "directory/../../outside.txt"}) {
    EXPECT_EQ(gyre::run(fs::find_below(root.get(), each)).error, EXDEV) << each;
    EXPECT_EQ(fs::look_below(root.get(), each).error, EXDEV) << each;
  }
}

TEST(found_file, a_path_that_leads_out_by_itself_is_refused_even_if_it_comes_back) {
  const tree here;
  const gyre::owned_fd root = fs::open_root(here.path.string());
  for (const std::string& each : {std::string("../tree/below/a.txt"), (here.path / "below/a.txt").string()}) {
    EXPECT_EQ(gyre::run(fs::find_below(root.get(), each)).error, EXDEV) << each;
    EXPECT_EQ(fs::look_below(root.get(), each).error, EXDEV) << each;
  }
}

TEST(found_file, a_path_with_a_zero_byte_is_not_there) {
  const tree here;
  const gyre::owned_fd root = fs::open_root(here.path.string());
  const std::string path("below/a.txt\0.png", 16);
  EXPECT_EQ(gyre::run(fs::find_below(root.get(), path)).error, ENOENT);
  EXPECT_EQ(fs::look_below(root.get(), path).error, ENOENT);
  EXPECT_EQ(gyre::run(fs::find_anywhere(here.path.string() + "/" + path)).error, ENOENT);
}

TEST(found_file, a_root_that_is_no_directory_is_refused) {
  const tree here;
  EXPECT_THROW((void)fs::open_root((here.path / "below/a.txt").string()), gyre::io_error);
  EXPECT_EQ(gyre::run(fs::find_root((here.path / "below/a.txt").string())).error, ENOTDIR);
  EXPECT_EQ(gyre::run(fs::find_root(here.path.string())).facts.kind, fs::file_kind::directory);
  EXPECT_EQ(fs::facts_of(-1).error().value(), EBADF);
}
