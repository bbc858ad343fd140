// tests/io/line_output_test.cpp: destinations of a log, and readers that do not read it.
#include <gyre/io/line_output.hpp>

#include "tests/support/denied_call.hpp"

#include <gyre/io/io_error.hpp>

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <csignal>
#include <cstddef>
#include <string>

using gyre::line_output;

namespace {

struct open_pipe {
  open_pipe() {
    int ends[2];
    EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    reader = gyre::owned_fd(ends[0]);
    writer = gyre::owned_fd(ends[1]);
  }
  std::string read() const {
    std::string text(65'536, '\0');
    const ssize_t n = ::read(reader.get(), text.data(), text.size());
    text.resize(n < 0 ? 0 : static_cast<std::size_t>(n));
    return text;
  }
  gyre::owned_fd reader;
  gyre::owned_fd writer;
};

const std::string line = std::string(99, 'x') + '\n';

/// Writes lines until no more are accepted. Returns the last result.
std::ptrdiff_t fill(line_output& log) {
  std::ptrdiff_t n = 0;
  for (int i = 0; i < 100'000 && n >= 0; ++i) n = log.write(line);
  return n;
}

bool pipe_signal_is_pending() {
  sigset_t pending;
  ::sigpending(&pending);
  return ::sigismember(&pending, SIGPIPE) == 1;
}

/// Runs `body` in a process that cannot reopen a pipe, so that the log shares the pipe that it was given.
template <class Body>
std::string said_with_a_shared_pipe(Body body) {
  const auto said = gyre_test::in_child_process([&] {
    const open_pipe ends;
    gyre_test::deny_call(SYS_openat, EACCES);
    line_output log(ends.writer.get(), "the log");
    return body(log, ends);
  });
  return said.ended ? said.text : "killed by " + std::to_string(said.signal);
}

}  // namespace

TEST(line_output, a_full_pipe_takes_nothing_and_nobody_waits) {
  const open_pipe ends;
  line_output log(ends.writer.get(), "the log");
  EXPECT_EQ(fill(log), -EAGAIN);
  EXPECT_EQ(ends.read().size() % line.size(), 0U) << "lines stay whole";
  EXPECT_EQ(log.write(line), 100);
}

TEST(line_output, a_pipe_takes_as_many_lines_as_stay_whole) {
  const open_pipe ends;
  line_output log(ends.writer.get(), "the log");
  std::string lines;
  while (lines.size() <= PIPE_BUF) lines += line;
  EXPECT_EQ(log.write(lines), PIPE_BUF / 100 * 100);
}

TEST(line_output, a_line_longer_than_a_pipe_keeps_whole_comes_alone) {
  const open_pipe ends;
  line_output log(ends.writer.get(), "the log");
  const std::string longest = std::string(2 * PIPE_BUF, 'y') + '\n';
  EXPECT_EQ(log.write(longest + line), static_cast<std::ptrdiff_t>(longest.size()));
  EXPECT_EQ(log.write(std::string(2 * PIPE_BUF, 'z')), 2 * PIPE_BUF) << "it has no end yet";
}

TEST(line_output, a_pipe_that_nobody_reads_is_an_error_and_no_signal) {
  open_pipe ends;
  line_output log(ends.writer.get(), "the log");
  ends.reader.close();
  EXPECT_EQ(log.write(line), -EPIPE);
  EXPECT_FALSE(pipe_signal_is_pending());
}

TEST(line_output, a_signal_that_the_program_waits_for_is_left_to_it) {
  open_pipe ends;
  line_output log(ends.writer.get(), "the log");
  ends.reader.close();
  sigset_t pipe;
  sigset_t before;
  ::sigemptyset(&pipe);
  ::sigaddset(&pipe, SIGPIPE);
  ::pthread_sigmask(SIG_BLOCK, &pipe, &before);
  ::pthread_kill(::pthread_self(), SIGPIPE);
  EXPECT_EQ(log.write(line), -EPIPE);
  EXPECT_TRUE(pipe_signal_is_pending());
  const timespec at_once{};
  EXPECT_EQ(::sigtimedwait(&pipe, nullptr, &at_once), SIGPIPE);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

TEST(line_output, a_shared_pipe_is_written_to_while_there_is_room_and_nobody_waits) {
  EXPECT_EQ(said_with_a_shared_pipe([](line_output& log, const open_pipe& ends) {
              const bool full = fill(log) == -EAGAIN;
              const bool whole = ends.read().size() % line.size() == 0;
              return std::string(full ? "full" : "not full") + (whole ? ", whole lines" : ", torn");
            }),
            "full, whole lines");
}

TEST(line_output, a_shared_pipe_takes_of_a_long_line_what_it_takes_without_waiting) {
  EXPECT_EQ(said_with_a_shared_pipe([](line_output& log, const open_pipe&) {
              return std::to_string(log.write(std::string(3 * PIPE_BUF, 'y') + '\n'));
            }),
            std::to_string(PIPE_BUF));
}

TEST(line_output, a_shared_pipe_that_nobody_reads_is_an_error_and_no_signal) {
  const auto said = gyre_test::in_child_process([] {
    open_pipe ends;
    gyre_test::deny_call(SYS_openat, EACCES);
    line_output log(ends.writer.get(), "the log");
    ends.reader.close();
    return std::to_string(log.write(line));
  });
  EXPECT_EQ(said.text, std::to_string(-EPIPE));
}

TEST(line_output, a_socket_that_takes_no_more_does_not_wait) {
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  const gyre::owned_fd writer(ends[0]);
  gyre::owned_fd reader(ends[1]);
  line_output log(writer.get(), "the log");
  EXPECT_EQ(fill(log), -EAGAIN);
  reader.close();
  EXPECT_EQ(log.write(line), -EPIPE);
}

TEST(line_output, refuses_a_descriptor_that_is_not_open) { EXPECT_THROW(line_output(-1, "the log"), gyre::io_error); }

TEST(line_output, one_call_writes_without_waiting_and_without_a_free_descriptor) {
  const auto said = gyre_test::in_child_process([] {
    const open_pipe ends;
    gyre_test::deny_call(SYS_openat, EMFILE);
    std::ptrdiff_t n = 0;
    for (int i = 0; i < 100'000 && n >= 0; ++i) n = line_output::write_once(ends.writer.get(), line);
    const bool whole = ends.read().size() % line.size() == 0;
    return std::to_string(n) + (whole ? ", whole lines" : ", torn");
  });
  EXPECT_EQ(said.text, std::to_string(-EAGAIN) + ", whole lines");
}

TEST(line_output, one_call_to_a_descriptor_that_is_not_open_is_an_error) {
  EXPECT_EQ(line_output::write_once(-1, line), -EBADF);
}
