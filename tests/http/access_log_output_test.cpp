// tests/http/access_log_output_test.cpp: where an access log writes to, and what happens when that is full or closed.
#include "tests/http/access_log_lines.hpp"

#include <gyre/io/io_error.hpp>

#include <sys/socket.h>

#include <cstdio>

using namespace gyre_test;
using gyre::task;

TEST(access_log, lines_that_a_full_pipe_does_not_take_are_lost_and_counted_later) {
  for (const bool json : {false, true}) {
    run_virtual([json]() -> task<> {
      auto ends = gyre::open_pipe();
      ::fcntl(ends.writer.get(), F_SETPIPE_SZ, 4096);
      http::access_log log(ends.writer.get(),
                           {.format = json ? http::log_format::json : http::log_format::combined, .buffer = 2000});
      EXPECT_EQ(::fcntl(ends.writer.get(), F_GETFL) & O_NONBLOCK, 0) << "others use it, too";
      http_test_client app(logging_options(log));
      for (int i = 0; i < 200; ++i) (void)co_await app.get("/" + std::to_string(i));
      co_await gyre::sleep(1s);
      EXPECT_GT(log.lost(), 100u);
      std::string text;
      for (const bool last : {false, false, true}) {
        text += drain(ends.reader.get());
        if (last) (void)co_await app.get("/last");
        co_await gyre::sleep(1s);
      }
      text += drain(ends.reader.get());
      const auto lines = lines_of(text);
      std::uint64_t lost = 0;
      std::uint64_t whole = 0;
      const std::regex notice(R"re((?:gyre: (\d+) lines of this log were lost .*|.*"lost":(\d+)\}))re");
      for (const std::string& line : lines) {
        std::smatch found;
        if (std::regex_match(line, found, notice))
          lost += std::stoull(found[json ? 2 : 1]);
        else
          whole += json ? is_json_object(line) : std::regex_match(line, std::regex(combined_line));
      }
      EXPECT_EQ(lost, log.lost());
      EXPECT_EQ(whole + lost, 201u);
      EXPECT_NE(text.find("/last"), std::string::npos);
    });
  }
}

TEST(access_log, lines_of_several_logs_on_one_pipe_stay_whole_though_it_is_read_slowly) {
  run_virtual([]() -> task<> {
    auto ends = gyre::open_pipe();
    ::fcntl(ends.writer.get(), F_SETPIPE_SZ, 4096);
    http::access_log first(ends.writer.get());
    http::access_log second(ends.writer.get());
    http_test_client of_first(logging_options(first));
    http_test_client of_second(logging_options(second));
    for (int i = 0; i < 200; ++i) (void)co_await of_first.get("/first" + std::to_string(i));
    co_await gyre::sleep(25ms);  // virtual time: the two logs do not retry at the same time
    for (int i = 0; i < 200; ++i) (void)co_await of_second.get("/second");
    std::string text;
    std::array<char, 1000> piece;
    ::fcntl(ends.reader.get(), F_SETFL, O_NONBLOCK);
    for (ssize_t n = 0; (n = ::read(ends.reader.get(), piece.data(), piece.size())) > 0;) {
      text.append(piece.data(), static_cast<std::size_t>(n));
      co_await gyre::sleep(35ms);
    }
    const auto lines = lines_of(text);
    EXPECT_EQ(lines.size(), 400u);
    const std::regex whole(combined_line);
    for (const std::string& line : lines) EXPECT_TRUE(std::regex_match(line, whole)) << line;
  });
}

TEST(access_log, a_pipe_that_nobody_reads_any_more_is_no_end_of_the_program) {
  run_virtual([]() -> task<> {
    auto ends = gyre::open_pipe();
    http::access_log log(ends.writer.get());
    ends.reader.close();
    http_test_client app(logging_options(log));
    for (int i = 0; i < 5; ++i) EXPECT_EQ((co_await app.get("/")).status, 200);
    co_await gyre::sleep(1s);
    EXPECT_EQ(log.lost(), 5u);
  });
}

TEST(access_log, sockets_and_files_are_written_to) {
  run_virtual([]() -> task<> {
    int ends[2] = {};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    std::FILE* const file = std::tmpfile();
    {
      http::access_log to_socket(ends[0]);
      http::access_log to_file(::fileno(file));
      http_test_client first(logging_options(to_socket));
      http_test_client second(logging_options(to_file));
      (void)co_await first.get("/socket");
      (void)co_await second.get("/file");
    }  // the rest is written at the end
    EXPECT_NE(drain(ends[1]).find("/socket"), std::string::npos);
    std::array<char, 500> text{};
    EXPECT_GT(::pread(::fileno(file), text.data(), text.size(), 0), 0);
    EXPECT_NE(std::string(text.data()).find("/file"), std::string::npos);
    ::close(ends[0]);
    ::close(ends[1]);
    std::fclose(file);
  });
}

TEST(access_log, requests_of_one_turn_are_one_write) {
  run_virtual([]() -> task<> {
    int ends[2] = {};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    {
      http::access_log log(ends[0]);
      http_test_client app(logging_options(log));
      std::string many;
      for (int i = 0; i < 20; ++i) many += "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
      (void)co_await app.exchange_bytes(many);
      co_await gyre::sleep(1ms);
    }
    std::array<char, 65'536> packet;
    int packets = 0;
    while (::recv(ends[1], packet.data(), packet.size(), MSG_DONTWAIT) > 0) ++packets;
    EXPECT_EQ(packets, 1);
    ::close(ends[0]);
    ::close(ends[1]);
  });
}

TEST(access_log, a_bad_descriptor_is_refused) { EXPECT_THROW(http::access_log(-1), gyre::io_error); }
