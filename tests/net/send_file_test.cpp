// tests/net/send_file_test.cpp: files that are sent over a socket without passing through the program.
#include <gyre/testing/cancel_at_every_await.hpp>

#include "tests/fs/scratch.hpp"
#include "tests/net/small_segments.hpp"

#include <sys/socket.h>

using namespace gyre_test;
namespace fs = gyre::fs;

namespace {

std::string text_of_size(std::size_t size) {
  const std::vector<std::byte> bytes = pattern(size);
  return text_of(bytes);
}

/// Sends the file with a word before and after it, and closes.
gyre::task<std::size_t> send_between_words(gyre::tcp_stream& to, int file, std::uint64_t offset, std::size_t count) {
  co_await to.write_all("<");
  const std::size_t sent = co_await to.send_file(file, offset, count);
  co_await to.write_all(">");
  co_await to.close();
  co_return sent;
}

}  // namespace

TEST(send_file, a_small_file_arrives) {
  run_test([]() -> gyre::task<> {
    const scratch dir;
    auto file = co_await fs::file::open(dir.put("a", "contents"));
    auto pair = co_await connect_pair();
    auto heard = gyre::spawn(read_text_to_end(pair.server));
    const std::size_t sent = co_await send_between_words(pair.client, file.native_descriptor(), 0, 8);
    EXPECT_EQ(sent, 8U);
    const std::string text = co_await heard;
    EXPECT_EQ(text, "<contents>");
  });
}

TEST(send_file, a_part_of_a_file_arrives_and_its_position_stays) {
  run_test([]() -> gyre::task<> {
    const scratch dir;
    auto file = co_await fs::file::open(dir.put("a", "0123456789"));
    auto pair = co_await connect_pair();
    auto heard = gyre::spawn(read_text_to_end(pair.server));
    const std::size_t sent = co_await send_between_words(pair.client, file.native_descriptor(), 3, 4);
    EXPECT_EQ(sent, 4U);
    const std::string text = co_await heard;
    EXPECT_EQ(text, "<3456>");
    EXPECT_EQ(file.position(), 0U);
  });
}

TEST(send_file, a_file_larger_than_the_buffers_of_the_socket_arrives_whole) {
  run_test([]() -> gyre::task<> {
    const scratch dir;
    const std::string contents = text_of_size(20'000'000);
    auto file = co_await fs::file::open(dir.put("a", contents));
    auto pair = co_await connect_pair();
    auto sending = gyre::spawn(send_between_words(pair.client, file.native_descriptor(), 0, contents.size()));
    const std::string text = co_await read_text_to_end(pair.server);
    const std::size_t sent = co_await sending;
    EXPECT_EQ(sent, contents.size());
    EXPECT_TRUE(text == "<" + contents + ">");
  });
}

TEST(send_file, waits_for_a_file_that_is_on_the_disk_only) {
  run_test([]() -> gyre::task<> {
    const scratch dir;
    const std::string contents = text_of_size(3'000'000);
    const std::string path = dir.put("a", contents);
    forget_cached(path);
    auto file = co_await fs::file::open(path);
    auto pair = co_await connect_pair();
    auto sending = gyre::spawn(send_between_words(pair.client, file.native_descriptor(), 0, contents.size()));
    const std::string text = co_await read_text_to_end(pair.server);
    co_await sending;
    EXPECT_TRUE(text == "<" + contents + ">");
  });
}

TEST(send_file, the_end_of_the_file_is_told_by_the_count) {
  run_test([]() -> gyre::task<> {
    const scratch dir;
    auto file = co_await fs::file::open(dir.put("a", "short"));
    auto pair = co_await connect_pair();
    auto heard = gyre::spawn(read_text_to_end(pair.server));
    const std::size_t sent = co_await send_between_words(pair.client, file.native_descriptor(), 0, 1000);
    EXPECT_EQ(sent, 5U);
    const std::string text = co_await heard;
    EXPECT_EQ(text, "<short>");
  });
}

