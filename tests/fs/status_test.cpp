// tests/fs/status_test.cpp: the status of a file.
#include <gyre/fs/file.hpp>
#include <gyre/fs/status.hpp>

#include "tests/fs/scratch.hpp"

#include <sys/socket.h>
#include <sys/un.h>

#include <cstring>

using namespace gyre_test;
namespace fs = gyre::fs;

TEST(status, it_is_what_the_system_says) {
  run_test([]() -> gyre::task<> {
    const scratch dir;
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

TEST(status, of_an_open_file_it_is_the_same_also_when_its_name_is_gone) {
  run_test([]() -> gyre::task<> {
    const scratch dir;
    const std::string path = dir.put("a", "0123456789");
    fs::file f = co_await fs::file::open(path);
    const fs::status by_path = co_await fs::stat(path);
    co_await fs::remove(path);
    const fs::status by_file = co_await f.stat();
    EXPECT_EQ(by_file.inode, by_path.inode);
    EXPECT_EQ(by_file.links, 0U);
    const std::string text = co_await error_of(fs::stat(path));
    EXPECT_EQ(text, "stat " + path + ": No such file or directory");
  });
}

TEST(status, every_kind_has_its_name) {
  run_test([]() -> gyre::task<> {
    const scratch dir;
    EXPECT_EQ(::mkfifo(dir.path("fifo").c_str(), 0600), 0);
    const fs::status fifo = co_await fs::stat(dir.path("fifo"));
    EXPECT_EQ(fifo.kind, fs::file_kind::pipe);
    const fs::status null = co_await fs::stat("/dev/null");
    EXPECT_EQ(null.kind, fs::file_kind::character_device);
    const fs::status root = co_await fs::stat(dir.root());
    EXPECT_EQ(root.kind, fs::file_kind::directory);

    const int number = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
    std::strncpy(address.sun_path, dir.path("s").c_str(), sizeof(address.sun_path) - 1);
    EXPECT_EQ(::bind(number, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
    const fs::status socket = co_await fs::stat(dir.path("s"));
    EXPECT_EQ(socket.kind, fs::file_kind::socket);
    ::close(number);
  });
}
