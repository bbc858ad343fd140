// tests/fs/short_write_test.cpp: writes that the kernel cuts short, because the disk is full or the file may not grow,
// leave the bytes and the position that write(2) leaves.
#include <gyre/fs/file.hpp>
#include <gyre/fs/whole_file.hpp>
#include <gyre/stream/copy.hpp>
#include <gyre/stream/memory_stream.hpp>

#include "tests/fs/full_disk.hpp"
#include "tests/support/mebibyte.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <string_view>

using namespace gyre_test;
namespace fs = gyre::fs;

namespace {

/// No two of its first bytes of a line are equal, so that bytes at a wrong place are noticed.
std::string numbered_lines(std::size_t size) {
  std::string text;
  for (int n = 0; text.size() < size; ++n) text += "line " + std::to_string(1'000'000'000 + n) + "\n";
  text.resize(size);
  return text;
}

/// How a test writes: the whole text, in pieces, until an error.
using writing = gyre::task<> (*)(fs::file& to, std::string_view text, std::size_t piece);

gyre::task<> all_of_each_piece(fs::file& to, std::string_view text, std::size_t piece) {
  for (; !text.empty(); text.remove_prefix(std::min(piece, text.size()))) co_await to.write_all(text.substr(0, piece));
}

gyre::task<> some_of_each_piece(fs::file& to, std::string_view text, std::size_t piece) {
  while (!text.empty()) {
    const std::size_t written = co_await to.write_some(text.substr(0, piece));
    text.remove_prefix(written);
  }
}

gyre::task<> several_buffers(fs::file& to, std::string_view text, std::size_t piece) {
  std::vector<gyre::io::const_buffer> buffers;
  for (; !text.empty(); text.remove_prefix(std::min(piece, text.size())))
    buffers.push_back({text.data(), std::min(piece, text.size())});
  co_await to.write_all(std::span<const gyre::io::const_buffer>(buffers));
}

gyre::task<> pieces_at_offsets(fs::file& to, std::string_view text, std::size_t piece) {
  std::uint64_t offset = to.position();
  for (; !text.empty(); text.remove_prefix(std::min(piece, text.size()))) {
    co_await to.write_at(text.substr(0, piece), offset);
    offset += piece;
  }
}

gyre::task<> copy_of_a_stream(fs::file& to, std::string_view text, std::size_t piece) {
  gyre::memory_pair ends;
  auto feed = [&]() -> gyre::task<> {
    for (; !text.empty(); text.remove_prefix(std::min(piece, text.size())))
      co_await ends.first.write_all(std::as_bytes(std::span(text.substr(0, piece))));
    co_await ends.first.shutdown_write();
  };
  auto feeding = gyre::spawn(feed);
  std::exception_ptr failure;
  try {
    co_await gyre::copy(ends.second, to);
  } catch (...) {
    failure = std::current_exception();
  }
  feeding.cancel();
  co_await feeding.wait();
  if (failure) std::rethrow_exception(failure);
}

/// The errno with which write(2) refuses the rest of the text.
int plain_writes(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written < 0) return errno;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

struct way {
  const char* name;
  writing write;
  bool moves_the_position = true;
};
constexpr way ways[] = {
    {"write_all", all_of_each_piece},       {"write_some", some_of_each_piece}, {"several buffers", several_buffers},
    {"write_at", pieces_at_offsets, false}, {"copy", copy_of_a_stream},
};

/// Writes more than fits to files in `where`, in every way, and compares with write(2). Returns what differs.
gyre::task<std::string> differences(std::string where) {
  constexpr std::string_view head = "the file begins with this\n";
  const std::string text = numbered_lines(3 * mebibyte);
  const std::string path = where + "/written";
  const auto content = [&] {
    std::ostringstream found;
    found << std::ifstream(path, std::ios::binary).rdbuf();
    return std::move(found).str();
  };
  std::string result;
  for (const int mode : {0, O_APPEND}) {
    const auto begin = [&] {
      std::ofstream(path, std::ios::binary) << head;
      const int fd = ::open(path.c_str(), O_RDWR | O_CLOEXEC | mode);
      ::lseek(fd, 0, SEEK_END);
      return fd;
    };
    const int plain = begin();
    const int error = plain_writes(plain, text);
    const std::string expected = content();
    const off_t position = ::lseek(plain, 0, SEEK_CUR);
    ::close(plain);
    ::unlink(path.c_str());
    if (error == 0 || expected.size() <= head.size()) co_return "everything fits";
    for (const way& each : ways) {
      for (const std::size_t piece :
           {std::size_t{4096}, std::size_t{100'000}, std::size_t{300'000}, mebibyte, 2 * mebibyte, 3 * mebibyte}) {
        fs::file file = fs::file::from_fd(begin(), "written");
        int reason = 0;
        try {
          co_await each.write(file, text, piece);
        } catch (const gyre::io_error& failure) {
          reason = failure.code().value();
        }
        std::string difference;
        if (reason != error) difference += std::string(", ") + std::strerror(reason);
        if (content() != expected) difference += ", another content";
        if (each.moves_the_position && file.position() != static_cast<std::uint64_t>(position))
          difference += ", another position";
        if (!difference.empty())
          result +=
              std::string(each.name) + (mode != 0 ? ", append, " : ", ") + std::to_string(piece) + difference + "\n";
        co_await file.close();
        ::unlink(path.c_str());
      }
    }
  }
  co_return result;
}

std::string differences_in(const std::string& where) {
  std::string result;
  run_test([&]() -> gyre::task<> { result = co_await differences(where); });
  return result;
}

}  // namespace

class short_write : public testing::Test {
 protected:
  void SetUp() override {
    if (!forked_children_may_start_threads) GTEST_SKIP();
  }
  const scratch dir_;
};

TEST_F(short_write, to_a_file_that_may_not_grow_leaves_what_plain_writes_leave) {
  const child_outcome outcome = in_child_process([&] {
    const file_size_limit small(mebibyte + 1'000);
    return differences_in(dir_.root());
  });
  EXPECT_TRUE(outcome.ended) << outcome.signal;
  EXPECT_EQ(outcome.text, "");
}

TEST_F(short_write, to_a_full_disk_leaves_what_plain_writes_leave) {
  const std::string disk = dir_.path("disk");
  const child_outcome outcome = with_small_disk(disk, [&] { return differences_in(disk); });
  if (outcome.says("not allowed")) GTEST_SKIP() << outcome.text;
  EXPECT_TRUE(outcome.ended) << outcome.signal;
  EXPECT_EQ(outcome.text, "");
}

TEST_F(short_write, for_a_whole_file_is_an_error_and_keeps_the_file_that_it_would_replace) {
  const std::string path = dir_.put("a", "the good file");
  const child_outcome outcome = in_child_process([&] {
    const file_size_limit small(mebibyte);
    const std::string text = numbered_lines(2 * mebibyte);
    std::string result;
    run_test([&]() -> gyre::task<> {
      result = co_await error_of(fs::write_all_to(path, text, {.atomic = true, .durable = true}));
      if (dir_.get("a") != "the good file" || dir_.entries() != 1) result += ", and the file is another";
      const std::string second = co_await error_of(fs::write_all_to(path, text));
      if (second.find("File too large") == std::string::npos) result += ", and in place it succeeds";
      if (dir_.get("a") != text.substr(0, mebibyte)) result += ", and leaves other bytes";
    });
    return result;
  });
  EXPECT_TRUE(outcome.ended) << outcome.signal;
  EXPECT_TRUE(outcome.text.ends_with(".tmp: File too large")) << outcome.text;
}
