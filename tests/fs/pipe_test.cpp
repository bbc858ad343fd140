// tests/fs/pipe_test.cpp: waiting for pipes and terminals to become ready does not block the loop.
#include <gyre/fs/file.hpp>

#include "tests/fs/scratch.hpp"

#include <stdlib.h>
#include <sys/socket.h>

#include <array>

using namespace gyre_test;
namespace fs = gyre::fs;

TEST(pipe, a_read_waits_while_others_run) {
  run_test([]() -> gyre::task<> {
    file_pair pipe = make_pipe();
    std::array<char, 16> text;
    auto read = [&]() -> gyre::task<> {
      const std::size_t n = co_await pipe.reader.read_some(text);
      EXPECT_EQ(std::string(text.data(), n), "hello");
    };
    auto write = [&]() -> gyre::task<> {
      for (int i = 0; i < 5; ++i) co_await gyre::sleep(1ms);
      co_await pipe.writer.write_all("hello");
    };
    auto both = gyre::gather(read(), write());
    co_await std::move(both);
    co_await pipe.writer.close();
    const std::size_t end = co_await pipe.reader.read_some(text);
    EXPECT_EQ(end, 0U);
  });
}

TEST(pipe, a_write_larger_than_the_pipe_passes_in_parts) {
  run_test([]() -> gyre::task<> {
    file_pair pipe = make_pipe();
    const auto bytes = pattern(1'000'000);
    std::vector<std::byte> back(bytes.size());
    auto write = [&]() -> gyre::task<> {
      const std::array<gyre::io::const_buffer, 2> halves{{{bytes.data(), 400'000}, {bytes.data() + 400'000, 600'000}}};
      const std::size_t n = co_await pipe.writer.write_all(halves);
      EXPECT_EQ(n, bytes.size());
    };
    auto read = [&]() -> gyre::task<> { co_await pipe.reader.read_exactly(back); };
    auto both = gyre::gather(write(), read());
    co_await std::move(both);
    EXPECT_EQ(back, bytes);
  });
}

TEST(pipe, read_exactly_ends_with_the_stream) {
  run_test([]() -> gyre::task<> {
    file_pair pipe = make_pipe();
    co_await pipe.writer.write_all("abc");
    co_await pipe.writer.close();
    std::array<char, 8> text;
    try {
      co_await pipe.reader.read_exactly(text);
      ADD_FAILURE() << "did not throw";
    } catch (const gyre::incomplete_transfer& error) {
      EXPECT_EQ(error.transferred(), 3U);
    }
  });
}

TEST(pipe, writing_to_a_pipe_that_nobody_reads_is_an_error_and_no_signal) {
  run_test([]() -> gyre::task<> {
    file_pair pipe = make_pipe();
    co_await pipe.reader.close();
    const std::string text = co_await error_of(pipe.writer.write_all("x"));
    EXPECT_EQ(text, "write_all pipe: Broken pipe");
  });
}

TEST(pipe, a_writer_that_waits_learns_that_the_reader_is_gone) {
  run_test([]() -> gyre::task<> {
    file_pair pipe = make_pipe();
    const auto bytes = pattern(300'000);
    auto write = [&]() -> gyre::task<> {
      const std::string text = co_await error_of(pipe.writer.write_all(bytes));
      EXPECT_EQ(text, "write_all pipe: Broken pipe");
    };
    auto leave = [&]() -> gyre::task<> {
      co_await settle();
      co_await pipe.reader.close();
    };
    auto both = gyre::gather(write(), leave());
    co_await std::move(both);
  });
}

TEST(pipe, it_has_no_offsets) {
  run_test([]() -> gyre::task<> {
    file_pair pipe = make_pipe();
    co_await pipe.writer.write_all("kept");
    std::array<char, 8> buffer;
    const auto read = co_await gyre::as_expected(pipe.reader.read_at(buffer, 0));
    EXPECT_EQ(read.error(), std::errc::invalid_seek);
    const auto written = co_await gyre::as_expected(pipe.writer.write_at("x", 0));
    EXPECT_EQ(written.error(), std::errc::invalid_seek);
    EXPECT_THROW((void)pipe.reader.position(), gyre::io_error);
    const std::size_t n = co_await pipe.reader.read_some(buffer);
    EXPECT_EQ(n, 4U);
  });
}

TEST(pipe, a_time_out_ends_a_read_and_takes_nothing) {
  run_test([]() -> gyre::task<> {
    file_pair pipe = make_pipe();
    std::array<char, 8> buffer;
    const auto late = co_await gyre::as_expected(gyre::timeout(5ms, pipe.reader.read_some(buffer)));
    EXPECT_EQ(late.error(), std::errc::timed_out);
    co_await pipe.writer.write_all("still");
    const std::size_t n = co_await gyre::timeout(5s, pipe.reader.read_some(buffer));
    EXPECT_EQ(n, 5U);
  });
}

TEST(pipe, a_cancelled_write_has_written_a_prefix) {
  run_test([]() -> gyre::task<> {
    file_pair pipe = make_pipe();
    const auto bytes = pattern(200'000);
    const auto cut = co_await gyre::as_expected(gyre::timeout(5ms, pipe.writer.write_all(bytes)));
    EXPECT_EQ(cut.error(), std::errc::timed_out);
    co_await pipe.writer.close();
    std::vector<std::byte> back(bytes.size());
    std::size_t size = 0;
    while (const std::size_t n = co_await pipe.reader.read_some(std::span(back).subspan(size))) size += n;
    EXPECT_GT(size, 0U);
    EXPECT_LT(size, bytes.size());
    EXPECT_TRUE(std::equal(back.begin(), back.begin() + static_cast<std::ptrdiff_t>(size), bytes.begin()));
  });
}

TEST(pipe, a_named_pipe_is_opened_without_waiting) {
  run_test([]() -> gyre::task<> {
    const scratch dir;
    const std::string path = dir.path("fifo");
    EXPECT_EQ(::mkfifo(path.c_str(), 0600), 0);
    const auto nobody = co_await gyre::as_expected(fs::file::open(path, {.write = true}));
    EXPECT_EQ(nobody.error(), std::errc::no_such_device_or_address);
    fs::file reader = co_await fs::file::open(path);
    fs::file writer = co_await fs::file::open(path, {.write = true});
    auto read = [&]() -> gyre::task<> {
      std::array<char, 8> text;
      const std::size_t n = co_await reader.read_some(text);
      EXPECT_EQ(std::string(text.data(), n), "through");
    };
    auto write = [&]() -> gyre::task<> {
      co_await settle();
      co_await writer.write_all("through");
    };
    auto both = gyre::gather(read(), write());
    co_await std::move(both);
    const fs::status known = co_await reader.stat();
    EXPECT_EQ(known.kind, fs::file_kind::pipe);
  });
}

TEST(pipe, a_terminal_is_waited_for) {
  run_test([]() -> gyre::task<> {
    const int number = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (number < 0 || ::grantpt(number) != 0 || ::unlockpt(number) != 0) co_return;  // none available here
    const std::string path = ::ptsname(number);
    fs::file keyboard = fs::file::from_fd(number, "terminal");
    fs::file terminal = co_await fs::file::open(path, {.read = true, .write = true});
    std::array<char, 16> line;
    const auto late = co_await gyre::as_expected(gyre::timeout(5ms, terminal.read_some(line)));
    EXPECT_EQ(late.error(), std::errc::timed_out);
    auto read = [&]() -> gyre::task<> {
      const std::size_t n = co_await terminal.read_some(line);
      EXPECT_EQ(std::string(line.data(), n), "typed\n");
    };
    auto type = [&]() -> gyre::task<> {
      co_await settle();
      co_await keyboard.write_all("typed\n");
    };
    auto both = gyre::gather(read(), type());
    co_await std::move(both);
  });
}

TEST(pipe, reading_and_writing_one_descriptor_at_the_same_time) {
  run_test([]() -> gyre::task<> {
    int ends[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    fs::file one = fs::file::from_fd(ends[0], "one");
    fs::file two = fs::file::from_fd(ends[1], "two");
    const auto bytes = pattern(600'000);
    std::vector<std::byte> there(bytes.size());
    std::vector<std::byte> back(bytes.size());
    auto send = [&]() -> gyre::task<> { co_await one.write_all(bytes); };
    auto receive = [&]() -> gyre::task<> { co_await one.read_exactly(back); };
    auto echo = [&]() -> gyre::task<> {
      for (std::size_t at = 0; at < there.size();) {
        const std::size_t n = co_await two.read_some(std::span(there).subspan(at));
        co_await two.write_all(std::span(there).subspan(at, n));
        at += n;
      }
    };
    auto all = gyre::gather(send(), receive(), echo());
    co_await std::move(all);
    EXPECT_EQ(back, bytes);
  });
}
