// tests/net/send_file_error_test.cpp: files that fail to be read completely.
#include <gyre/net/send_file.hpp>

#include "tests/fs/scratch.hpp"
#include "tests/support/broken_file.hpp"

using namespace gyre_test;
namespace fs = gyre::fs;

namespace {

constexpr std::size_t size = 120'000;
constexpr std::size_t good = 65'536;
constexpr std::size_t good_again = 70'000;

/// Sends a file whose reads fail midway, followed by more data.
gyre::task<> read_into(std::string& text, gyre::tcp_stream& from) {
  std::vector<char> buffer(65536);
  while (const std::size_t n = co_await from.read_some(std::span<char>(buffer))) text.append(buffer.data(), n);
}

void expect_cut_off(bool cached) {
  run_test([cached]() -> gyre::task<> {
    const scratch dir;
    const std::string contents(size, 'f');
    const std::string path = dir.put("a", contents);
    if (!cached) forget_cached(path);
    auto file = co_await fs::file::open(path);
    auto pair = co_await connect_pair();
    const std::string peer = pair.client.peer_address().string();
    const broken_file disk(path, good, good_again);
    std::string arrived;
    auto heard = gyre::spawn(read_into(arrived, pair.server));
    std::size_t transferred = 0;
    std::string text;
    try {
      (void)co_await pair.client.send_file(file.native_descriptor(), 0, size);
    } catch (const gyre::incomplete_transfer& error) {
      transferred = error.transferred();
      text = error.what();
    }
    EXPECT_EQ(text, "send_file " + peer + ": Input/output error");
    EXPECT_EQ(transferred, good);
    const auto next = co_await gyre::as_expected(pair.client.write_all("of something else"));
    EXPECT_EQ(next.error(), gyre::stream_errc::write_cut_off) << "it would be read as the rest of the file";
    co_await pair.client.close();
    const std::string end = co_await error_of(std::move(heard));
    EXPECT_NE(end.find("Connection reset"), std::string::npos) << "a part of the file passes for the whole: " << end;
    EXPECT_TRUE(std::string(good, 'f').starts_with(arrived));
  });
}

}  // namespace

TEST(send_file_error, a_disk_error_in_the_middle_of_what_is_in_memory_ends_the_writing_for_good) {
  expect_cut_off(true);
}
TEST(send_file_error, a_disk_error_in_the_middle_of_what_is_on_the_disk_ends_the_writing_for_good) {
  expect_cut_off(false);
}

TEST(send_file_error, a_disk_error_before_the_first_byte_leaves_the_stream_as_it_was) {
  run_test([]() -> gyre::task<> {
    const scratch dir;
    const std::string path = dir.put("a", std::string(size, 'f'));
    auto file = co_await fs::file::open(path);
    auto pair = co_await connect_pair();
    const std::string peer = pair.client.peer_address().string();
    const broken_file disk(path, 0);
    const std::string text = co_await error_of(pair.client.send_file(file.native_descriptor(), 0, size));
    EXPECT_EQ(text, "send_file " + peer + ": Input/output error");
    co_await pair.client.write_all("an apology");
    co_await pair.client.close();
    const std::string arrived = co_await read_text_to_end(pair.server);
    EXPECT_EQ(arrived, "an apology");
  });
}
