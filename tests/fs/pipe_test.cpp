// tests/fs/pipe_test.cpp: waiting for pipes and terminals to become ready does not block the loop.
#include <gyre/fs/file.hpp>

#include "tests/fs/scratch.hpp"

#include <stdlib.h>
#include <sys/socket.h>

#include <array>

using namespace gyre_test;
namespace fs = gyre::fs;

namespace {

/// Reads `expected` from one file while another task, after a pause, writes it to the other.
gyre::task<> pass_text(fs::file& from, fs::file& to, std::string text) {
  const auto write = [&]() -> gyre::task<> {
    co_await settle();
    co_await from.write_all(text);
  };
  co_await gyre::gather(expect_read(to, text), write());
}

}  // namespace

TEST(pipe, lets_others_run_while_a_read_waits) {
  run_test([]() -> gyre::task<> {
    file_pair pipe = make_pipe();
    co_await pass_text(pipe.writer, pipe.reader, "hello");
    co_await pipe.writer.close();
    co_await expect_read(pipe.reader, "");
  });
}

TEST(pipe, passes_a_write_that_is_larger_than_itself_in_parts) {
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
    co_await gyre::gather(write(), read());
    EXPECT_EQ(back, bytes);
  });
}

TEST(pipe, ends_a_read_exactly_at_the_end_of_the_stream) {
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

TEST(pipe, that_nobody_reads_fails_writes_without_a_signal) {
  run_test([]() -> gyre::task<> {
    file_pair pipe = make_pipe();
    co_await pipe.reader.close();
    co_await expect_error(pipe.writer.write_all("x"), "write_all pipe: Broken pipe");
  });
}

TEST(pipe, reports_to_a_writer_that_waits_that_the_reader_is_gone) {
  run_test([]() -> gyre::task<> {
    file_pair pipe = make_pipe();
    const auto bytes = pattern(300'000);
    auto leave = [&]() -> gyre::task<> {
      co_await settle();
      co_await pipe.reader.close();
    };
    co_await gyre::gather(expect_error(pipe.writer.write_all(bytes), "write_all pipe: Broken pipe"), leave());
  });
}

TEST(pipe, has_no_offsets) {
  run_test([]() -> gyre::task<> {
    file_pair pipe = make_pipe();
    co_await pipe.writer.write_all("kept");
    std::array<char, 8> buffer;
    const auto read = co_await gyre::as_expected(pipe.reader.read_at(buffer, 0));
    EXPECT_EQ(read.error(), std::errc::invalid_seek);
    const auto written = co_await gyre::as_expected(pipe.writer.write_at("x", 0));
    EXPECT_EQ(written.error(), std::errc::invalid_seek);
    EXPECT_THROW((void)pipe.reader.position(), gyre::io_error);
    co_await expect_read(pipe.reader, "kept");
  });
}

TEST(pipe, keeps_its_bytes_when_a_read_times_out) {
  run_test([]() -> gyre::task<> {
    file_pair pipe = make_pipe();
    std::array<char, 8> buffer;
    const auto late = co_await gyre::as_expected(gyre::timeout(5ms, pipe.reader.read_some(buffer)));
    EXPECT_EQ(late.error(), std::errc::timed_out);
    co_await pipe.writer.write_all("still");
    co_await gyre::timeout(5s, expect_read(pipe.reader, "still"));
  });
}

TEST(pipe, has_taken_a_prefix_of_a_cancelled_write) {
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

TEST(pipe, that_has_a_name_is_opened_without_waiting) {
  run_in_scratch([](const scratch& dir) -> gyre::task<> {
    const std::string path = dir.path("fifo");
    EXPECT_EQ(::mkfifo(path.c_str(), 0600), 0);
    const auto nobody = co_await gyre::as_expected(fs::file::open(path, {.write = true}));
    EXPECT_EQ(nobody.error(), std::errc::no_such_device_or_address);
    fs::file reader = co_await fs::file::open(path);
    fs::file writer = co_await fs::file::open(path, {.write = true});
    co_await pass_text(writer, reader, "through");
    const fs::status known = co_await reader.stat();
    EXPECT_EQ(known.kind, fs::file_kind::pipe);
  });
}

TEST(terminal, lets_others_run_while_a_read_waits) {
  run_test([]() -> gyre::task<> {
    const int number = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (number < 0 || ::grantpt(number) != 0 || ::unlockpt(number) != 0) co_return;  // none available here
    const std::string path = ::ptsname(number);
    fs::file keyboard = fs::file::from_fd(number, "terminal");
    fs::file terminal = co_await fs::file::open(path, {.read = true, .write = true});
    std::array<char, 16> line;
    const auto late = co_await gyre::as_expected(gyre::timeout(5ms, terminal.read_some(line)));
    EXPECT_EQ(late.error(), std::errc::timed_out);
    co_await pass_text(keyboard, terminal, "typed\n");
  });
}

TEST(socket, is_read_and_written_at_the_same_time_through_one_file) {
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
    co_await gyre::gather(send(), receive(), echo());
    EXPECT_EQ(back, bytes);
  });
}
