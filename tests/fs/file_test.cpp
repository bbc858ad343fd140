// tests/fs/file_test.cpp: reading and writing regular files.
#include <gyre/fs/file.hpp>

#include "tests/fs/scratch.hpp"

#include <array>

using namespace gyre_test;
namespace fs = gyre::fs;

TEST(file, what_was_written_is_read_back) {
  run_test([]() -> gyre::task<> {
    const scratch dir;
    fs::file out = co_await fs::file::open(dir.path("a"), fs::for_writing);
    const auto bytes = pattern(10'000);
    const std::size_t written = co_await out.write_all(bytes);
    EXPECT_EQ(written, bytes.size());
    co_await out.close();
    EXPECT_FALSE(out.is_open());

    fs::file in = co_await fs::file::open(dir.path("a"));
    std::vector<std::byte> back(bytes.size());
    const std::size_t read = co_await in.read_exactly(back);
    EXPECT_EQ(read, bytes.size());
    EXPECT_EQ(back, bytes);
    const std::size_t more = co_await in.read_some(back);
    EXPECT_EQ(more, 0U);
  });
}

TEST(file, reads_and_writes_move_the_position) {
  run_test([]() -> gyre::task<> {
    const scratch dir;
    dir.put("a", "0123456789");
    fs::file f = co_await fs::file::open(dir.path("a"), {.read = true, .write = true});
    std::array<char, 4> text;
    co_await f.read_exactly(text);
    EXPECT_EQ(std::string(text.data(), 4), "0123");
    co_await f.write_all("ab");
    EXPECT_EQ(f.position(), 6U);
    const std::size_t n = co_await f.read_some(text);
    EXPECT_EQ(std::string(text.data(), n), "6789");
    f.set_position(1);
    co_await f.write_some("X");
    EXPECT_EQ(dir.get("a"), "0X23ab6789");
  });
}

TEST(file, offsets_leave_the_position_alone) {
  run_test([]() -> gyre::task<> {
    const scratch dir;
    dir.put("a", "0123456789");
    fs::file f = co_await fs::file::open(dir.path("a"), {.read = true, .write = true});
    std::array<char, 4> text;
    const std::size_t n = co_await f.read_at(text, 5);
    EXPECT_EQ(std::string(text.data(), n), "5678");
    co_await f.write_at("xyz", 8);
    EXPECT_EQ(f.position(), 0U);
    EXPECT_EQ(dir.get("a"), "01234567xyz");
  });
}

TEST(file, a_read_at_the_end_gives_what_there_is) {
  run_test([]() -> gyre::task<> {
    const scratch dir;
    dir.put("a", "0123456789");
    fs::file f = co_await fs::file::open(dir.path("a"));
    std::array<char, 8> text;
    const std::size_t some = co_await f.read_at(text, 7);
    EXPECT_EQ(std::string(text.data(), some), "789");
    const std::size_t at_end = co_await f.read_at(text, 10);
    EXPECT_EQ(at_end, 0U);
    const std::size_t behind_end = co_await f.read_at(text, 1'000'000);
    EXPECT_EQ(behind_end, 0U);
  });
}

TEST(file, read_exactly_says_how_much_there_was) {
  run_test([]() -> gyre::task<> {
    const scratch dir;
    const std::string path = dir.put("a", "012345");
    fs::file f = co_await fs::file::open(path);
    std::array<char, 8> text{};
    try {
      co_await f.read_exactly(text);
      ADD_FAILURE() << "did not throw";
    } catch (const gyre::incomplete_transfer& error) {
      EXPECT_EQ(error.transferred(), 6U);
      EXPECT_EQ(error.code(), gyre::stream_errc::end_of_stream);
      EXPECT_TRUE(std::string(error.what()).starts_with("read_exactly " + path + ": ")) << error.what();
      EXPECT_EQ(std::string(text.data(), 6), "012345");
    }
  });
}

TEST(file, an_empty_file_ends_at_once) {
  run_test([]() -> gyre::task<> {
    const scratch dir;
    fs::file f = co_await fs::file::open(dir.put("a", ""));
    std::array<std::byte, 8> buffer;
    const std::size_t some = co_await f.read_some(buffer);
    EXPECT_EQ(some, 0U);
    const std::size_t at = co_await f.read_at(buffer, 0);
    EXPECT_EQ(at, 0U);
    const std::size_t nothing = co_await f.read_exactly(std::span<std::byte>());
    EXPECT_EQ(nothing, 0U);
    const std::string error = co_await error_of(f.read_exactly(buffer));
    EXPECT_NE(error, "");
  });
}

TEST(file, appending_writes_at_the_end_whatever_the_offset) {
  run_test([]() -> gyre::task<> {
    const scratch dir;
    dir.put("a", "one ");
    fs::file f = co_await fs::file::open(dir.path("a"), fs::for_appending);
    co_await f.write_all("two ");
    co_await f.write_at("three", 0);
    EXPECT_EQ(dir.get("a"), "one two three");
  });
}

TEST(file, large_offsets_make_a_sparse_file) {
  run_test([]() -> gyre::task<> {
    const scratch dir;
    fs::file f = co_await fs::file::open(dir.path("a"), {.read = true, .write = true, .create = true});
    constexpr std::uint64_t far = std::uint64_t{5} << 30U;
    co_await f.write_at("far", far);
    const fs::status known = co_await f.stat();
    EXPECT_EQ(known.size, far + 3);
    std::array<char, 5> text;
    const std::size_t n = co_await f.read_at(text, far - 2);
    EXPECT_EQ(std::string(text.data(), n), std::string("\0\0far", 5));
  });
}

TEST(file, megabytes_pass_unharmed_also_when_they_are_not_in_memory) {
  run_test([]() -> gyre::task<> {
    const scratch dir;
    const auto bytes = pattern(3'000'001);
    fs::file f = co_await fs::file::open(dir.path("a"), {.read = true, .write = true, .create = true});
    co_await f.write_all(bytes);
    co_await f.sync();
    forget_cached(dir.path("a"));
    std::vector<std::byte> back(bytes.size() + 10);
    const std::size_t whole = co_await f.read_at(back, 0);
    EXPECT_EQ(whole, bytes.size());
    EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), back.begin()));

    forget_cached(dir.path("a"));
    std::vector<std::byte> part(100'000);
    const std::size_t n = co_await f.read_at(part, 4'097);
    EXPECT_EQ(n, part.size());
    EXPECT_TRUE(std::equal(part.begin(), part.end(), bytes.begin() + 4'097));
  });
}

TEST(file, a_read_that_finds_only_a_part_in_memory_still_gets_everything) {
  run_test([]() -> gyre::task<> {
    const scratch dir;
    const auto bytes = pattern(200'000);
    fs::file f = co_await fs::file::open(dir.path("a"), {.read = true, .write = true, .create = true});
    co_await f.write_all(bytes);
    forget_cached(dir.path("a"));
    std::array<std::byte, 100> first;
    co_await f.read_at(first, 0);  // also reads ahead into the page cache
    std::vector<std::byte> back(bytes.size());
    f.set_position(0);
    co_await f.read_exactly(back);
    EXPECT_EQ(back, bytes);
    EXPECT_EQ(f.position(), bytes.size());
  });
}

TEST(file, several_buffers_are_filled_and_written_in_order) {
  run_test([]() -> gyre::task<> {
    const scratch dir;
    const auto bytes = pattern(40'000);
    std::vector<gyre::io::const_buffer> out;
    for (std::size_t at = 0; at < bytes.size(); at += 1'000) out.push_back({bytes.data() + at, 1'000});
    out.insert(out.begin() + 3, {nullptr, 0});
    fs::file f = co_await fs::file::open(dir.path("a"), {.read = true, .write = true, .create = true});
    const std::size_t written = co_await f.write_all(out);
    EXPECT_EQ(written, bytes.size());
    co_await f.write_at(std::span(out).first(2), 50'000);

    std::vector<std::byte> back(bytes.size());
    std::vector<gyre::io::mutable_buffer> in;
    for (std::size_t at = 0; at < back.size(); at += 800) in.push_back({back.data() + at, 800});
    const std::size_t read = co_await f.read_at(in, 0);
    EXPECT_EQ(read, bytes.size());
    EXPECT_EQ(back, bytes);
    f.set_position(50'000);
    forget_cached(dir.path("a"));
    const std::size_t some = co_await f.read_some(in);
    EXPECT_EQ(some, 2'000U);
    EXPECT_TRUE(std::equal(bytes.begin(), bytes.begin() + 2'000, back.begin()));
  });
}

TEST(file, resize_cuts_off_and_fills_up) {
  run_test([]() -> gyre::task<> {
    const scratch dir;
    dir.put("a", "0123456789");
    fs::file f = co_await fs::file::open(dir.path("a"), {.read = true, .write = true});
    co_await f.resize(4);
    EXPECT_EQ(dir.get("a"), "0123");
    co_await f.resize(6);
    EXPECT_EQ(dir.get("a"), std::string("0123\0\0", 6));
    co_await f.sync();
    co_await f.sync_data();
  });
}

TEST(file, many_operations_at_offsets_go_on_at_the_same_time) {
  run_test([]() -> gyre::task<> {
    const scratch dir;
    fs::file f = co_await fs::file::open(dir.path("a"), {.read = true, .write = true, .create = true});
    constexpr std::size_t block = 5'000;
    constexpr unsigned count = 60;
    auto one = [&](unsigned number) -> gyre::task<> {
      const auto bytes = pattern(block, number);
      co_await f.write_at(bytes, number * block);
      std::vector<std::byte> back(block);
      if (number % 3 == 0) co_await f.sync_data();
      co_await f.read_at(back, number * block);
      EXPECT_EQ(back, bytes) << number;
    };
    auto all = [&](gyre::task_group& group) -> gyre::task<> {
      for (unsigned i = 0; i < count; ++i) group.spawn(one(i));
      co_return;
    };
    co_await gyre::task_group::scope(all);
    const fs::status known = co_await f.stat();
    EXPECT_EQ(known.size, block * count);
  });
}

TEST(file, a_file_is_a_stream_that_can_be_copied) {
  run_test([]() -> gyre::task<> {
    const scratch dir;
    fs::file from = co_await fs::file::open(dir.put("a", std::string(100'000, 'x')));
    fs::file to = co_await fs::file::open(dir.path("b"), fs::for_writing);
    const std::uint64_t n = co_await gyre::copy(from, to);
    EXPECT_EQ(n, 100'000U);
    EXPECT_EQ(dir.get("b"), dir.get("a"));
  });
}

TEST(file, files_of_the_kernel_are_read_like_others) {
  run_test([]() -> gyre::task<> {
    fs::file f = co_await fs::file::open("/proc/self/status");
    std::vector<char> text(20'000);
    const std::size_t n = co_await f.read_at(text, 0);
    EXPECT_GT(n, 100U);
    EXPECT_TRUE(std::string_view(text.data(), n).starts_with("Name:"));
  });
}

TEST(file, devices_are_read_and_written) {
  run_test([]() -> gyre::task<> {
    fs::file zero = co_await fs::file::open("/dev/zero");
    std::array<char, 100> text;
    text.fill('x');
    co_await zero.read_exactly(text);
    EXPECT_EQ(std::string(text.data(), 100), std::string(100, '\0'));
    fs::file null = co_await fs::file::open("/dev/null", {.read = true, .write = true});
    const std::size_t n = co_await null.write_all("gone");
    EXPECT_EQ(n, 4U);
    const std::size_t end = co_await null.read_some(text);
    EXPECT_EQ(end, 0U);
  });
}
