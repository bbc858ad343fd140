// tests/fs/copy_interference_test.cpp: copying a file that others change meanwhile, or to a disk that becomes full.
#include <gyre/fs/copy.hpp>

#include "tests/fs/full_disk.hpp"
#include "tests/support/mebibyte.hpp"

#include <sys/syscall.h>

#include <atomic>
#include <cerrno>
#include <string>
#include <thread>

using namespace gyre_test;
namespace fs = gyre::fs;

namespace {

/// Called after a search for data that has found none.
std::atomic<void (*)()> after_no_data{nullptr};

}  // namespace

// Wraps the function of the C library, so that a test can change a file between two calls of the library.
extern "C" off_t lseek(int fd, off_t offset, int whence) noexcept {
  const off_t found = ::syscall(SYS_lseek, fd, offset, whence);
  if (found >= 0 || whence != SEEK_DATA || errno != ENXIO) return found;
  if (void (*const call)() = after_no_data.exchange(nullptr)) call();
  errno = ENXIO;
  return found;
}

TEST(file_copy, has_no_byte_that_a_source_that_grows_at_the_end_of_the_copy_never_had) {
  run_in_scratch([](const scratch& dir) -> gyre::task<> {
    static std::string source;
    source = dir.put("a", std::string(1'000, 'x'));
    after_no_data = [] { std::ofstream(source, std::ios::binary | std::ios::app) << std::string(500, 'x'); };
    const std::uint64_t copied = co_await fs::copy(source, dir.path("b"));
    EXPECT_EQ(after_no_data, nullptr) << "the file has grown";
    EXPECT_GE(copied, 1'000U);
    const std::string text = dir.get("b");
    EXPECT_EQ(text.size(), copied);
    EXPECT_EQ(text.find_first_not_of('x'), std::string::npos);
  });
}

TEST(file_copy, ends_with_the_size_that_it_reports_when_others_extend_and_shorten_the_source) {
  run_in_scratch([](const scratch& dir) -> gyre::task<> {
    const std::string source = dir.put("a", "x");
    std::atomic<bool> over = false;
    std::thread others([&] {
      const int fd = ::open(source.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
      const std::string piece(70'000, 'x');
      for (unsigned n = 1; !over; ++n) {
        EXPECT_GT(::write(fd, piece.data(), piece.size()), 0);
        if (n % 64 == 0) {
          EXPECT_EQ(::ftruncate(fd, 1'000), 0);
        }
      }
      ::close(fd);
    });
    for (int n = 0; n < 100; ++n) {
      const std::uint64_t copied = co_await fs::copy(source, dir.path("b"));
      EXPECT_EQ(dir.get("b").size(), copied);
    }
    over = true;
    others.join();
  });
}

TEST(file_copy, fails_on_a_full_disk_and_leaves_a_first_part) {
  if (!forked_children_may_start_threads) GTEST_SKIP();
  const scratch dir;
  const std::string text = text_of(pattern(5 * mebibyte));
  const std::string source = dir.put("a", text);
  const child_outcome outcome = with_small_disk(dir.path("disk"), [&] {
    std::string result;
    run_test([&]() -> gyre::task<> {
      const std::string target = dir.path("disk/b");
      result = co_await error_of(fs::copy(source, target));
      const std::string first = dir.get("disk/b");
      if (first.empty() || first.size() >= text.size() || !text.starts_with(first)) result += ", and a wrong part";
      co_await fs::remove(target);
      const std::uint64_t again = co_await fs::copy(dir.put("c", "small"), target);
      if (again != 5 || dir.get("disk/b") != "small") result += ", and the disk stays full";
    });
    return result;
  });
  if (outcome.says("not allowed")) GTEST_SKIP() << outcome.text;
  EXPECT_TRUE(outcome.ended) << outcome.signal;
  EXPECT_EQ(outcome.text, "copy " + source + " to " + dir.path("disk/b") + ": No space left on device");
}
