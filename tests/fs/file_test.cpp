// tests/fs/file_test.cpp: reading and writing regular files.
#include <gyre/fs/file.hpp>

#include "tests/fs/scratch.hpp"

#include <array>

using namespace gyre_test;
namespace fs = gyre::fs;

TEST(file, gives_back_the_bytes_that_were_written) {
  run_in_scratch([](const scratch& dir) -> gyre::task<> {
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
    co_await expect_read(in, "");
  });
}

TEST(file, moves_its_position_with_reads_and_writes) {
  run_in_scratch([](const scratch& dir) -> gyre::task<> {
    fs::file f = co_await open_with(dir, "0123456789");
    std::array<char, 4> text;
    co_await f.read_exactly(text);
    EXPECT_EQ(std::string(text.data(), 4), "0123");
    co_await f.write_all("ab");
    EXPECT_EQ(f.position(), 6U);
    co_await expect_read(f, "6789");
    f.set_position(1);
    co_await f.write_some("X");
    EXPECT_EQ(dir.get("a"), "0X23ab6789");
  });
}

TEST(file, keeps_its_position_in_operations_at_offsets) {
  run_in_scratch([](const scratch& dir) -> gyre::task<> {
    fs::file f = co_await open_with(dir, "0123456789");
    co_await expect_read_at(f, 5, "5678", 4);
    co_await f.write_at("xyz", 8);
    EXPECT_EQ(f.position(), 0U);
    EXPECT_EQ(dir.get("a"), "01234567xyz");
  });
}

TEST(file, gives_the_bytes_that_there_are_at_its_end) {
  run_in_scratch([](const scratch& dir) -> gyre::task<> {
    fs::file f = co_await open_with(dir, "0123456789");
    co_await expect_read_at(f, 7, "789", 8);
    co_await expect_read_at(f, 10, "");
    co_await expect_read_at(f, 1'000'000, "");
  });
}

TEST(file, reports_how_much_there_was_for_read_exactly) {
  run_in_scratch([](const scratch& dir) -> gyre::task<> {
    fs::file f = co_await open_with(dir, "012345");
    std::array<char, 8> text{};
    try {
      co_await f.read_exactly(text);
      ADD_FAILURE() << "did not throw";
    } catch (const gyre::incomplete_transfer& error) {
      EXPECT_EQ(error.transferred(), 6U);
      EXPECT_EQ(error.code(), gyre::stream_errc::end_of_stream);
      EXPECT_TRUE(std::string(error.what()).starts_with("read_exactly " + dir.path("a") + ": ")) << error.what();
      EXPECT_EQ(std::string(text.data(), 6), "012345");
    }
  });
}

TEST(file, that_is_empty_ends_at_once) {
  run_in_scratch([](const scratch& dir) -> gyre::task<> {
    fs::file f = co_await open_with(dir, "");
    co_await expect_read(f, "");
    co_await expect_read_at(f, 0, "");
    const std::size_t nothing = co_await f.read_exactly(std::span<std::byte>());
    EXPECT_EQ(nothing, 0U);
    std::array<std::byte, 8> buffer;
    const std::string error = co_await error_of(f.read_exactly(buffer));
    EXPECT_NE(error, "");
  });
}

TEST(file, that_is_open_for_appending_writes_at_the_end_whatever_the_offset) {
  run_in_scratch([](const scratch& dir) -> gyre::task<> {
    fs::file f = co_await fs::file::open(dir.put("a", "one "), fs::for_appending);
    co_await f.write_all("two ");
    co_await f.write_at("three", 0);
    EXPECT_EQ(dir.get("a"), "one two three");
  });
}

TEST(file, becomes_sparse_by_writes_at_large_offsets) {
  run_in_scratch([](const scratch& dir) -> gyre::task<> {
    fs::file f = co_await open_with(dir, "");
    constexpr std::uint64_t far = std::uint64_t{5} << 30U;
    co_await f.write_at("far", far);
    const fs::status known = co_await f.stat();
    EXPECT_EQ(known.size, far + 3);
    co_await expect_read_at(f, far - 2, std::string("\0\0far", 5), 5);
  });
}

TEST(file, passes_megabytes_unharmed_even_when_they_are_not_in_memory) {
  run_in_scratch([](const scratch& dir) -> gyre::task<> {
    const auto bytes = pattern(3'000'001);
    fs::file f = co_await fs::file::open(dir.path("a"), for_both);
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

TEST(file, gives_everything_when_only_a_part_is_in_memory) {
  run_in_scratch([](const scratch& dir) -> gyre::task<> {
    const auto bytes = pattern(200'000);
    fs::file f = co_await fs::file::open(dir.path("a"), for_both);
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

TEST(file, fills_and_writes_several_buffers_in_order) {
  run_in_scratch([](const scratch& dir) -> gyre::task<> {
    const auto bytes = pattern(40'000);
    std::vector<gyre::io::const_buffer> out;
    for (std::size_t at = 0; at < bytes.size(); at += 1'000) out.push_back({bytes.data() + at, 1'000});
    out.insert(out.begin() + 3, {nullptr, 0});
    fs::file f = co_await fs::file::open(dir.path("a"), for_both);
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

TEST(file, is_cut_off_or_filled_up_by_resize) {
  run_in_scratch([](const scratch& dir) -> gyre::task<> {
    fs::file f = co_await open_with(dir, "0123456789");
    co_await f.resize(4);
    EXPECT_EQ(dir.get("a"), "0123");
    co_await f.resize(6);
    EXPECT_EQ(dir.get("a"), std::string("0123\0\0", 6));
    co_await f.sync();
    co_await f.sync_data();
  });
}

TEST(file, takes_many_operations_at_offsets_at_the_same_time) {
  run_in_scratch([](const scratch& dir) -> gyre::task<> {
    fs::file f = co_await fs::file::open(dir.path("a"), for_both);
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

TEST(file, is_a_stream_that_can_be_copied) {
  run_in_scratch([](const scratch& dir) -> gyre::task<> {
    fs::file from = co_await fs::file::open(dir.put("a", std::string(100'000, 'x')));
    fs::file to = co_await fs::file::open(dir.path("b"), fs::for_writing);
    const std::uint64_t n = co_await gyre::copy(from, to);
    EXPECT_EQ(n, 100'000U);
    EXPECT_EQ(dir.get("b"), dir.get("a"));
  });
}

TEST(file, may_be_one_of_the_kernel) {
  run_test([]() -> gyre::task<> {
    fs::file f = co_await fs::file::open("/proc/self/status");
    std::vector<char> text(20'000);
    const std::size_t n = co_await f.read_at(text, 0);
    EXPECT_GT(n, 100U);
    EXPECT_TRUE(std::string_view(text.data(), n).starts_with("Name:"));
  });
}

TEST(file, may_be_a_device) {
  run_test([]() -> gyre::task<> {
    fs::file zero = co_await fs::file::open("/dev/zero");
    co_await expect_read(zero, std::string(100, '\0'));
    fs::file null = co_await fs::file::open("/dev/null", for_both);
    const std::size_t n = co_await null.write_all("gone");
    EXPECT_EQ(n, 4U);
    co_await expect_read(null, "");
  });
}
