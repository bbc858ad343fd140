// tests/io/file_bytes_test.cpp: bytes and names of open files, without a loop.
#include <gyre/io/file_bytes.hpp>
#include <gyre/io/owned_fd.hpp>

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>
#include <string_view>
#include <thread>

namespace io = gyre::io;

TEST(file_bytes, are_read_at_an_offset_up_to_the_end) {
  std::string path = ::testing::TempDir() + "file_bytes_XXXXXX";
  const gyre::owned_fd file(::mkstemp(path.data()));
  ASSERT_EQ(::write(file.get(), "0123456789", 10), 10);
  std::array<char, 8> buffer{};
  EXPECT_EQ(io::read_at(file.get(), buffer.data(), 4, 3), 4);
  EXPECT_EQ(std::string_view(buffer.data(), 4), "3456");
  EXPECT_EQ(io::read_at(file.get(), buffer.data(), 8, 8), 2);
  EXPECT_EQ(io::read_at(file.get(), buffer.data(), 8, 10), 0);
  EXPECT_EQ(io::read_at(-1, buffer.data(), 8, 0), -EBADF);
  if (io::read_cached(file.get(), buffer.data(), 1, 0) == 1) {  // where the file system can tell
    EXPECT_EQ(io::read_cached(file.get(), buffer.data(), 4, 3), 4);
    EXPECT_EQ(std::string_view(buffer.data(), 4), "3456");
  }
  EXPECT_LT(io::read_cached(-1, buffer.data(), 1, 0), 0);
  EXPECT_EQ(io::path_of_file(file.get()), path);
  EXPECT_EQ(io::path_of_file(-1), "");
  ::unlink(path.c_str());
}

TEST(small_file, is_read_whole_and_has_a_limit) {
  std::string path = ::testing::TempDir() + "small_file_XXXXXX";
  const gyre::owned_fd file(::mkstemp(path.data()));
  std::string content;
  EXPECT_EQ(io::read_small_file(path, 40'000, content), 0);
  EXPECT_EQ(content, "");
  const std::string written(40'000, 'x');
  ASSERT_EQ(::write(file.get(), written.data(), written.size()), 40'000);
  EXPECT_EQ(io::read_small_file(path, 40'000, content), 0);
  EXPECT_EQ(content, written);
  EXPECT_EQ(io::read_small_file(path, 39'999, content), -EFBIG);
  EXPECT_EQ(io::read_small_file("/dev/zero", 100'000, content), -EFBIG);
  EXPECT_EQ(io::read_small_file(::testing::TempDir(), 100, content), -EISDIR);
  EXPECT_EQ(io::read_small_file("/nowhere", 100, content), -ENOENT);
  ::unlink(path.c_str());
}

TEST(small_file, a_pipe_that_nobody_writes_to_is_empty_and_a_writer_has_some_time) {
  const std::string path = ::testing::TempDir() + "small_pipe_" + std::to_string(::getpid());
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  std::string content;
  EXPECT_EQ(io::read_small_file(path, 100, content), 0);
  EXPECT_EQ(content, "");
  {
    const gyre::owned_fd keeps_the_bytes(::open(path.c_str(), O_RDONLY | O_NONBLOCK));
    gyre::owned_fd end(::open(path.c_str(), O_WRONLY));  // the reader may find a writer that has written nothing
    const std::jthread writer([&end] {
      EXPECT_EQ(::write(end.get(), "late", 4), 4);
      end = {};
    });
    EXPECT_EQ(io::read_small_file(path, 100, content), 0);
  }
  EXPECT_EQ(content, "late");
  ::unlink(path.c_str());
}

TEST(owned_fd, a_duplicate_is_closed_on_exec_and_may_fail) {
  const gyre::owned_fd file(::open("/dev/null", O_RDONLY));
  const gyre::owned_fd copy = gyre::owned_fd::duplicate_of(file.get());
  ASSERT_TRUE(copy);
  EXPECT_NE(copy.get(), file.get());
  EXPECT_EQ(::fcntl(copy.get(), F_GETFD), FD_CLOEXEC);
  EXPECT_FALSE(gyre::owned_fd::duplicate_of(-1));
  EXPECT_EQ(errno, EBADF);
}