TEST(send_file, writes_of_other_tasks_do_not_come_in_between) {
  run_test([]() -> gyre::task<> {
    const scratch dir;
    const std::string contents(8'000'000, 'f');
    auto file = co_await fs::file::open(dir.put("a", contents));
    auto pair = co_await connect_pair();
    const int number = file.native_descriptor();
    const auto send = [](gyre::tcp_stream& to, int fd) -> gyre::task<> {
      (void)co_await to.send_file(fd, 0, 8'000'000);
    };
    const auto write = [](gyre::tcp_stream& to) -> gyre::task<> {
      const std::string text(100'000, 'w');
      co_await to.write_all(text);
    };
    auto writers = gyre::spawn([&]() -> gyre::task<> {
      co_await gyre::gather(send(pair.client, number), write(pair.client), send(pair.client, number));
      co_await pair.client.close();
    });
    const std::string text = co_await read_text_to_end(pair.server);
    co_await writers;
    EXPECT_TRUE(text == contents + std::string(100'000, 'w') + contents);
  });
}

TEST(send_file, a_descriptor_that_is_no_file_is_an_error_that_names_the_peer) {
  run_with_pair([](connected_pair& pair) -> gyre::task<> {
    const std::string peer = pair.client.peer_address().string();
    const std::string text = co_await error_of(pair.client.send_file(-1, 0, 10));
    EXPECT_EQ(text, "send_file " + peer + ": Bad file descriptor");
  });
}

TEST(send_file, a_peer_that_is_gone_is_an_error_and_no_signal) {
  run_test([]() -> gyre::task<> {
    const scratch dir;
    auto file = co_await fs::file::open(dir.put("a", std::string(1'000'000, 'x')));
    auto pair = co_await connect_pair();
    pair.server.set_reset_on_close(true);
    co_await pair.server.close();
    co_await settle();
    const int number = file.native_descriptor();
    std::string text;
    for (int i = 0; i < 3; ++i) text = co_await error_of(pair.client.send_file(number, 0, 1'000'000));
    EXPECT_NE(text.find("Broken pipe"), std::string::npos) << text;
  });
}

TEST(send_file, a_cancel_in_the_middle_ends_the_writing_for_good) {
  run_test([]() -> gyre::task<> {
    const scratch dir;
    const std::string contents(30'000'000, 'x');
    auto file = co_await fs::file::open(dir.put("a", contents));
    auto pair = co_await connect_pair();
    const int number = file.native_descriptor();
    const auto late = co_await gyre::as_expected(gyre::timeout(50ms, pair.client.send_file(number, 0, 30'000'000)));
    EXPECT_EQ(late.error(), std::errc::timed_out);
    const auto next = co_await gyre::as_expected(pair.client.write_all("x"));
    EXPECT_EQ(next.error(), gyre::stream_errc::write_cut_off);
  });
}

TEST(send_file, a_cancel_anywhere_loses_no_byte_of_what_it_says_to_have_sent) {
  const scratch dir;
  const std::string contents = text_of_size(600'000);
  const std::string path = dir.put("a", contents);
  std::string heard;
  const auto report = gyre::testing::cancel_at_every_await(
      [&]() -> gyre::task<> {
        heard.clear();
        auto file = co_await fs::file::open(path);
        auto pair = small_segment_pair();
        pair.client.set_send_buffer_size(16384);
        const auto listen = [&]() -> gyre::task<> { heard = co_await read_text_to_end(pair.server); };
        const auto send = [&]() -> gyre::task<> {
          (void)co_await pair.client.send_file(file.native_descriptor(), 0, contents.size());
          co_await pair.client.close();
        };
        co_await gyre::gather(listen(), send());
      },
      [&](bool cancelled) {
        if (!cancelled) EXPECT_TRUE(heard == contents);
      });
  EXPECT_GT(report.cancelled, 0U);
  EXPECT_GT(report.completed, 0U);
}
