// tests/fs/standard_streams_test.cpp: the standard streams of a program, as the program sees them.
#include <gyre/fs/standard_streams.hpp>

#include "tests/fs/scratch.hpp"

using namespace gyre_test;
namespace fs = gyre::fs;

namespace {

/// Replaces a standard descriptor for the duration of a test.
class stand_in {
 public:
  stand_in(int number, int fd) : number_(number), before_(::dup(number)) { EXPECT_EQ(::dup2(fd, number), number); }
  stand_in(const stand_in&) = delete;
  stand_in& operator=(const stand_in&) = delete;
  ~stand_in() {
    ::dup2(before_, number_);
    ::close(before_);
  }

 private:
  int number_;
  int before_;
};

}  // namespace

TEST(standard_streams, wait_for_a_pipe_without_blocking_the_loop_and_leave_the_pipe_blocking) {
  run_test([]() -> gyre::task<> {
    gyre::pipe_descriptors ends = gyre::open_pipe();
    const stand_in input(STDIN_FILENO, ends.reader.get());
    auto keyboard = fs::standard_input();
    auto reading = gyre::spawn([&]() -> gyre::task<std::string> {
      std::array<char, 16> buffer{};
      const std::size_t n = co_await keyboard.read_some(buffer);
      co_return std::string(buffer.data(), n);
    });
    co_await settle();
    EXPECT_FALSE(reading.done());
    EXPECT_EQ(::write(ends.writer.get(), "typed", 5), 5);
    const std::string heard = co_await reading;
    EXPECT_EQ(heard, "typed");
    EXPECT_EQ(::fcntl(STDIN_FILENO, F_GETFL) & O_NONBLOCK, 0);
  });
}

TEST(standard_streams, share_the_position_of_a_file_with_other_writers) {
  run_in_scratch([](const scratch& dir) -> gyre::task<> {
    const int fd = ::open(dir.path("log").c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    {
      const stand_in output(STDERR_FILENO, fd);
      EXPECT_EQ(::write(STDERR_FILENO, "a", 1), 1);
      auto log = fs::standard_error();
      co_await log.write_all("b");
      EXPECT_EQ(::write(STDERR_FILENO, "c", 1), 1);
    }
    ::close(fd);
    EXPECT_EQ(dir.get("log"), "abc");
  });
}

TEST(standard_streams, leave_the_descriptor_open_at_their_end) {
  run_test([]() -> gyre::task<> {
    {
      auto output = fs::standard_output();
      co_await output.close();
    }
    EXPECT_NE(::fcntl(STDOUT_FILENO, F_GETFD), -1);
  });
}

TEST(open_pipe, carries_bytes_inside_the_program) {
  run_test([]() -> gyre::task<> {
    fs::pipe_files pipe = fs::open_pipe();
    co_await pipe.writer.write_all("through");
    co_await pipe.writer.close();
    std::string heard(7, ' ');
    co_await pipe.reader.read_exactly(std::span<char>(heard));
    EXPECT_EQ(heard, "through");
    const std::size_t rest = co_await pipe.reader.read_some(std::span<char>(heard));
    EXPECT_EQ(rest, 0U);
  });
}
