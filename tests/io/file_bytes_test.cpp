// tests/io/file_bytes_test.cpp: bytes and names of open files, without a loop.
#include <gyre/io/file_bytes.hpp>
#include <gyre/io/owned_fd.hpp>

#include <gtest/gtest.h>

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>
#include <string_view>

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

TEST(owned_fd, a_duplicate_is_closed_on_exec_and_may_fail) {
  const gyre::owned_fd file(::open("/dev/null", O_RDONLY));
  const gyre::owned_fd copy = gyre::owned_fd::duplicate_of(file.get());
  ASSERT_TRUE(copy);
  EXPECT_NE(copy.get(), file.get());
  EXPECT_EQ(::fcntl(copy.get(), F_GETFD), FD_CLOEXEC);
  EXPECT_FALSE(gyre::owned_fd::duplicate_of(-1));
  EXPECT_EQ(errno, EBADF);
}
