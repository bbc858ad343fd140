// tests/fs/status_test.cpp: the status of a file.
#include <gyre/fs/file.hpp>
#include <gyre/fs/status.hpp>

#include "tests/fs/scratch.hpp"

using namespace gyre_test;
namespace fs = gyre::fs;

TEST(status, is_the_same_as_that_of_the_system) {
  run_in_scratch([](const scratch& dir) -> gyre::task<> {
    const std::string path = dir.put("a", "0123456789");
    ::chmod(path.c_str(), 04640);
    EXPECT_EQ(::link(path.c_str(), dir.path("b").c_str()), 0);
    struct stat expected{};
    EXPECT_EQ(::stat(path.c_str(), &expected), 0);
    const fs::status known = co_await fs::stat(path);
    EXPECT_EQ(known.kind, fs::file_kind::regular);
    EXPECT_EQ(known.permissions, 04640U);
    EXPECT_EQ(known.size, 10U);
    EXPECT_EQ(known.links, 2U);
    EXPECT_EQ(known.inode, expected.st_ino);
    EXPECT_EQ(known.device, expected.st_dev);
    EXPECT_EQ(known.owner, expected.st_uid);
    EXPECT_EQ(known.group, expected.st_gid);
    const auto nanoseconds = known.modified.time_since_epoch();
    EXPECT_EQ(nanoseconds,
              std::chrono::seconds(expected.st_mtim.tv_sec) + std::chrono::nanoseconds(expected.st_mtim.tv_nsec));
    EXPECT_GE(known.changed, known.modified);
  });
}

TEST(status, is_the_same_for_an_open_file_whose_name_is_gone) {
  run_in_scratch([](const scratch& dir) -> gyre::task<> {
    const std::string path = dir.put("a", "0123456789");
    fs::file f = co_await fs::file::open(path);
    const fs::status by_path = co_await fs::stat(path);
    co_await fs::remove(path);
    const fs::status by_file = co_await f.stat();
    EXPECT_EQ(by_file.inode, by_path.inode);
    EXPECT_EQ(by_file.links, 0U);
    co_await expect_error(fs::stat(path), "stat " + path + ": No such file or directory");
  });
}
